// Names of files from processes that have them open, with processes made up for the test.
#include "observe/files/file_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace memtrace {
namespace {

constexpr FileId kTable{254, 0, 9};
constexpr FileId kJournal{254, 0, 10};

class FileWatchTest : public testing::Test {
 protected:
  FileWatch::Sources sources() {
    return {.open_files =
                [this](std::uint32_t pid) {
                  ++readings_;
                  return pid == 12 && is_open_ ? std::vector<NamedFile>{{kTable, "/db/table"}}
                                               : std::vector<NamedFile>();
                },
            .inode_name = [](const FileId& id,
                             std::uint32_t /*pid*/) { return id == kJournal ? "/db/log" : ""; },
            .processes =
                [] {
                  return std::vector<std::uint32_t>{11, 12};
                }};
  }

  static std::string path_in(const Observation& observation, const FileId& id) {
    for (const Facts& row : observation.rows) {
      if (*row.number("inode") == id.inode) {
        return *row.text("path");
      }
    }
    return "";
  }

  // Until the thread has read /proc this number of times.
  void wait_for_readings(int count) const {
    for (int i = 0; i < 2000 && readings_ < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::atomic<int> readings_ = 0;
  std::atomic<bool> is_open_ = true;
};

TEST_F(FileWatchTest, file_has_the_name_that_its_process_has_it_open_by) {
  FileWatch watch(sources());
  EXPECT_FALSE(watch.wants_any());
  watch.want(kTable, 12);
  EXPECT_TRUE(watch.wants_any());
  const Observation files = watch.take();
  EXPECT_EQ(files.reader, "files");
  ASSERT_EQ(files.rows.size(), 1U);
  EXPECT_EQ(path_in(files, kTable), "/db/table");
  EXPECT_EQ(*files.rows[0].number("major"), 254U);
  EXPECT_EQ(*files.rows[0].number("minor"), 0U);
}

TEST_F(FileWatchTest, name_stays_known_after_the_file_is_closed) {
  FileWatch watch(sources());
  watch.want(kTable, 12);
  wait_for_readings(1);
  is_open_ = false;
  EXPECT_EQ(path_in(watch.take(), kTable), "/db/table");
}

TEST_F(FileWatchTest, file_that_another_process_has_open_is_found_at_the_end) {
  FileWatch watch(sources());
  watch.want(kTable, 4711);  // a flusher thread
  EXPECT_EQ(path_in(watch.take(), kTable), "/db/table");
}

TEST_F(FileWatchTest, file_that_nobody_has_open_is_asked_for_by_its_inode) {
  FileWatch watch(sources());
  watch.want(kJournal, 11);
  EXPECT_EQ(path_in(watch.take(), kJournal), "/db/log");
}

TEST_F(FileWatchTest, files_that_no_event_was_about_are_not_given_out) {
  FileWatch watch(sources());
  watch.want(kJournal, 12);  // has the table open
  wait_for_readings(1);
  const Observation files = watch.take();
  EXPECT_EQ(files.rows.size(), 1U);
  EXPECT_EQ(path_in(files, kTable), "");
}

TEST_F(FileWatchTest, many_events_of_a_process_are_one_reading_of_its_files) {
  FileWatch watch(sources());
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    watch.want(kTable, 12);
    watch.want({254, 0, 1000 + i % 10}, 12);
  }
  wait_for_readings(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LE(readings_, 6);
}

TEST_F(FileWatchTest, number_of_files_is_bounded_and_the_rest_is_counted) {
  FileWatch watch(sources());
  for (std::uint64_t i = 0; i < FileWatch::kMaxFiles + 3; ++i) {
    watch.want({254, 0, 1000 + i}, 12);
  }
  EXPECT_EQ(*watch.take().facts.number("left_out"), 3U);
}

}  // namespace
}  // namespace memtrace
