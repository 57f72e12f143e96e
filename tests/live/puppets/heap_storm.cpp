// heap_storm THREADS CALLS: THREADS threads allocate and free as fast as they can, each with sizes
// of its own; of thread number n, 10 blocks of 1,000 + n bytes are not freed. A free of another
// thread's block comes in as well: every tenth block goes to the next thread.
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kLeaked = 10;

struct Worker {
  std::size_t number = 0;
  int calls = 0;
  std::atomic<void*>* given = nullptr;  // to the next one
  std::atomic<void*>* taken = nullptr;  // from the one before
};

[[gnu::noinline]] void* take(std::size_t bytes) {
  void* block = std::malloc(bytes);
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

[[gnu::noinline]] void leak_in_storm(std::size_t number) {
  for (int i = 0; i < kLeaked; ++i) {
    take(1000 + number);
  }
}

void* work(void* argument) {
  const Worker& worker = *static_cast<const Worker*>(argument);
  for (int i = 0; i < worker.calls; ++i) {
    void* block = take(16 + worker.number);
    if (i % 10 == 0) {
      block = worker.given->exchange(block);
    }
    std::free(block);
    std::free(i % 10 == 5 ? worker.taken->exchange(nullptr) : nullptr);
  }
  leak_in_storm(worker.number);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 1000;
  std::vector<std::atomic<void*>> places(count);
  std::vector<Worker> workers(count);
  std::vector<pthread_t> threads(count);
  for (std::size_t i = 0; i < count; ++i) {
    workers[i] = {i, calls, &places[(i + 1) % count], &places[i]};
    pthread_create(&threads[i], nullptr, work, &workers[i]);
  }
  for (const pthread_t thread : threads) {
    pthread_join(thread, nullptr);
  }
  for (std::atomic<void*>& place : places) {
    std::free(place);
  }
  return 0;
}
