// What no input may do: abort memtrace, or keep it busy for ever.
#include <linux/perf_event.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>

#include "cli/program.h"
#include "support/sanitized.h"

namespace memtrace::test {
namespace {

class HostileInputTest : public ProgramTest {
 protected:
  void SetUp() override { start_ = std::chrono::steady_clock::now(); }

  void expect_end_within(std::chrono::seconds limit) const {
    EXPECT_LT(std::chrono::steady_clock::now() - start_, limit);
  }

 private:
  std::chrono::steady_clock::time_point start_;
};

TEST_F(HostileInputTest, expression_that_backtracks_takes_no_time) {
  const Outcome outcome =
      run("$MEMTRACE report kmalloc --by caller -i $CROWD --exclude '(.*)*(.*)*(.*)*(.*)*Q'");
  EXPECT_EQ(outcome.status, 0) << outcome.all();
  expect_end_within(std::chrono::seconds(30));
}

TEST_F(HostileInputTest, expression_with_many_parentheses_is_an_expression) {
  write("words",
        "report kmalloc -i " + crowd_path() + " --exclude " + std::string(20000, '(') + "Q" +
            std::string(20000, ')'));
  const Outcome outcome = run("xargs $MEMTRACE < words");
  EXPECT_EQ(outcome.status, 0) << outcome.all().substr(0, 500);
}

TEST_F(HostileInputTest, suppression_with_many_wildcards_is_a_suppression) {
  std::string rule = "leak:";
  for (int i = 0; i < 60000; ++i) {
    rule += "*a";
  }
  write("rules", rule + '\n');
  const Outcome outcome = run("$MEMTRACE report kmalloc -i $CROWD --suppressions rules");
  EXPECT_EQ(outcome.status, 0) << outcome.all().substr(0, 500);
}

TEST_F(HostileInputTest, suppressions_have_a_size) {
  expect_refused(
      "report -i $CROWD --suppressions /dev/zero", 1, "/dev/zero is not a list", "give a");
  run("head -c 17000000 /dev/zero > large");
  expect_refused("report -i $CROWD --suppressions large", 1, "large is not a list", "give a");
  const Outcome pipe =
      run("mkfifo f; echo leak:x > f & $MEMTRACE report -i $CROWD --suppressions f");
  EXPECT_EQ(pipe.status, 0) << pipe.all();
  const Outcome none = run("$MEMTRACE report -i $CROWD --suppressions /dev/null");
  EXPECT_EQ(none.status, 0) << none.all();
}

// 134 is what abort(3) leaves.
TEST_F(HostileInputTest, no_memory_is_a_sentence) {
  if (kIsSanitized) {
    GTEST_SKIP() << "a sanitizer needs more than any limit";
  }
  int sentences = 0;
  for (int megabytes = 20; megabytes < 120; megabytes += 10) {
    const std::string limit = "ulimit -v " + std::to_string(megabytes * 1024) + "; ";
    const Outcome outcome = run(limit + "$MEMTRACE report -i $CROWD > /dev/null");
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 1 || outcome.status == 127)
        << megabytes << " MiB: " << outcome.status << outcome.all();
    EXPECT_FALSE(outcome.says("on the way out")) << megabytes << " MiB: " << outcome.all();
    sentences += outcome.says("memtrace: out of memory") ? 1 : 0;
  }
  EXPECT_GT(sentences, 0);
}

// Ids of no event of this kernel, in a file that has lost its formats.
TEST_F(HostileInputTest, many_unknown_tracepoints_are_looked_up_once) {
  if (kIsSanitized) {
    GTEST_SKIP() << "a sanitizer takes the time that this looks for";
  }
  constexpr std::uint64_t kEvents = 3000;

  struct Entry {
    perf_event_attr attr{};
    std::uint64_t ids[2]{};
  };

  std::string attrs;
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    Entry entry;
    entry.attr.type = PERF_TYPE_TRACEPOINT;
    entry.attr.size = sizeof(entry.attr);
    entry.attr.config = 60000 + i;
    entry.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
    attrs.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
  }
  constexpr std::uint64_t kHeadBytes = 104;
  const std::uint64_t head[] = {0x32454c4946524550U,
                                kHeadBytes,
                                sizeof(Entry),
                                kHeadBytes,
                                attrs.size(),
                                kHeadBytes + attrs.size(),
                                16,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0};
  const std::uint32_t rounds[] = {68, 8U << 16U, 68, 8U << 16U};
  write("many.data",
        std::string(reinterpret_cast<const char*>(head), sizeof(head)) + attrs +
            std::string(reinterpret_cast<const char*>(rounds), sizeof(rounds)));
  const Outcome outcome = run("$MEMTRACE report -i many.data");
  EXPECT_TRUE(outcome.status == 0 || outcome.status == 1) << outcome.status;
  expect_end_within(std::chrono::seconds(30));
}

}  // namespace
}  // namespace memtrace::test
