#include "watch/trigger_watch.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::vector<Trigger> triggers(const std::vector<std::string>& words) {
  return parse_triggers(words).value();
}

class TriggerWatchTest : public testing::Test {
 protected:
  std::vector<std::string> texts(TriggerWatch& watch) {
    std::vector<std::string> all;
    for (const Firing& firing : watch.take()) {
      all.push_back(firing.label + ": " + firing.fired.text);
    }
    return all;
  }

  Event event(EventPayload payload, const EventType* type = nullptr) {
    return {.time_ns = 7,
            .pid = 12,
            .tid = 12,
            .comm = world_.strings().intern("demo"),
            .type = type,
            .payload = payload};
  }

  World world_{World::Options{}};
};

using Texts = std::vector<std::string>;

TEST_F(TriggerWatchTest, refused_call_says_whose_and_how_much) {
  TriggerWatch watch(triggers({"enomem"}), 60, 10);
  const EventType type{.name = "syscalls:sys_exit_mmap", .format = {}};
  SystemCallDone done{.call = SystemCall::Mmap, .arguments = {0, 1U << 30}, .result = -ENOMEM};
  watch.on(event(done, &type), world_, 100);
  done.result = 0;
  watch.on(event(done, &type), world_, 200);
  EXPECT_EQ(texts(watch),
            Texts{"enomem: the kernel refused memory to demo (pid 12): mmap of 1.0 GiB failed"});
}

TEST_F(TriggerWatchTest, long_wait_for_reclaim_fires_and_others_do_not) {
  TriggerWatch watch(triggers({"reclaim>100ms"}), 60, 10);
  Work work{.begin = {.kind = WorkKind::MemcgReclaim, .order = 2},
            .end = {.kind = WorkKind::MemcgReclaim},
            .has_begin = true,
            .duration_ns = 100'000'000};
  watch.on(event(work), world_, 100);  // just as long
  work.duration_ns = 132'000'000;
  work.has_begin = false;
  watch.on(event(work), world_, 100);  // who knows how long
  work.has_begin = true;
  work.end.kind = WorkKind::Kswapd;
  watch.on(event(work), world_, 100);  // nobody waits for it
  work.end.kind = WorkKind::SlabShrink;
  watch.on(event(work), world_, 100);  // a part of reclaim
  EXPECT_EQ(texts(watch), Texts{});
  work.end.kind = WorkKind::MemcgReclaim;
  watch.on(event(work), world_, 100);
  EXPECT_EQ(
      texts(watch),
      Texts{"reclaim: demo (pid 12) waited 132 ms in reclaim for its cgroup's limit, order 2"});
}

TEST_F(TriggerWatchTest, each_kill_fires) {
  TriggerWatch watch(triggers({"oom"}), 60, 10);
  watch.on(event(OomVictim{.pid = 5, .comm = "a"}), world_, 100);
  watch.on(event(OomVictim{.pid = 6, .comm = "b"}), world_, 101);
  EXPECT_EQ(texts(watch).size(), 2U);
}

TEST_F(TriggerWatchTest, swap_in_is_a_rate_between_two_looks) {
  TriggerWatch watch(triggers({"swap-in>1000/s"}), 60, 10);
  EXPECT_TRUE(watch.wants_levels());
  EXPECT_FALSE(watch.wants_sizes());
  watch.compare({.swapped_in_pages = 5'000}, 1, 1 * kSecondNs);
  watch.compare({.swapped_in_pages = 6'000}, 2, 2 * kSecondNs);  // just as many
  EXPECT_EQ(texts(watch), Texts{});
  watch.compare({.swapped_in_pages = 9'000}, 3, 4 * kSecondNs);
  EXPECT_EQ(texts(watch), Texts{"swap-in: 1,500 pages a second were swapped in"});
}

TEST_F(TriggerWatchTest, available_memory_is_compared_as_bytes_and_as_a_share) {
  TriggerWatch watch(triggers({"available<5%", "available<10M"}), 60, 10);
  const MachineLevels much{.available_bytes = 50U << 20, .total_bytes = 1000U << 20};
  watch.compare(much, 1, 100);
  EXPECT_EQ(texts(watch), Texts{});
  const MachineLevels little{.available_bytes = 20U << 20, .total_bytes = 1000U << 20};
  watch.compare(little, 1, 200);
  EXPECT_EQ(texts(watch), Texts{"available: 20.0 MiB of the machine's 1000.0 MiB were available"});
  watch.compare({.available_bytes = 1U << 20, .total_bytes = 1000U << 20}, 1, 201);
  EXPECT_EQ(texts(watch), Texts{"available: 1.0 MiB of the machine's 1000.0 MiB were available"});
  watch.compare({}, 1, 300);
  EXPECT_EQ(texts(watch), Texts{});
}

}  // namespace
}  // namespace memtrace
