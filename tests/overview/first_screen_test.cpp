#include "overview/first_screen.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/event_script.h"
#include "support/fake_source.h"

namespace memtrace {
namespace {

using test::FakeSource;

Report screen_of(FakeSource& source, const std::string& arguments = "") {
  auto screen = make_first_screen(source, {}, arguments);
  EXPECT_TRUE(screen.ok());
  return screen.ok() ? screen.take() : Report();
}

class FirstScreenTest : public testing::Test {
 protected:
  void SetUp() override {
    source_.add(5, Comm{.pid = 100, .tid = 100, .name = "demo"});
    source_.add_kmalloc(10, {.pid = 100});
    source_.add_kmalloc(40, {.pid = 100, .period = 3});
  }

  FakeSource source_;
};

TEST_F(FirstScreenTest, says_what_was_recorded) {
  source_.edit().about_json = to_json({.target = "process 12"});
  const Report screen = screen_of(source_);
  EXPECT_EQ(screen.view, "overview");
  EXPECT_EQ(screen.title, "recording of process 12");
  EXPECT_EQ(test::total(screen, "samples"), 2U);
}

TEST_F(FirstScreenTest, findings_come_with_the_command_that_shows_more) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    source_.add_kmalloc(50 + i, {.pid = 100, .period = 100});
  }
  const Report screen = screen_of(source_, " -i 'a b'");
  const Table& table = screen.tables.front();
  EXPECT_EQ(table.title, "findings");
  ASSERT_FALSE(table.rows.empty());
  EXPECT_EQ(std::get<std::string>(table.rows.back()[2]),
            "memtrace report slab --by cache --comm demo -i 'a b'");
}

TEST_F(FirstScreenTest, without_findings_it_says_so_and_where_it_looked) {
  FakeSource empty;
  const Report screen = screen_of(empty);
  EXPECT_EQ(screen.tables.front().title, "nothing stands out");
  EXPECT_TRUE(screen.tables.front().rows.empty());
}

// For several callers: each has the records for itself.
class SharedSource final : public RecordSource {
 public:
  explicit SharedSource(FakeSource& records) : records_(records) {}

  Result<std::optional<Record>> next() override {
    if (position_ == fail_at_) {
      return Error{"read", 0, ""};
    }
    if (position_ == records_.records().size()) {
      return std::optional<Record>();
    }
    return std::optional<Record>(records_.records()[position_++]);
  }

  std::vector<std::unique_ptr<RecordSource>> share(std::size_t count) override {
    shared_ = count;
    std::vector<std::unique_ptr<RecordSource>> readers;
    for (std::size_t i = 0; i < count; ++i) {
      auto reader = std::make_unique<SharedSource>(records_);
      reader->fail_at_ = i == failing_ ? 2 : fail_at_;
      readers.push_back(std::move(reader));
    }
    return readers;
  }

  const Recording& recording() const override { return records_.recording(); }

  void let_fail(std::size_t reader) { failing_ = reader; }

  std::size_t shared() const { return shared_; }

 private:
  static constexpr std::size_t kNever = ~std::size_t{0};

  FakeSource& records_;
  std::size_t position_ = 0;
  std::size_t fail_at_ = kNever;
  std::size_t failing_ = kNever;
  std::size_t shared_ = 0;
};

std::string text_of(const Report& screen) {
  std::string text = screen.title + " " + std::to_string(screen.end_ns - screen.start_ns);
  for (const Total& total : screen.totals) {
    text += "\n" + total.name + " " + std::to_string(total.value);
  }
  for (const std::string& note : screen.caveats.notes) {
    text += "\n" + note;
  }
  for (const auto& row : screen.tables.front().rows) {
    text += "\n" + std::get<std::string>(row[0]) + " " + std::get<std::string>(row[1]);
  }
  return text + "\n" + screen.tables.front().note;
}

TEST_F(FirstScreenTest, is_the_same_from_two_threads) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t place = 0xffff888000000000U + i * 4096;
    source_.add_kmalloc(50 + i, {.pid = 100, .bytes = 4096, .period = 100, .ptr = place});
    source_.add(50 + i, Sample{.event = test::kMinorFaults, .pid = 100, .tid = 100});
  }
  SharedSource shared(source_);
  const auto screen = make_first_screen(shared, {}, "");
  ASSERT_TRUE(screen.ok());
  EXPECT_EQ(shared.shared(), 2U);
  const std::string text = text_of(screen.value());
  EXPECT_EQ(text, text_of(screen_of(source_)));
  EXPECT_NE(text.find("slab demo"), std::string::npos) << text;
  EXPECT_NE(text.find("faults demo"), std::string::npos) << text;
}

TEST_F(FirstScreenTest, one_thread_judges_tasks_that_are_asked_for) {
  SharedSource shared(source_);
  EXPECT_TRUE(make_first_screen(shared, {.view_options = {.tasks = {.pids = {100}}}}, "").ok());
  EXPECT_EQ(shared.shared(), 0U);
}

TEST_F(FirstScreenTest, an_error_of_either_thread_is_the_whole_s) {
  for (const std::size_t reader : {0U, 1U}) {
    SharedSource shared(source_);
    shared.let_fail(reader);
    const auto screen = make_first_screen(shared, {}, "");
    ASSERT_FALSE(screen.ok()) << reader;
    EXPECT_EQ(screen.error().message, "read");
  }
}

}  // namespace
}  // namespace memtrace
