// Verdicts on programs of a known truth: leak_patterns, of which five leak and five do not.
#include <map>
#include <set>

#include "live/heap_live_test.h"

namespace memtrace::test {
namespace {

const std::set<std::string> kLeaking = {"requests", "slow", "realloc", "threads", "forks"};
const std::set<std::string> kKeeping = {"ttl", "pool", "ring", "config", "growth"};

class LeakVerdictsTest : public HeapLiveTest {
 protected:
  // All of them at once, each under the name of its pattern; all pids are in the file pids.
  static std::string start_all(const std::string& seconds) {
    std::string script = ": >pids; ";
    for (const auto* names : {&kLeaking, &kKeeping}) {
      for (const std::string& name : *names) {
        script += "ln -s $PUPPETS/leak_patterns " + name + "; ./" + name + " " + name + " " +
                  seconds + " & echo $! >>pids; " + (name == "forks" ? "forks=$!; " : "");
      }
    }
    // Forked workers run already, and are watched only if they are named.
    return script + "while ! pgrep -P $forks >workers; do sleep 0.1; done; cat workers >>pids; ";
  }

  // Of each program, the functions of rows with this verdict. All others of its functions that the
  // verdict is not on are left out.
  static std::map<std::string, std::set<std::string>> callers_with(const Json& leaks,
                                                                   const std::string& verdict) {
    std::map<std::string, std::set<std::string>> callers;
    for (const Json& row : leaks.at("tables").at(0).at("rows")) {
      if (row.at("verdict") == verdict) {
        callers[row.at("comm")].insert(row.at("caller").dump());
      }
    }
    return callers;
  }
};

TEST_F(LeakVerdictsTest, five_programs_leak_and_five_do_not) {
  run_well(start_all("18") + "$MEMTRACE record --for leaks -p $(paste -sd, pids) -d 17; wait");
  const Json leaks = report("leaks --by comm,caller --top 0");
  const auto found = callers_with(leaks, "leak");
  std::size_t true_leaks = 0;
  std::size_t false_leaks = 0;
  for (const auto& [comm, callers] : found) {
    for (const std::string& caller : callers) {
      const bool is_true = kLeaking.contains(comm) && caller.find("leak_") != std::string::npos;
      ++(is_true ? true_leaks : false_leaks);
      EXPECT_TRUE(is_true) << comm << " " << caller;
    }
  }
  for (const std::string& name : kLeaking) {
    EXPECT_EQ(found.count(name), 1U) << "missed: " << name << "\n" << leaks.dump(1);
  }
  RecordProperty("precision",
                 std::to_string(static_cast<double>(true_leaks) /
                                static_cast<double>(true_leaks + false_leaks)));
  RecordProperty(
      "recall",
      std::to_string(static_cast<double>(found.size()) / static_cast<double>(kLeaking.size())));
  EXPECT_EQ(callers_with(leaks, "uncertain").size(), 0U) << "lost: " << lost_in(leaks);
}

// Of rows whose stack has this function, and whose blocks have this size: an allocation may make
// the allocator allocate for itself.
std::set<std::string> verdicts_at(const Json& leaks, const std::string& function, int bytes) {
  std::set<std::string> verdicts;
  for (const Json& row : leaks.at("tables").at(0).at("rows")) {
    if (row.at("stack").dump().find(function) != std::string::npos &&
        row.at("bytes") == row.at("count").get<int>() * bytes) {
      verdicts.insert(row.at("verdict").dump());
    }
  }
  return verdicts;
}

TEST_F(LeakVerdictsTest, few_blocks_that_keep_many_pages_are_fragmented) {
  const Outcome outcome =
      run_well("$MEMTRACE record --for leaks -- $PUPPETS/leak_patterns sparse 3");
  const std::uint64_t pages = std::stoull(outcome.out);
  EXPECT_GT(pages, 900U);
  const Json leaks = report("leaks --by stack --top 0");
  EXPECT_EQ(verdicts_at(leaks, "hold_sparse", 64), std::set<std::string>{"\"fragmented\""})
      << leaks.dump(1);
  EXPECT_NEAR(
      static_cast<double>(sum_with_function(leaks, "(anonymous namespace)::hold_sparse", "pinned")),
      static_cast<double>(pages * 4096),
      static_cast<double>(pages * 41));
}

TEST_F(LeakVerdictsTest, the_kernels_memory_has_verdicts_too) {
  run_well(
      "for name in lost_messages late_messages; do $PUPPETS/leak_patterns $name 10 & "
      "pids=$pids,$!; done\n"
      "$MEMTRACE record --for kleaks -p ${pids#,} -d 8; wait");
  const Json leaks = report("kleaks --by stack --top 0");
  EXPECT_EQ(verdicts_at(leaks, "leak_queued", 2048), std::set<std::string>{"\"leak\""})
      << leaks.dump(1);
  EXPECT_EQ(verdicts_at(leaks, "hold_queued", 2048), std::set<std::string>{"\"cache\""});
}

// The table of a running process is sorted by growth, and a cache that is full does not grow.
TEST_F(LeakVerdictsTest, the_leak_of_a_running_server_comes_first) {
  const Json leaks = json_of(
      "ln -s $PUPPETS/leak_patterns ring; ./ring ring 30 & ring=$!; "
      "ln -s $PUPPETS/leak_patterns requests; ./requests requests 30 & requests=$!; "
      "$MEMTRACE leaks -p $ring,$requests -d 10 --by comm,caller --format json --top 0; "
      "kill $ring $requests");
  const Json& rows = leaks.at("tables").at(0).at("rows");
  ASSERT_GE(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("comm"), "requests") << leaks.dump(1);
  EXPECT_EQ(rows[0].at("verdict"), "leak");
  EXPECT_GT(rows[0].at("growth_per_min").get<std::uint64_t>(), 0U);
  EXPECT_GE(rows[0].at("freed").get<double>(), 98.0);
  EXPECT_EQ(figure_of(leaks, "comm", "ring", "growth_per_min"), 0U);
  EXPECT_GT(figure_of(leaks, "comm", "ring", "bytes"), rows[0].at("bytes").get<std::uint64_t>());
}

}  // namespace
}  // namespace memtrace::test
