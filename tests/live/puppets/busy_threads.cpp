// busy_threads THREADS SECONDS: THREADS threads allocate and free for SECONDS. Each sleeps for a
// millisecond after every 64 blocks: together they keep the CPUs busy and still hand them over.
#include <pthread.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

[[gnu::noinline]] void* take_busily(std::size_t bytes) {
  void* block = std::malloc(bytes);
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

namespace {

void* work(void* /*unused*/) {
  for (std::size_t i = 0;; ++i) {
    std::free(take_busily(16 + i % 256));
    if (i % 64 == 0) {
      ::usleep(1000);
    }
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
  const unsigned seconds = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 10;
  std::vector<pthread_t> threads(count);
  for (pthread_t& thread : threads) {
    pthread_create(&thread, nullptr, work, nullptr);
  }
  ::sleep(seconds);
  ::_exit(0);
}
