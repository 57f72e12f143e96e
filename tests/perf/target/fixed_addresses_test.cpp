#include "perf/target/fixed_addresses.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>

#include "os/system.h"

namespace memtrace {
namespace {

constexpr CallGraph kCopies{.stack_bytes = 8192, .skip_kernel_work = true};

Target command() {
  return {.kind = TargetKind::Command, .command = {"true"}};
}

Addresses chosen_for(const Target& target, EventRequest request, const CallGraph& call_graph) {
  return addresses_for(target, std::span(&request, 1), call_graph);
}

// Where it helps at all.
Addresses helpful() {
#if defined(__x86_64__)
  const auto processors = read_file("/proc/cpuinfo");
  const bool has_four = processors.ok() && processors.value().find(" la57") == std::string::npos;
  return has_four ? Addresses::Fixed : Addresses::Random;
#else
  return Addresses::Random;
#endif
}

TEST(FixedAddresses, are_for_commands_of_whose_stacks_copies_are_asked_for) {
  EXPECT_EQ(chosen_for(command(), {}, kCopies), helpful());
  EXPECT_EQ(chosen_for(command(), {}, {.stack_bytes = 0}), Addresses::Random);
  EXPECT_EQ(chosen_for(command(), {.stacks = false}, kCopies), Addresses::Random);
  EXPECT_EQ(chosen_for(command(), {.in_bursts = true}, kCopies), Addresses::Random);
}

TEST(FixedAddresses, are_not_for_processes_that_run_nor_against_the_users_wish) {
  EXPECT_EQ(chosen_for({.kind = TargetKind::System}, {}, kCopies), Addresses::Random);
  Target beside = command();
  beside.kind = TargetKind::System;
  EXPECT_EQ(chosen_for(beside, {}, kCopies), helpful()) << "watched with the whole machine";
  for (const TargetKind kind : {TargetKind::Processes, TargetKind::Threads}) {
    beside.kind = kind;
    EXPECT_EQ(chosen_for(beside, {}, kCopies), Addresses::Random) << "run, but not watched";
  }
  Target kept = command();
  kept.keep_aslr = true;
  EXPECT_EQ(chosen_for(kept, {}, kCopies), Addresses::Random);
}

TEST(FixedAddresses, are_what_the_kernel_gives_the_command) {
  for (const Addresses addresses : {Addresses::Random, Addresses::Fixed}) {
    const std::string personality = addresses == Addresses::Fixed ? "00040000" : "00000000";
    auto held = HeldCommand::spawn(
        {.kind = TargetKind::Command,
         .command = {"sh", "-c", "test \"$(cat /proc/self/personality)\" = " + personality}},
        addresses);
    ASSERT_TRUE(held.ok());
    ASSERT_TRUE(held.value().release().ok());
    const auto status = held.value().wait_exit(std::chrono::seconds(10));
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(WEXITSTATUS(*status), 0) << personality;
  }
}

}  // namespace
}  // namespace memtrace
