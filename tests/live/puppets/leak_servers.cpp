// leak_servers PATTERN SECONDS: servers of a known truth, as programs in C++ are written: strings,
// containers and shared pointers. Each has a configuration of 5,000 strings, which stays, and makes
// answers, which go at once. Five of them leak, in functions whose names begin with leak_. What the
// functions keep whose names begin with hold_ has a good reason. The kernel has no part in it.
//
//   leaks   cached    1 in 100 sessions is not freed, beside a cache of 20,000 answers of which the
//                     least recently used goes first
//           rare      1 in 10,000 of 10,000 requests a second, beside names that are kept when they
//                     are new, which happens more and more rarely
//           cycles    1 in 200 trees whose nodes keep each other; 1 in 50 sessions stays 3 s
//           jobs      1 in 150 jobs, made by one thread and done by four others
//           workers   1 in 50 buffers, grown by realloc(3), in three workers that are forked when
//                     the server has run for 5 s
//   none    expiring  entries that stay for 0.5 to 4 s
//           pooled    objects that are taken and given back; more are made in each peak, and idle
//                     ones freed behind it
//           ring      the last 16,000 messages, which come in 8 s
//           reload    a table that is made anew every 2 s, while readers keep the one before for up
//                     to 1 s
//           tables    tables that grow by realloc(3) for 3 s and begin anew, and texts that are
//                     written by appending
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/live/puppets/puppet.h"

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kPerSecond = 2000;

// Else the compiler leaves calls out whose result it sees nobody use.
template <typename T>
T* keep(T* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

class Random {
 public:
  // Less than `limit`.
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
  }

  double between(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(engine_);
  }

 private:
  std::mt19937 engine_{1};
};

[[gnu::noinline]] std::string hold_answer(Random& random) {
  return std::string(500 + random.below(1000), 'a');
}

// Calls work(0), work(1) and so on, evenly, for this number of seconds, each behind an answer.
template <typename Work>
void serve(double seconds, Work work, double per_second = kPerSecond) {
  Random random;
  const auto start = Clock::now();
  for (std::size_t done = 0;;) {
    const Seconds gone = Clock::now() - start;
    if (gone.count() > seconds) {
      return;
    }
    for (; static_cast<double>(done) < gone.count() * per_second; ++done) {
      keep(hold_answer(random).data());
      work(done);
    }
    ::usleep(2000);
  }
}

[[gnu::noinline]] std::vector<std::string> hold_configuration() {
  std::vector<std::string> lines;
  for (int line = 0; line < 5000; ++line) {
    lines.emplace_back(200, 'c');
  }
  return lines;
}

struct Session {
  std::string user;
  std::array<char, 200> state{};
};

[[gnu::noinline]] Session* leak_session(const std::string& user) {
  auto* session = new Session;
  session->user = user;
  return session;
}

