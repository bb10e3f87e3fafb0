// A small program to be recorded: what it does is its first argument.
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
volatile unsigned sink = 0;

void compute() {
  for (unsigned i = 0; i < 2'000'000; ++i)
    sink = sink + i;
}

void* work(void*) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    compute();
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

void run_two_threads() {
  pthread_t threads[2];
  for (pthread_t& thread : threads)
    pthread_create(&thread, nullptr, work, nullptr);
  for (pthread_t& thread : threads)
    pthread_join(thread, nullptr);
}

void write_all(int fd, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (written <= 0)
      std::abort();
    done += static_cast<std::size_t>(written);
  }
}

[[noreturn]] void wait_forever() {
  write_all(STDOUT_FILENO, "waiting\n");
  for (;;)
    ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "work") {  // every byte, on both streams
    run_two_threads();
    std::string bytes;
    for (int i = 0; i < 256 * 100; ++i)
      bytes += static_cast<char>(i);
    write_all(STDOUT_FILENO, bytes);
    write_all(STDERR_FILENO, std::string(bytes.rbegin(), bytes.rend()));
    return 7;
  }
  if (mode == "wait") {
    run_two_threads();
    wait_forever();
  }
  if (mode == "stubborn") {
    std::signal(SIGTERM, SIG_IGN);
    run_two_threads();
    wait_forever();
  }
  if (mode == "flood") {
    run_two_threads();
    const std::string block(1 << 20, 'x');
    for (int i = std::atoi(argv[2]); i > 0; --i)
      write_all(STDOUT_FILENO, block);
    return 0;
  }
  if (mode == "look-around") {  // what it was given
    run_two_threads();
    char directory[4096];
    std::printf("directory %s\n", ::getcwd(directory, sizeof(directory)));
    std::printf("variable %s\n", std::getenv("SPECIMEN_VARIABLE"));
    std::printf("input %s\n", std::getchar() == EOF ? "empty" : "something");
    struct sigaction pipe {};
    sigaction(SIGPIPE, nullptr, &pipe);
    std::printf("broken pipes %s\n", pipe.sa_handler == SIG_DFL ? "kill" : "are ignored");
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigBlk:"))
        std::printf("%s\n", line.c_str());
    }
    return 0;
  }
  return 64;
}
