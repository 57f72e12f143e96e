// leak_patterns PATTERN SECONDS: servers of a known truth. Five of them leak, in the functions
// whose names begin with leak_; the others keep memory for good reasons, in functions whose names
// begin with hold_. They do 1,500 pieces of work a second (slow: 3,000). The kernel has no part in
// it.
//
//   leaks   requests  1 in 100 sessions is not freed
//           slow      1 in 10,000
//           realloc   1 in 50 buffers, each grown three times
//           threads   1 in 200 messages, allocated by one thread and freed by another
//           forks     1 in 100 in each of two forked workers
//   none    ttl       entries that expire after 2 s
//           pool      objects that are taken and given back, and allocated in the beginning
//           ring      the last 3,000 messages, which come in 2 s
//           config    2,000 strings, each second made anew before the old ones are freed
//           growth    a list that grows by realloc(3) for 2 s and begins anew
//
// sparse keeps 1,000 blocks of 64 bytes in as many pages, whose other blocks it frees. Its last
// line on the standard output is the number of these pages.
//
// Two more are of the kernel's memory (messages.h): lost_messages leaves 1 in 50 messages in
// queues, late_messages receives each message when 10 others have been sent.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/live/puppets/messages.h"
#include "tests/live/puppets/puppet.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr long kPerSecond = 1500;

