// Every recorded call of input and output, between threads through pipes and sockets and with files.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int ends[2];

static void say(const char* what, long result) {
  printf("%s: %ld%s%s\n", what, result, result < 0 ? ", " : "", result < 0 ? strerror(errno) : "");
}

static void* writes_late(void* unused) {
  (void)unused;
  usleep(50 * 1000);
  if (write(ends[1], "late", 4) != 4) {
    abort();
  }
  return NULL;
}

static void files(void) {
  char path[] = "/tmp/longpole-specimen-XXXXXX";
  char text[16] = {0};
  struct iovec parts[2] = {{text, 2}, {text + 2, 3}};
  const int made = mkstemp(path);
  close(made);
  const int file = open(path, O_RDWR);
  say("write", write(file, "hello", 5));
  say("pread", pread(file, text, sizeof(text), 1));
  printf("%s\n", text);
  say("pwrite", pwrite(file, "J", 1, 0));
  lseek(file, 0, SEEK_SET);
  say("readv", readv(file, parts, 2));
  printf("%s\n", text);
  say("writev", writev(file, parts, 2));
  say("fsync", fsync(file));
  say("fdatasync", fdatasync(file));
  say("close", close(file));
  say("close again", close(file));
  unlink(path);
  const int created = open(path, O_CREAT | O_WRONLY, 0640);
  say("open with permissions", created < 0);
  close(created);
  say("open of what is there", openat(AT_FDCWD, path, O_CREAT | O_EXCL | O_WRONLY, 0640));
  unlink(path);
  say("open of nothing", open(path, O_RDONLY));
}

static void from_one_to_another(void) {
  char from_path[] = "/tmp/longpole-specimen-XXXXXX";
  char to_path[] = "/tmp/longpole-specimen-XXXXXX";
  char text[16] = {0};
  const struct iovec parts[2] = {{text, 2}, {text + 2, 4}};
  const struct iovec word = {"spliced", 7};
  const int from = mkstemp(from_path);
  const int to = mkstemp(to_path);
  off_t offset = 1;
  loff_t from_offset = 0;
  loff_t to_offset = 5;
  loff_t start = 0;
  if (pipe(ends) != 0 || write(from, "farewell", 8) != 8) {
    abort();
  }
  say("sendfile", sendfile(to, from, &offset, 5));
  say("copy_file_range", copy_file_range(from, &from_offset, to, &to_offset, 3, 0));
  say("preadv", preadv(to, parts, 2, 0));
  printf("%s\n", text);
  say("preadv2", preadv2(to, parts, 2, 2, 0));
  printf("%s\n", text);
  say("pwritev", pwritev(from, parts, 2, 8));
  say("pwritev2", pwritev2(from, parts, 1, 14, 0));
  say("vmsplice", vmsplice(ends[1], &word, 1, 0));
  say("splice", splice(ends[0], NULL, to, &start, 7, 0));
  say("splice of nothing", splice(ends[0], NULL, to, &start, 7, SPLICE_F_NONBLOCK));
  memset(text, 0, sizeof(text));
  say("pread", pread(to, text, sizeof(text) - 1, 0));
  printf("%s\n", text);
  close(from);
  close(to);
  close(ends[0]);
  close(ends[1]);
  unlink(from_path);
  unlink(to_path);
}

static void messages(void) {
  int wires[2];
  char texts[2][4] = {"one", "two"};
  struct iovec parts[2] = {{texts[0], 3}, {texts[1], 3}};
  struct mmsghdr both[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
                            {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, wires) != 0) {
    abort();
  }
  say("sendmmsg", sendmmsg(wires[0], both, 2, 0));
  say("recvmmsg", recvmmsg(wires[1], both, 2, 0, NULL));
  printf("%s %s, %u and %u bytes\n", texts[0], texts[1], both[0].msg_len, both[1].msg_len);
  close(wires[0]);
  close(wires[1]);
}

static void waiting(void) {
  char text[16] = {0};
  pthread_t thread;
  if (pipe(ends) != 0) {
    abort();
  }
  pthread_create(&thread, NULL, writes_late, NULL);
  say("read", read(ends[0], text, sizeof(text)));
  printf("%s\n", text);
  pthread_join(thread, NULL);

  struct pollfd polled = {ends[0], POLLIN, 0};
  const struct timespec moment = {0, 10 * 1000 * 1000};
  struct timeval little = {0, 10 * 1000};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  say("poll", poll(&polled, 1, 10));
  say("ppoll", ppoll(&polled, 1, &moment, NULL));
  say("select", select(ends[0] + 1, &set, NULL, NULL, &little));
  FD_SET(ends[0], &set);
  sigset_t none;
  sigemptyset(&none);
  say("pselect", pselect(ends[0] + 1, &set, NULL, NULL, &moment, &none));
  const int queue = epoll_create1(0);
  struct epoll_event event = {EPOLLIN, {0}};
  epoll_ctl(queue, EPOLL_CTL_ADD, ends[0], &event);
  say("epoll_wait", epoll_wait(queue, &event, 1, 10));
  pthread_create(&thread, NULL, writes_late, NULL);
  say("epoll_pwait", epoll_pwait(queue, &event, 1, 1000, &none));
  pthread_join(thread, NULL);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  say("read of what is there", read(ends[0], text, sizeof(text)));
  say("read of what is not", read(ends[0], text, sizeof(text)));
}

static struct sockaddr_un name_of_socket(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "longpole-specimen-%d", getpid());
  return name;
}

static void* connects(void* unused) {
  (void)unused;
  const struct sockaddr_un name = name_of_socket();
  char text[8];
  const int wire = socket(AF_UNIX, SOCK_STREAM, 0);
  usleep(20 * 1000);
  say("connect", connect(wire, (const struct sockaddr*)&name, sizeof(name)));
  if (send(wire, "one", 3, 0) != 3 || sendto(wire, "two", 3, 0, NULL, 0) != 3) {
    abort();
  }
  if (recv(wire, text, sizeof(text), 0) != 0) {
    abort();
  }
  close(wire);
  return NULL;
}

static void sockets(void) {
  const struct sockaddr_un name = name_of_socket();
  char text[8];
  struct iovec part = {text, 3};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(listener, (const struct sockaddr*)&name, sizeof(name));
  listen(listener, 1);
  pthread_t thread;
  pthread_create(&thread, NULL, connects, NULL);
  const int wire = accept(listener, NULL, NULL);
  say("recvmsg", recvmsg(wire, &message, MSG_WAITALL));
  say("recvfrom", recvfrom(wire, text, 3, MSG_WAITALL, NULL, NULL));
  shutdown(wire, SHUT_WR);
  pthread_join(thread, NULL);
  close(wire);
  fcntl(listener, F_SETFL, O_NONBLOCK);
  say("accept4", accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  files();
  from_one_to_another();
  messages();
  waiting();
  sockets();
  return 0;
}
