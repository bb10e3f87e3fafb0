// Threads that wait for each other through connections of the program with itself: of both kinds of address, and one made
// without waiting.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "asleep.h"

static int waiting;  // the thread that does, or is about to
static int listening;

static void must(int holds) {
  if (!holds) {
    abort();
  }
}

static void* serves(void* unused) {
  char text[8] = {0};
  const int end = accept(listening, NULL, NULL);
  must(end >= 0);
  __atomic_store_n(&waiting, thread_id(), __ATOMIC_RELEASE);
  printf("served: %zd %s\n", recv(end, text, sizeof text, 0), text);
  close(end);
  return unused;
}

static void talk(const struct sockaddr* address, socklen_t bytes, int connects_without_waiting) {
  struct sockaddr_storage bound;
  socklen_t room = sizeof bound;
  listening = socket(address->sa_family, SOCK_STREAM, 0);
  must(listening >= 0 && bind(listening, address, bytes) == 0 && listen(listening, 1) == 0);
  must(getsockname(listening, (struct sockaddr*)&bound, &room) == 0);
  const int end = socket(address->sa_family, SOCK_STREAM, 0);
  if (connects_without_waiting) {
    fcntl(end, F_SETFL, O_NONBLOCK);
    connect(end, (struct sockaddr*)&bound, room);
  } else {
    must(connect(end, (struct sockaddr*)&bound, room) == 0);
  }
  pthread_t server;
  __atomic_store_n(&waiting, 0, __ATOMIC_RELEASE);
  pthread_create(&server, NULL, serves, NULL);
  wait_until_asleep_in(SYS_recvfrom, &waiting);
  must(send(end, "hello", 5, 0) == 5);
  pthread_join(server, NULL);
  close(end);
  close(listening);
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  const struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  talk((const struct sockaddr*)&v4, sizeof v4, 0);
  talk((const struct sockaddr*)&v4, sizeof v4, 1);
  const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  const int probe = socket(AF_INET6, SOCK_STREAM, 0);
  if (probe >= 0 && bind(probe, (const struct sockaddr*)&v6, sizeof v6) == 0) {
    close(probe);
    talk((const struct sockaddr*)&v6, sizeof v6, 0);
  }
  return 0;
}