class LeastRecentlyUsed {
 public:
  [[gnu::noinline]] void hold_in_cache(std::size_t key, const std::string& value) {
    if (const auto found = index_.find(key); found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      found->second->second = value;
      return;
    }
    entries_.emplace_front(key, value);
    index_[key] = entries_.begin();
    if (entries_.size() > 20'000) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
  }

 private:
  using Entries = std::list<std::pair<std::size_t, std::string>>;
  Entries entries_;
  std::unordered_map<std::size_t, Entries::iterator> index_;
};

void cached(double seconds) {
  LeastRecentlyUsed cache;
  Random random;
  serve(seconds, [&](std::size_t id) {
    Session* session = leak_session("a user with a long name " + std::to_string(id));
    // Few keys are asked for often, and most hardly ever.
    const double place = random.between(0, 1);
    cache.hold_in_cache(static_cast<std::size_t>(100'000 * place * place * place),
                        hold_answer(random));
    if (id % 100 != 0) {
      delete session;
    }
  });
}

[[gnu::noinline]] std::string* leak_request(std::size_t id) {
  return new std::string(100 + id % 100, 'r');
}

[[gnu::noinline]] void hold_name(std::set<std::string>& names, std::size_t number) {
  names.insert("the name of a customer: " + std::to_string(number));
}

void rare(double seconds) {
  std::set<std::string> names;
  Random random;
  serve(
      seconds,
      [&](std::size_t id) {
        std::string* request = keep(leak_request(id));
        if (id % 5 == 0) {
          hold_name(names, random.below(3000));
        }
        if (id % 10'000 != 9'999) {
          delete request;
        }
      },
      10'000);
}

struct Node {
  std::shared_ptr<Node> parent;
  std::vector<std::shared_ptr<Node>> children;
};

[[gnu::noinline]] std::shared_ptr<Node> leak_tree() {
  auto root = std::make_shared<Node>();
  auto child = std::make_shared<Node>();
  child->parent = root;
  root->children.push_back(std::move(child));
  return root;
}

[[gnu::noinline]] std::unique_ptr<Session> hold_session() {
  auto session = std::make_unique<Session>();
  session->user = std::string(80, 'u');
  return session;
}

void cycles(double seconds) {
  std::deque<std::pair<Clock::time_point, std::unique_ptr<Session>>> open;
  serve(seconds, [&open](std::size_t id) {
    const std::shared_ptr<Node> root = leak_tree();
    if (id % 200 != 0) {
      root->children.clear();
    }
    const auto now = Clock::now();
    auto session = hold_session();
    if (id % 50 == 0) {
      open.emplace_back(now + std::chrono::seconds(3), std::move(session));
    }
    while (!open.empty() && open.front().first < now) {
      open.pop_front();
    }
  });
}

struct Job {
  std::size_t id = 0;
  std::string text;
};

[[gnu::noinline]] Job* leak_job(std::size_t id) {
  return new Job{.id = id, .text = std::string(60, 'j')};
}

// Jobs of one thread for others.
class Jobs {
 public:
  void add(Job* job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
    changed_.notify_one();
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  // Null at the end.
  Job* take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !jobs_.empty(); });
    if (jobs_.empty()) {
      return nullptr;
    }
    Job* job = jobs_.front();
    jobs_.pop_front();
    return job;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job*> jobs_;
  bool ended_ = false;
};

void jobs(double seconds) {
  Jobs queue;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&queue] {
      while (Job* job = queue.take()) {
        if (job->id % 150 != 0) {
          delete job;
        }
      }
    });
  }
  serve(seconds, [&queue](std::size_t id) { queue.add(leak_job(id)); });
  queue.end();
  for (std::thread& worker : workers) {
    worker.join();
  }
}

[[gnu::noinline]] void* leak_grown(std::size_t id) {
  void* buffer = keep(std::malloc(64));
  for (std::size_t size = 128; size <= 256 + id % 1024; size += size / 2) {
    buffer = keep(std::realloc(buffer, size));
  }
  return buffer;
}

void work(double seconds) {
  serve(seconds, [](std::size_t id) {
    void* buffer = leak_grown(id);
    if (id % 50 != 0) {
      std::free(buffer);
    }
  });
}

void workers(double seconds) {
  constexpr double kBefore = 5;
  serve(std::min(seconds, kBefore), [](std::size_t) {});
  for (int worker = 0; worker < 3; ++worker) {
    if (checked(::fork(), "fork") == 0) {
      work(std::max(0.0, seconds - kBefore));
      ::_exit(0);
    }
  }
  while (::wait(nullptr) > 0) {
  }
}

[[gnu::noinline]] std::string hold_entry(Random& random) {
  return std::string(100 + random.below(400), 'e');
}

void expiring(double seconds) {
  std::multimap<Clock::time_point, std::string> entries;
  Random random;
  serve(seconds, [&](std::size_t) {
    const auto now = Clock::now();
    const auto until =
        now + std::chrono::duration_cast<Clock::duration>(Seconds(random.between(0.5, 4)));
    entries.emplace(until, hold_entry(random));
    while (entries.begin()->first < now) {
      entries.erase(entries.begin());
    }
  });
}

