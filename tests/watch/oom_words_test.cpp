#include "watch/oom_words.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

std::string log_with_kill() {
  return "<4>[1.0] demo invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=3, oom_score_adj=0\n"
         "<3>[1.1] Memory cgroup out of memory: Killed process 12 (demo) total-vm:1kB\n";
}

Event kill() {
  return {.time_ns = 5, .pid = 20, .tid = 20, .payload = OomVictim{.pid = 12, .comm = "demo"}};
}

Observation seen(std::map<std::string, std::uint64_t, std::less<>> numbers) {
  return {.reader = "oom",
          .time_ns = 5,
          .tid = 20,
          .facts = {.numbers = std::move(numbers), .texts = {{"cgroup", "/box"}}}};
}

TEST(OomWords, order_is_that_of_the_last_kill_in_the_log) {
  EXPECT_EQ(oom_order(""), std::nullopt);
  EXPECT_EQ(oom_order(log_with_kill()), 3U);
  EXPECT_EQ(oom_order("x invoked oom-killer: order=0\n" + log_with_kill()), 3U);
  EXPECT_EQ(oom_order("x invoked oom-killer: order=-1, y"), std::nullopt);  // by sysrq
}

TEST(OomWords, signal_is_a_kill_if_the_log_says_so) {
  const Event signal{.payload = SignalSent{.signal = 9, .pid = 12}};
  const Event other{.payload = SignalSent{.signal = 9, .pid = 1}};
  const Event harmless{.payload = SignalSent{.signal = 15, .pid = 12}};
  EXPECT_TRUE(is_oom_kill(signal, log_with_kill));
  EXPECT_FALSE(is_oom_kill(other, log_with_kill));
  EXPECT_FALSE(is_oom_kill(harmless, log_with_kill));
  EXPECT_TRUE(is_oom_kill(kill(), [] { return std::string(); }));
}

TEST(OomWords, log_of_rhel_6_says_so_too) {
  const Event signal{.payload = SignalSent{.signal = 9, .pid = 12}};
  const Event other{.payload = SignalSent{.signal = 9, .pid = 1}};
  const auto log = [] {
    return std::string("<3>Killed process 12, UID 0, (demo) total-vm:1kB, anon-rss:1kB\n");
  };
  EXPECT_TRUE(is_oom_kill(signal, log));
  EXPECT_FALSE(is_oom_kill(other, log));
}

TEST(OomWords, kill_for_a_cgroup_names_it_and_its_limit) {
  World world(World::Options{});
  world.observations().add(seen({{"cgroup_usage", 64U << 20},
                                 {"cgroup_limit", 64U << 20},
                                 {"victim_anon", 50U << 20},
                                 {"total", std::uint64_t{1} << 34}}));
  const OomVictimWords words = describe_kill(kill(), world, log_with_kill());
  EXPECT_EQ(words.text,
            "the OOM killer killed demo (pid 12), which held 50.0 MiB, because cgroup /box used "
            "64.0 MiB of its limit of 64.0 MiB");
  ASSERT_TRUE(words.size.has_value());
  EXPECT_EQ(words.size->bytes, 50U << 20);
}

TEST(OomWords, kill_for_the_machine_says_what_was_available_and_who_asked) {
  World world(World::Options{});
  world.observations().add(
      seen({{"cgroup_limit", 1U << 20}, {"total", 1U << 30}, {"available", 1U << 20}}));
  Event event = kill();
  event.comm = world.strings().intern("cc1plus");
  EXPECT_EQ(describe_kill(event, world, log_with_kill()).text,
            "the OOM killer killed demo (pid 12), when 1.0 MiB of the machine's 1.0 GiB were "
            "available; cc1plus (pid 20) had asked for pages of order 3");
}

}  // namespace
}  // namespace memtrace
