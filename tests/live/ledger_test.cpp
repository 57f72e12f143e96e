// The ledger of a process: each change is known to the page, and both ends are what
// /proc/PID/smaps says.
#include "live/live_test.h"

namespace memtrace::test::ledger_test {
namespace {

constexpr std::int64_t kPage = 4096;

class LedgerTest : public LiveTest {
 protected:
  // Records all that the puppet does; leaves its smaps before and after.
  void play(const std::string& target) {
    run_well(
        "dd if=/dev/zero of=data bs=4096 count=128 status=none; cat data > /dev/null\n"
        "mkfifo steps; $PUPPETS/change_rss data < steps > said & echo $! > pid; exec 3>steps\n"
        "trap 'kill $(cat pid)' EXIT\n"
        "await ready said $(cat pid)\n"
        "cat /proc/$(cat pid)/smaps > before\n"
        "begin $MEMTRACE record --for ledger " +
        target +
        "\necho >&3; await done said $(cat pid)\n"
        "kill -INT $RECORDER; wait $RECORDER\n"
        "cat /proc/$(cat pid)/smaps > after");
    pid_ = std::stoull(text_of(dir_.path() + "/pid"));
  }

  std::int64_t smaps_sum(const std::string& file, const std::string& name) {
    std::istringstream words(text_of(dir_.path() + "/" + file));
    std::int64_t bytes = 0;
    std::int64_t kilobytes = 0;
    for (std::string word; words >> word;) {
      if (word == name + ":" && words >> kilobytes) {
        bytes += kilobytes * 1024;
      }
    }
    return bytes;
  }

  // Pages of a line of the puppet, 0 if the ledger has no such line.
  std::int64_t pages(const Json& ledger, const std::string& change) const {
    for (const Json& row : ledger.at("tables").at(1).at("rows")) {
      if (row.at("change") == change) {
        return row.at("bytes").get<std::int64_t>() / kPage;
      }
    }
    return 0;
  }

  void expect_known_changes(const Json& ledger) {
    const std::int64_t huge = smaps_sum("after", "AnonHugePages") / kPage;
    // Libraries that are used for the first time then: calls to fork and waitpid.
    constexpr std::int64_t kFew = 12;
    const auto expect_near = [&](const char* change, std::int64_t expected) {
      const std::int64_t seen = pages(ledger, change);
      EXPECT_GE(seen, expected) << change;
      EXPECT_LE(seen, expected + kFew) << change;
    };
    expect_near("anonymous, first touch", 1000 + 50 + (huge == 0 ? 1 : 0));
    EXPECT_EQ(pages(ledger, "anonymous, huge pages"), huge);
    expect_near("stack", 30 - 3);  // what it had before may lie in its first pages
    EXPECT_EQ(pages(ledger, "unmapped"), -300);
    EXPECT_EQ(pages(ledger, "madvise"), -200);
    EXPECT_EQ(pages(ledger, "by a call (MAP_POPULATE)"), 64);
    const std::int64_t faults = pages(ledger, "file, page of a fault");
    expect_near("file, page of a fault", 4);
    // At most 16 at a fault, and less where the kernel finds a page locked.
    EXPECT_LE(pages(ledger, "file, mapped around a fault"), 15 * faults);
    EXPECT_GE(pages(ledger, "file, mapped around a fault"), 64 - 4 - kFew);
    expect_near("anonymous, copy on write", 8);
    EXPECT_LE(pages(ledger, "file, replaced by a copy"), -8);
    EXPECT_EQ(pages(ledger, "shared memory"), 40);
  }

  void expect_reconciled(const Json& ledger) {
    const Json& row = ledger.at("tables").at(0).at("rows").at(0);
    EXPECT_EQ(row.at("rss_begin"), smaps_sum("before", "Rss")) << row.dump(1);
    EXPECT_EQ(row.at("rss"), smaps_sum("after", "Rss"));
    EXPECT_EQ(row.at("residual"), 0) << ledger.dump(1);
    const Json& beside = ledger.at("tables").at(2).at("rows").at(0);
    EXPECT_EQ(beside.at("swap"), smaps_sum("after", "Swap"));
    EXPECT_EQ(lost_in(ledger), 0U);
  }

  std::uint64_t pid_ = 0;
};

TEST_F(LedgerTest, each_line_of_a_process_is_known_to_the_page) {
  play("-p $(cat pid)");
  const Json ledger = report("ledger --top 0 --pid " + std::to_string(pid_));
  expect_known_changes(ledger);
  expect_reconciled(ledger);
}

TEST_F(LedgerTest, child_begins_and_ends_with_nothing) {
  play("-a");
  const Json ledger = report("ledger --top 0 --comm change_rss");
  ASSERT_EQ(ledger.at("tables").at(0).at("rows").size(), 2U) << ledger.dump(1);
  const Json& rows = ledger.at("tables").at(0).at("rows");
  const Json& child = rows.at(0).at("pid") == pid_ ? rows.at(1) : rows.at(0);
  EXPECT_EQ(child.at("rss_begin"), 0);
  EXPECT_EQ(child.at("rss"), 0);
  EXPECT_EQ(child.at("residual"), 0) << child.dump(1);
  EXPECT_EQ(child.at("added"), child.at("freed"));
  EXPECT_GE(child.at("peak").get<std::int64_t>(), 500 * kPage);
}

// Each of a shell's children gets the memory of the address space before it. Of a command alone, no
// event shows on Linux 6.18 that the one before has ended.
TEST_F(LedgerTest, short_children_in_a_row_have_ledgers_of_their_own) {
  run_well(
      "$MEMTRACE record --for ledger -- sh -c 'i=0; while [ $i -lt 30 ]; do /bin/true; i=$((i+1)); "
      "done; $PUPPETS/fault_kinds folios 4096; true'");
  const Json ledger = report("ledger --top 0");
  EXPECT_EQ(lost_in(ledger), 0U);
  EXPECT_LE(ledger.at("totals").at("taken").get<std::int64_t>(), 100 * kPage);
  for (const Json& row : ledger.at("tables").at(0).at("rows")) {
    if (row.at("comm") == "fault_kinds") {
      EXPECT_GE(row.at("added").get<std::int64_t>(), 4096 * kPage);
      EXPECT_LE(row.at("peak").get<std::int64_t>(), 6000 * kPage);
    } else {
      EXPECT_LE(row.at("added").get<std::int64_t>(), 2000 * kPage) << row.dump(1);
    }
  }
}

TEST_F(LedgerTest, mappings_have_ledgers_of_their_own) {
  play("-p $(cat pid)");
  const Json ledger = report("ledger --by mapping --top 0 --pid " + std::to_string(pid_));
  bool has_file = false;
  for (const Json& row : ledger.at("tables").at(0).at("rows")) {
    const auto name = row.at("mapping").get<std::string>();
    if (name.front() != '(') {
      EXPECT_EQ(row.at("residual"), 0) << row.dump(1);
    }
    if (name.find("/data") != std::string::npos) {
      has_file = true;
      EXPECT_EQ(row.at("rss_begin"), 0);
      EXPECT_GE(row.at("rss").get<std::int64_t>(), (64 + 4) * kPage);
      EXPECT_EQ(row.at("freed"), 8 * kPage);
      EXPECT_EQ(row.at("added").get<std::int64_t>(), row.at("rss").get<std::int64_t>() + 8 * kPage);
    }
  }
  EXPECT_TRUE(has_file) << ledger.dump(1);
}

}  // namespace
}  // namespace memtrace::test::ledger_test