[[gnu::noinline]] std::unique_ptr<std::array<char, 1000>> hold_object() {
  return std::make_unique<std::array<char, 1000>>();
}

// From 100 to 1,100 are in use, with a peak every 3 s. One in ten of the idle ones is freed each
// time that there are more than 200.
void pooled(double seconds) {
  std::vector<std::unique_ptr<std::array<char, 1000>>> used;
  std::vector<std::unique_ptr<std::array<char, 1000>>> idle;
  serve(seconds, [&](std::size_t id) {
    const double angle = static_cast<double>(id) / kPerSecond / 3 * 2 * 3.14159;
    const auto wanted = static_cast<std::size_t>(600 - 500 * std::cos(angle));
    while (used.size() > wanted) {
      idle.push_back(std::move(used.back()));
      used.pop_back();
    }
    while (used.size() < wanted) {
      used.push_back(idle.empty() ? hold_object() : std::move(idle.back()));
      if (!idle.empty()) {
        idle.pop_back();
      }
    }
    if (idle.size() > 200) {
      idle.resize(idle.size() - idle.size() / 10);
    }
  });
}

[[gnu::noinline]] std::string hold_message(std::size_t id) {
  return std::string(100 + id * 37 % 400, 'm');
}

void ring(double seconds) {
  std::vector<std::string> last(16'000);
  serve(seconds, [&last](std::size_t id) { last[id % last.size()] = hold_message(id); });
}

using Routes = std::map<std::string, std::string>;

[[gnu::noinline]] std::shared_ptr<const Routes> hold_routes(std::size_t version) {
  auto routes = std::make_shared<Routes>();
  for (int route = 0; route < 1000; ++route) {
    (*routes)["the route to " + std::to_string(route)] = std::string(50 + version % 50, 'r');
  }
  return routes;
}

void reload(double seconds) {
  auto routes = hold_routes(0);
  Random random;
  std::deque<std::pair<Clock::time_point, std::shared_ptr<const Routes>>> readers;
  serve(seconds, [&](std::size_t id) {
    if (id % 4000 == 3999) {
      routes = hold_routes(id);
    }
    const auto now = Clock::now();
    readers.emplace_back(now + std::chrono::milliseconds(id % 100 == 0 ? 1000 : random.below(5)),
                         routes);
    while (readers.front().first < now) {
      readers.pop_front();
    }
  });
}

[[gnu::noinline]] void hold_row(std::vector<std::size_t>& table, std::size_t id) {
  table.push_back(id);
}

struct Text {
  char* bytes = nullptr;
  std::size_t size = 0;
};

[[gnu::noinline]] void hold_text(Text& text) {
  text.size += 100;
  text.bytes = keep(static_cast<char*>(std::realloc(text.bytes, text.size)));
}

void tables(double seconds) {
  std::array<std::vector<std::size_t>, 8> rows;
  std::array<Text, 30> texts;
  serve(seconds, [&](std::size_t id) {
    auto& table = rows[id % rows.size()];
    hold_row(table, id);
    if (table.size() == static_cast<std::size_t>(kPerSecond) * 3 / rows.size()) {
      table = {};
    }
    Text& text = texts[id % texts.size()];
    hold_text(text);
    if (text.size > 20'000) {
      std::free(text.bytes);
      text = {};
    }
  });
}

constexpr auto kServers = std::to_array<std::pair<std::string_view, void (*)(double)>>({
    {"cached", cached},
    {"rare", rare},
    {"cycles", cycles},
    {"jobs", jobs},
    {"workers", workers},
    {"expiring", expiring},
    {"pooled", pooled},
    {"ring", ring},
    {"reload", reload},
    {"tables", tables},
});

}  // namespace

int main(int argc, char** argv) {
  const auto seconds = static_cast<double>(count_argument(argc, argv, 2));
  const std::vector<std::string> configuration = hold_configuration();
  for (const auto& [name, run] : kServers) {
    if (name == argv[1]) {
      run(seconds);
      return 0;
    }
  }
  std::fprintf(stderr, "leak_servers: %s: no such pattern\n", argv[1]);
  return 2;
}