// Else the compiler leaves calls out whose result it sees nobody use.
void* keep(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

// Calls work(0), work(1) and so on, evenly, for this number of seconds.
template <typename Work>
void serve(long seconds, Work work) {
  const auto start = Clock::now();
  for (long done = 0;;) {
    const std::chrono::duration<double> gone = Clock::now() - start;
    if (gone.count() > static_cast<double>(seconds)) {
      return;
    }
    for (; static_cast<double>(done) < gone.count() * static_cast<double>(kPerSecond); ++done) {
      work(done);
    }
    ::usleep(2000);
  }
}

std::size_t size_of(long id) {
  return 100 + static_cast<std::size_t>(id * 37 % 400);
}

[[gnu::noinline]] void* leak_session() {
  return keep(std::malloc(200));
}

void answer(long id, long leak_one_in) {
  void* session = leak_session();
  if (id % leak_one_in != leak_one_in - 1) {
    std::free(session);
  }
}

void requests(long seconds) {
  serve(seconds, [](long id) { answer(id, 100); });
}

void slow(long seconds) {
  serve(seconds, [](long id) {
    answer(2 * id, 10'000);
    answer(2 * id + 1, 10'000);
  });
}

[[gnu::noinline]] void* leak_grown() {
  void* buffer = keep(std::malloc(64));
  for (std::size_t size = 128; size <= 512; size *= 2) {
    buffer = keep(std::realloc(buffer, size));
  }
  return buffer;
}

void grown_buffers(long seconds) {
  serve(seconds, [](long id) {
    void* buffer = leak_grown();
    if (id % 50 != 0) {
      std::free(buffer);
    }
  });
}

[[gnu::noinline]] void* leak_message() {
  return keep(std::malloc(300));
}

void threads(long seconds) {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<void*> queue;
  bool ended = false;
  std::thread consumer([&] {
    std::unique_lock lock(mutex);
    for (long id = 0; !ended || !queue.empty();) {
      changed.wait(lock, [&] { return ended || !queue.empty(); });
      for (; !queue.empty(); queue.pop_front()) {
        if (++id % 200 != 0) {
          std::free(queue.front());
        }
      }
    }
  });
  serve(seconds, [&](long) {
    void* message = leak_message();
    const std::lock_guard lock(mutex);
    queue.push_back(message);
    changed.notify_one();
  });
  {
    const std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_one();
  consumer.join();
}

void forks(long seconds) {
  for (int worker = 0; worker < 2; ++worker) {
    if (checked(::fork(), "fork") == 0) {
      requests(seconds);
      ::_exit(0);
    }
  }
  while (::wait(nullptr) > 0) {
  }
}

[[gnu::noinline]] void* hold_entry(long id) {
  return keep(std::malloc(size_of(id)));
}

void ttl(long seconds) {
  struct Entry {
    void* block;
    Clock::time_point until;
  };

  std::deque<Entry> entries;
  serve(seconds, [&entries](long id) {
    const auto now = Clock::now();
    entries.push_back({hold_entry(id), now + std::chrono::seconds(2)});
    for (; entries.front().until < now; entries.pop_front()) {
      std::free(entries.front().block);
    }
  });
}

[[gnu::noinline]] void* hold_object() {
  return keep(std::malloc(1000));
}

void pool(long seconds) {
  std::vector<void*> idle;
  for (int i = 0; i < 2000; ++i) {
    idle.push_back(hold_object());
  }
  serve(seconds, [&idle](long id) {
    std::array<void*, 16> used{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(id) % used.size(); ++i) {
      used[i] = idle.back();
      idle.pop_back();
    }
    for (void* object : used) {
      if (object != nullptr) {
        idle.push_back(object);
      }
    }
    std::free(hold_entry(id));
  });
}

[[gnu::noinline]] void* hold_message(long id) {
  return keep(std::malloc(size_of(id)));
}

void ring(long seconds) {
  std::vector<void*> last(3000);
  serve(seconds, [&last](long id) {
    void*& place = last[static_cast<std::size_t>(id) % last.size()];
    std::free(place);
    place = hold_message(id);
  });
}

[[gnu::noinline]] std::vector<void*> hold_config() {
  std::vector<void*> strings;
  for (long i = 0; i < 2000; ++i) {
    strings.push_back(keep(std::malloc(size_of(i))));
  }
  return strings;
}

void config(long seconds) {
  std::vector<void*> current = hold_config();
  serve(seconds, [&current](long id) {
    if (id % kPerSecond == kPerSecond - 1) {
      std::vector<void*> next = hold_config();
      for (void* string : std::exchange(current, next)) {
        std::free(string);
      }
    }
    std::free(hold_entry(id));
  });
}

[[gnu::noinline]] void* hold_list(void* list, std::size_t bytes) {
  return keep(std::realloc(list, bytes));
}

void growth(long seconds) {
  void* list = nullptr;
  std::size_t bytes = 0;
  serve(seconds, [&](long id) {
    if (id % (2 * kPerSecond) == 0) {
      std::free(std::exchange(list, nullptr));
      bytes = 0;
    }
    bytes += 16;
    list = hold_list(list, bytes);
  });
}

[[gnu::noinline]] void* hold_sparse() {
  return keep(std::malloc(64));
}

void sparse(long seconds) {
  std::vector<void*> between;
  std::set<std::uintptr_t> pages;
  for (int i = 0; i < 1000; ++i) {
    for (int j = 0; j < 20; ++j) {
      between.push_back(hold_entry(399));
    }
    pages.insert(reinterpret_cast<std::uintptr_t>(hold_sparse()) / 4096);
  }
  for (void* block : between) {
    std::free(block);
  }
  ::usleep(static_cast<useconds_t>(seconds) * 1'000'000);
  std::printf("%zu\n", pages.size());
}

[[gnu::noinline]] void leak_queued(long queue, const Message& message) {
  send_message(queue, message);
}

// Queues hold 16 messages.
void lost_messages(long seconds) {
  constexpr long kMessagesInQueue = 16;
  const long passing = make_queue();
  std::vector<long> keeping;
  Message message;
  serve(seconds, [&](long id) {
    if (id % (50 * kMessagesInQueue) == 0) {
      keeping.push_back(make_queue());
    }
    const bool is_kept = id % 50 == 0;
    leak_queued(is_kept ? keeping.back() : passing, message);
    if (!is_kept) {
      receive_message(passing, message);
    }
  });
  remove_queue(passing);
  for (const long queue : keeping) {
    remove_queue(queue);
  }
}

[[gnu::noinline]] void hold_queued(long queue, const Message& message) {
  send_message(queue, message);
}

void late_messages(long seconds) {
  const long queue = make_queue();
  Message message;
  serve(seconds, [&](long id) {
    hold_queued(queue, message);
    if (id >= 10) {
      receive_message(queue, message);
    }
  });
  remove_queue(queue);
}

struct Pattern {
  std::string_view name;
  void (*run)(long seconds);
};

constexpr auto kPatterns = std::to_array<Pattern>({{"requests", requests},
                                                   {"slow", slow},
                                                   {"realloc", grown_buffers},
                                                   {"threads", threads},
                                                   {"forks", forks},
                                                   {"ttl", ttl},
                                                   {"pool", pool},
                                                   {"ring", ring},
                                                   {"config", config},
                                                   {"growth", growth},
                                                   {"sparse", sparse},
                                                   {"lost_messages", lost_messages},
                                                   {"late_messages", late_messages}});

}  // namespace

int main(int argc, char** argv) {
  const long seconds = count_argument(argc, argv, 2);
  for (const Pattern& pattern : kPatterns) {
    if (pattern.name == argv[1]) {
      pattern.run(seconds);
      return 0;
    }
  }
  std::fprintf(stderr, "usage: %s PATTERN SECONDS\n", argv[0]);
  return 2;
}
