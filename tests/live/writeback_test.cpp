// What is written back for real, and by whom: calls that wait for the disk, rounds of flushers.
#include "live/live_test.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kMebibyte = 1U << 20U;

class WritebackTest : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped() && !std::filesystem::exists("/sys/kernel/tracing/events/writeback")) {
      GTEST_SKIP() << "no tracefs with writeback events at /sys/kernel/tracing";
    }
  }

  static Json table_of(const Json& report, const std::string& title) {
    for (const Json& table : report.at("tables")) {
      if (table.at("title") == title) {
        return table.at("rows");
      }
    }
    return Json::array();
  }

  static Json row_where(const Json& rows, const char* key, const char* value) {
    const auto found = std::ranges::find_if(
        rows, [&](const Json& row) { return row.at(key).is_string() && row.at(key) == value; });
    return found == rows.end() ? Json() : *found;
  }
};

TEST_F(WritebackTest, what_fsync_writes_is_its_callers) {
  run_well(
      "$MEMTRACE record -a --for writeback -- "
      "dd if=/dev/zero of=data bs=1M count=8 conv=fsync status=none");
  const Json writeback = report("writeback");
  EXPECT_EQ(lost_in(writeback), 0U);
  const Json calls = table_of(writeback, "calls that wait for the disk, by process");
  const Json row = row_where(calls, "comm", "dd");
  ASSERT_FALSE(row.is_null()) << writeback.dump(1);
  EXPECT_EQ(row.at("call"), "fsync");
  EXPECT_EQ(row.at("count"), 1U);
  EXPECT_EQ(row.at("failed"), 0U);
  EXPECT_GT(row.at("time_ns").get<std::uint64_t>(), 0U);
  if (run("df --output=source . | grep -q ^/dev/").status != 0) {
    GTEST_SKIP() << "the scratch folder's file system is on no block device";
  }
  EXPECT_GE(row.at("bytes").get<std::uint64_t>(), 8 * kMebibyte);
  EXPECT_LE(row.at("bytes").get<std::uint64_t>(), 10 * kMebibyte);
}

// head(1) has ended when its pages are written and the recording ends.
TEST_F(WritebackTest, file_of_a_process_that_has_ended_is_named) {
  run_well(
      "$MEMTRACE record -a --for writeback,filepages -- sh -c "
      "'head -c 4194304 /dev/urandom > named_file; sync'");
  const std::string path = std::filesystem::canonical(dir_.file("named_file"));
  const Json written =
      row_where(table_of(report("writeback --top 0"), "by file"), "file", path.c_str());
  if (written.is_null() && run("df -T . | grep -q ' ext[234] '").status != 0) {
    GTEST_SKIP() << "the scratch folder is on no ext file system";
  }
  ASSERT_FALSE(written.is_null());
  EXPECT_EQ(written.at("written"), 1024U);
  const Json cached =
      row_where(table_of(report("filepages --top 0"), "by file"), "file", path.c_str());
  ASSERT_FALSE(cached.is_null());
  EXPECT_EQ(cached.at("cache_add"), 1024U);
  EXPECT_EQ(cached.at("times"), 1U);
}

TEST_F(WritebackTest, what_flushers_write_for_sync_has_that_reason) {
  run_well(
      "$MEMTRACE record -a --for writeback -- sh -c "
      "'$PUPPETS/press_memory file data 2048; sync'");
  const Json writeback = report("writeback --by comm --show all");
  const Json rounds = table_of(writeback, "rounds of flusher threads, by reason");
  const Json row = row_where(rounds, "reason", "sync");
  ASSERT_FALSE(row.is_null()) << writeback.dump(1);
  EXPECT_GE(row.at("rounds").get<std::uint64_t>(), 1U);
  EXPECT_GE(row.at("written").get<std::uint64_t>(), 2048U);
  EXPECT_LE(row.at("written").get<std::uint64_t>(),
            writeback.at("totals").at("written").get<std::uint64_t>());
  EXPECT_GE(writeback.at("totals").at("flushes").get<std::uint64_t>(), 1U);
  const Json sync =
      row_where(table_of(writeback, "calls that wait for the disk, by process"), "comm", "sync");
  ASSERT_FALSE(sync.is_null());
  EXPECT_EQ(sync.at("call"), "sync");
}

}  // namespace
}  // namespace memtrace::test
