// Verdicts on sites of known behaviour, played to a history.
#include "views/leak/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace memtrace::verdict_test {
namespace {

constexpr std::uint64_t kMillisecondNs = 1'000'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

// One allocation each millisecond, and how long each block lives.
class Server {
 public:
  using LifetimeOf = std::function<std::uint64_t(std::uint64_t number)>;

  void run(std::uint64_t seconds, const LifetimeOf& lifetime_of, std::uint64_t bytes = 100) {
    const std::uint64_t end_ns = now_ns_ + seconds * kSecondNs;
    for (; now_ns_ < end_ns; now_ns_ += kMillisecondNs) {
      free_due();
      history_.allocate(timeline_, now_ns_, {1, bytes});
      const std::uint64_t lifetime_ns = lifetime_of(number_++);
      blocks_.emplace(lifetime_ns == kNever ? kNever : now_ns_ + lifetime_ns,
                      Block{now_ns_, bytes});
    }
  }

  // Nothing is allocated.
  void wait(std::uint64_t seconds) {
    const std::uint64_t end_ns = now_ns_ + seconds * kSecondNs;
    for (; now_ns_ < end_ns; now_ns_ += kMillisecondNs) {
      free_due();
    }
  }

  // Another row has an event.
  void start() { timeline_.reach(now_ns_); }

  void lose() { timeline_.lose(now_ns_); }

  // execve(2): what is live goes without a call.
  void forget_blocks() { blocks_.clear(); }

  Judgement judge(std::uint64_t live_bytes = 0, std::uint64_t pinned_bytes = 0) {
    timeline_.reach(now_ns_);
    history_.forget_survivors();
    for (const auto& [due_ns, block] : blocks_) {
      history_.note_survivor(block.born_ns, 1);
    }
    return memtrace::judge(history_, live_bytes, pinned_bytes);
  }

  std::string verdict() { return std::string(name_of(judge().verdict)); }

 private:
  struct Block {
    std::uint64_t born_ns = 0;
    std::uint64_t bytes = 0;
  };

  void free_due() {
    while (!blocks_.empty() && blocks_.begin()->first <= now_ns_) {
      const Block& block = blocks_.begin()->second;
      history_.free(timeline_, now_ns_, block.born_ns, {1, block.bytes});
      blocks_.erase(blocks_.begin());
    }
  }

