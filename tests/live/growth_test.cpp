// Resident memory by the stack that touched it first, against what /proc/PID/smaps says: to the
// page, for pages of known functions, and in sum.
#include <algorithm>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

class GrowthTest : public LiveTest {
 protected:
  // Records a puppet until it is ready; leaves its smaps and ends it.
  void play(const std::string& puppet, const std::string& environment = "") {
    run_well("trap 'kill $(cat pid)' EXIT\n" + environment +
             " $MEMTRACE record --for growth -- sh -c '$PUPPETS/" + puppet +
             " > ready < /dev/zero & echo $! > pid; until grep -q more ready; do sleep 0.02; "
             "done'\n"
             "cat /proc/$(cat pid)/smaps > smaps");
    pid_ = std::stoull(text_of(dir_.path() + "/pid"));
  }

  // The sum of the lines "NAME: 12 kB" in smaps.
  std::uint64_t smaps_sum(const std::string& name) {
    std::istringstream words(text_of(dir_.path() + "/smaps"));
    std::uint64_t bytes = 0;
    std::uint64_t kilobytes = 0;
    for (std::string word; words >> word;) {
      if (word == name + ":" && words >> kilobytes) {
        bytes += kilobytes * 1024;
      }
    }
    return bytes;
  }

  // A figure of all stacks that the function is on.
  static std::uint64_t of_function(const Json& growth,
                                   std::string_view function,
                                   const char* column) {
    std::uint64_t sum = 0;
    for (const Json& row : growth.at("tables").at(0).at("rows")) {
      const Json& stack = row.at("stack");
      const bool is_on = std::any_of(stack.begin(), stack.end(), [function](const Json& frame) {
        return begins_with(frame, function);
      });
      sum += is_on ? row.at(column).get<std::uint64_t>() : 0;
    }
    return sum;
  }

  // The puppet's row of the second table.
  Json process(const Json& growth) const {
    for (const Json& row : growth.at("tables").at(1).at("rows")) {
      if (row.at("pid") == pid_) {
        return row;
      }
    }
    ADD_FAILURE() << "no such process: " << growth.dump(1);
    return Json::object();
  }

  // All that is resident has a reason.
  void expect_explained(const Json& growth) {
    const Json row = process(growth);
    EXPECT_EQ(row.at("rss"), smaps_sum("Rss"));
    EXPECT_EQ(row.at("unexplained"), 0) << row.dump(1);
    EXPECT_EQ(row.at("rss"),
              row.at("by_stack").get<std::uint64_t>() + row.at("before").get<std::uint64_t>() +
                  row.at("inherited").get<std::uint64_t>());
    EXPECT_EQ(lost_in(growth), 0U);
  }

  std::uint64_t pid_ = 0;
};

TEST_F(GrowthTest, bytes_of_stacks_are_exact_and_add_up_to_smaps) {
  play("grow_memory");
  const Json growth = report("growth --top 0 --pid " + std::to_string(pid_));
  EXPECT_EQ(of_function(growth, "touch_unmapped", "touched"), 1000 * kPageBytes);
  EXPECT_EQ(of_function(growth, "touch_unmapped", "resident"), 500 * kPageBytes);
  EXPECT_EQ(of_function(growth, "touch_unmapped", "freed"), 500 * kPageBytes);
  EXPECT_EQ(of_function(growth, "touch_discarded", "resident"), 500 * kPageBytes);
  EXPECT_EQ(of_function(growth, "touch_discarded", "freed"), 200 * kPageBytes);
  EXPECT_EQ(of_function(growth, "touch_allocated", "resident"), 300 * kPageBytes);
  EXPECT_EQ(of_function(growth, "touch_more", "resident"), 200 * kPageBytes);
  EXPECT_EQ(of_function(growth, "read_zeros", "resident"), 0U);
  EXPECT_EQ(of_function(growth, "touch_huge", "resident"),
            std::max(smaps_sum("AnonHugePages"), kPageBytes));
  expect_explained(growth);
}

TEST_F(GrowthTest, program_without_symbols_and_libraries_is_seen_whole) {
  play("grow_memory_stripped");
  const Json growth = report("growth --by kind --top 0 --pid " + std::to_string(pid_));
  std::uint64_t anonymous = 0;
  for (const Json& row : growth.at("tables").at(0).at("rows")) {
    anonymous += row.at("kind") == "anonymous" ? row.at("resident").get<std::uint64_t>() : 0;
  }
  // Mappings without a name: the first line has five words.
  const Outcome unnamed = run_well(
      "awk '/^[0-9a-f]+-/ {is_unnamed = NF == 5} is_unnamed && $1 == \"Rss:\" {sum += $2} "
      "END {print sum * 1024}' smaps");
  EXPECT_EQ(anonymous, std::stoull(unnamed.out));
  EXPECT_GE(anonymous, (500 + 500 + 300 + 200 + 1) * kPageBytes);
  expect_explained(growth);
}

TEST_F(GrowthTest, any_allocator_will_do) {
  const std::string jemalloc = "libjemalloc.so.2";
  if (run("LD_PRELOAD=" + jemalloc + " true 2>&1 | grep -q jemalloc").status == 0) {
    GTEST_SKIP() << "jemalloc is not installed";
  }
  play("grow_memory", "LD_PRELOAD=" + jemalloc);
  const Json growth = report("growth --top 0 --pid " + std::to_string(pid_));
  EXPECT_EQ(of_function(growth, "touch_allocated", "resident"), 300 * kPageBytes);
  expect_explained(growth);
}

TEST_F(GrowthTest, process_that_ran_before_has_what_it_had_and_what_it_got) {
  run_well(
      "mkfifo steps; $PUPPETS/grow_memory < steps > said & echo $! > pid; exec 3>steps\n"
      "trap 'kill $(cat pid)' EXIT\n"
      "await ready said $(cat pid)\n"
      "begin $MEMTRACE record --for growth -p $(cat pid)\n"
      "echo >&3; await more said $(cat pid)\n"
      "kill -INT $RECORDER; wait $RECORDER\n"
      "cat /proc/$(cat pid)/smaps > smaps");
  pid_ = std::stoull(text_of(dir_.path() + "/pid"));
  const Json growth = report("growth --top 0");
  EXPECT_EQ(of_function(growth, "touch_more", "resident"), 200 * kPageBytes);
  EXPECT_EQ(of_function(growth, "touch_unmapped", "resident"), 0U);
  const Json row = process(growth);
  EXPECT_GE(row.at("before").get<std::uint64_t>(), (500 + 500 + 300) * kPageBytes);
  EXPECT_GE(row.at("rss").get<std::uint64_t>(),
            row.at("rss_begin").get<std::uint64_t>() + 200 * kPageBytes);
  expect_explained(growth);
}

}  // namespace
}  // namespace memtrace::test
