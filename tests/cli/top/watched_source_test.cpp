#include "cli/top/watched_source.h"

#include <gtest/gtest.h>

#include <deque>

namespace memtrace {
namespace {

class ListedSource final : public RecordSource {
 public:
  explicit ListedSource(std::deque<Record> records) : records_(std::move(records)) {}

  Result<std::optional<Record>> next() override {
    if (records_.empty()) {
      return std::optional<Record>();
    }
    std::optional<Record> first = records_.front();
    records_.pop_front();
    return first;
  }

  const Recording& recording() const override { return recording_; }

 private:
  std::deque<Record> records_;
  Recording recording_;
};

int looks_at(std::deque<Record> records) {
  int looks = 0;
  ListedSource listed(std::move(records));
  WatchedSource watched(listed, [&looks]() -> Result<> {
    ++looks;
    return kDone;
  });
  while (true) {
    const auto record = watched.next();
    if (!record.ok() || !record.value()) {
      return looks;
    }
  }
}

TEST(WatchedSource, looks_at_each_tick) {
  const Record tick{.payload = Tick{}};
  const Record lost{.payload = Lost{}};
  EXPECT_EQ(looks_at({tick, lost, lost, tick}), 2);
}

TEST(WatchedSource, looks_under_full_load_when_no_tick_comes) {
  EXPECT_EQ(looks_at(std::deque<Record>(10'000, Record{.payload = Lost{}})), 2);
}

TEST(WatchedSource, an_error_of_the_look_ends_the_run) {
  ListedSource listed({Record{.payload = Tick{}}});
  WatchedSource watched(listed, []() -> Result<> { return Error{"the screen", 5, ""}; });
  EXPECT_FALSE(watched.next().ok());
}

}  // namespace
}  // namespace memtrace