  LeakTimeline timeline_;
  SiteHistory history_;
  std::multimap<std::uint64_t, Block> blocks_;  // by when they are freed
  std::uint64_t now_ns_ = 77 * kSecondNs;
  std::uint64_t number_ = 0;
};

std::uint64_t soon(std::uint64_t /*number*/) {
  return 2 * kMillisecondNs;
}

Server::LifetimeOf leaking_one_in(std::uint64_t count) {
  return [count](std::uint64_t number) { return number % count == 0 ? kNever : soon(number); };
}

TEST(Verdict, one_block_in_a_hundred_that_is_never_freed_is_a_leak) {
  Server server;
  server.run(15, leaking_one_in(100));
  const Judgement judgement = server.judge();
  EXPECT_EQ(judgement.verdict, Verdict::Leak);
  EXPECT_NEAR(static_cast<double>(judgement.growth_per_min_bytes), 60'000, 6'000);
}

TEST(Verdict, one_in_five_thousand_is_a_leak_after_twenty_seconds) {
  Server server;
  server.run(20, leaking_one_in(5000));
  EXPECT_EQ(server.verdict(), "leak");
}

TEST(Verdict, a_leak_that_began_late_is_one) {
  Server server;
  server.run(10, soon);
  server.run(10, leaking_one_in(50));
  EXPECT_EQ(server.verdict(), "leak");
}

TEST(Verdict, blocks_that_are_all_freed_in_time_are_none) {
  Server server;
  server.run(15, soon);
  EXPECT_EQ(server.verdict(), "cache");
  EXPECT_EQ(server.judge().growth_per_min_bytes, 0U);
}

TEST(Verdict, a_cache_with_an_expiry_turns_over) {
  Server server;
  server.run(15, [](std::uint64_t) { return 2 * kSecondNs; });
  EXPECT_EQ(server.verdict(), "cache");
}

TEST(Verdict, a_store_of_sessions_of_which_some_live_long_is_no_leak) {
  Server server;
  server.run(20,
             [](std::uint64_t number) { return number % 100 == 0 ? 5 * kSecondNs : soon(number); });
  EXPECT_EQ(server.verdict(), "cache");
}

TEST(Verdict, a_cache_that_fills_grows_until_it_turns_over) {
  Server server;
  const auto lifetime = [](std::uint64_t) { return 10 * kSecondNs; };
  server.run(8, lifetime);
  EXPECT_EQ(server.verdict(), "growing");
  EXPECT_NEAR(static_cast<double>(server.judge().growth_per_min_bytes), 6'000'000, 300'000);
  server.run(4, lifetime);  // full for 2 s
  EXPECT_EQ(server.verdict(), "cache");
  EXPECT_EQ(server.judge().growth_per_min_bytes, 0U);
}

TEST(Verdict, growth_behind_blocks_that_were_freed_at_once_is_growth) {
  Server server;
  server.run(3, soon);
  server.run(12, [](std::uint64_t) { return kNever; });
  EXPECT_EQ(server.verdict(), "growing");
}

TEST(Verdict, what_is_never_freed_grows_and_nobody_knows_for_how_long) {
  Server server;
  server.run(20, [](std::uint64_t) { return kNever; });
  EXPECT_EQ(server.verdict(), "growing");
}

TEST(Verdict, growth_that_slows_down_is_warming_up) {
  Server server;
  // A name is kept the first time: the more are known, the fewer are new.
  const auto known = [](std::uint64_t number) {
    return std::floor(4000 * (1 - std::exp(-static_cast<double>(number) / 6000)));
  };
  server.run(16, [&known](std::uint64_t number) {
    return known(number) < known(number + 1) ? kNever : soon(number);
  });
  EXPECT_EQ(server.verdict(), "warming up");
}

TEST(Verdict, what_was_made_at_the_start_and_stays_is_start_up) {
  Server server;
  server.run(2, [](std::uint64_t) { return kNever; });
  server.wait(13);
  EXPECT_EQ(server.verdict(), "start-up");
  EXPECT_EQ(server.judge().growth_per_min_bytes, 0U);
}

TEST(Verdict, what_stays_of_the_start_is_no_leak_of_what_comes_after) {
  Server server;
  server.run(1, [](std::uint64_t) { return kNever; });
  server.run(14, soon);
  EXPECT_EQ(server.verdict(), "cache");
}

TEST(Verdict, memory_that_went_without_a_call_does_not_grow) {
  Server server;
  server.run(16, [](std::uint64_t) { return kNever; });
  EXPECT_EQ(server.verdict(), "growing");
  server.forget_blocks();
  EXPECT_NE(server.verdict(), "growing");
}

TEST(Verdict, frees_that_may_be_lost_make_a_leak_uncertain) {
  Server server;
  for (int second = 0; second < 40; ++second) {
    server.run(1, leaking_one_in(100));
    server.lose();
  }
  EXPECT_EQ(server.verdict(), "uncertain");
}

TEST(Verdict, a_leak_before_and_behind_a_loss_is_one) {
  Server server;
  server.run(10, leaking_one_in(100));
  server.lose();
  server.run(10, leaking_one_in(100));
  EXPECT_EQ(server.verdict(), "leak");
}

// One in five of the frees of a cache is lost: its blocks count as live for ever.
TEST(Verdict, a_cache_whose_frees_are_lost_all_the_time_does_not_grow) {
  Server server;
  for (int second = 0; second < 15; ++second) {
    server.run(1, [](std::uint64_t number) { return number % 5 == 0 ? kNever : 2 * kSecondNs; });
    server.lose();
  }
  EXPECT_EQ(server.verdict(), "uncertain");
  EXPECT_GT(server.judge().growth_per_min_bytes, 0U);
}

TEST(Verdict, growth_beside_a_loss_is_growth) {
  Server server;
  server.run(12, [](std::uint64_t) { return kNever; });
  server.lose();
  server.run(8, [](std::uint64_t) { return kNever; });
  EXPECT_EQ(server.verdict(), "growing");
}

TEST(Verdict, what_began_just_now_has_none) {
  Server server;
  server.wait(1);
  server.start();
  server.wait(19);
  server.run(1, [](std::uint64_t) { return kNever; });
  EXPECT_EQ(server.verdict(), "");
}

TEST(Verdict, a_short_time_or_few_blocks_have_none) {
  Server brief;
  brief.run(1, leaking_one_in(3));
  EXPECT_EQ(brief.verdict(), "");
  Server idle;
  idle.wait(20);
  EXPECT_EQ(idle.verdict(), "");
}

TEST(Verdict, what_stays_and_keeps_many_pages_is_fragmented) {
  constexpr std::uint64_t kMiB = 1 << 20;
  Server server;
  server.run(2, [](std::uint64_t) { return kNever; });
  server.wait(13);
  EXPECT_EQ(name_of(server.judge(kMiB / 8, kMiB).verdict), "fragmented");
  EXPECT_EQ(name_of(server.judge(kMiB / 8, kMiB - 1).verdict), "start-up");
  EXPECT_EQ(name_of(server.judge(kMiB / 4, kMiB).verdict), "start-up");
  Server leaking;
  leaking.run(15, leaking_one_in(100));
  EXPECT_EQ(name_of(leaking.judge(1, kMiB).verdict), "leak");
}

}  // namespace
}  // namespace memtrace::verdict_test
