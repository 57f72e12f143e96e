// The one loop, over a recording made by hand: intervals, filters, and what is said of losses.
#include "session/session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/units.h"
#include "support/event_script.h"
#include "support/fake_source.h"

namespace memtrace {
namespace {

using test::FakeSource;
using test::total;

constexpr std::uint64_t kSecond = 1'000'000'000;

class SessionTest : public testing::Test {
 protected:
  SessionOptions kmalloc_by_comm() const {
    SessionOptions options;
    options.views = {find_view("kmalloc")};
    options.view_options.by = {"comm"};
    return options;
  }

  // All reports of the run, in order.
  std::vector<Report> run(const SessionOptions& options) {
    auto session = Session::create(source_, options);
    EXPECT_TRUE(session.ok());
    std::vector<Report> reports;
    const auto done = session.value()->run([&reports](std::vector<Report> made) -> Result<> {
      for (Report& report : made) {
        reports.push_back(std::move(report));
      }
      return kDone;
    });
    EXPECT_TRUE(done.ok());
    session_ = session.take();
    return reports;
  }

  FakeSource source_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, without_an_interval_there_is_one_report_at_the_end) {
  source_.add_kmalloc(2 * kSecond, {});
  source_.add_kmalloc(5 * kSecond, {});
  const auto reports = run(kmalloc_by_comm());
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].view, "kmalloc");
  EXPECT_EQ(reports[0].start_ns, 2 * kSecond);
  EXPECT_EQ(reports[0].end_ns, 5 * kSecond);
  EXPECT_EQ(total(reports[0], "count"), 2U);
}

// As if the recording had ended there.
TEST_F(SessionTest, tables_stop_growing_at_their_bound) {
  constexpr std::uint64_t kEvents = 10'000;
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    source_.add_kmalloc(kSecond + i * 1'000'000, {});
  }
  SessionOptions options = kmalloc_by_comm();
  options.max_memory_bytes = 1;
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 1U);
  const std::uint64_t shown = total(reports[0], "count");
  EXPECT_GT(shown, 1000U);
  EXPECT_LT(shown, kEvents);
  EXPECT_LT(reports[0].end_ns, kSecond + kEvents * 1'000'000);
  ASSERT_FALSE(reports[0].caveats.notes.empty());
  const std::string& note = reports[0].caveats.notes.front();
  EXPECT_TRUE(note.starts_with("memory is short: the tables reached 1 B (--max-memory)")) << note;
  EXPECT_NE(note.find("; " + print_count(kEvents - shown) + " later events were left out"),
            std::string::npos)
      << note;
}

// A recording of many processes begins with more records of their mappings than fit between two
// looks.
TEST_F(SessionTest, records_before_the_first_event_do_not_use_up_the_bound) {
  for (std::uint64_t i = 0; i < 9000; ++i) {
    source_.add(1, Comm{.pid = 10, .tid = 10, .name = "early"});
  }
  for (std::uint64_t i = 0; i < 9000; ++i) {
    source_.add_kmalloc(kSecond + i * 1'000'000, {});
  }
  SessionOptions options = kmalloc_by_comm();
  options.max_memory_bytes = 1;
  const auto reports = run(options);
  EXPECT_LT(total(reports[0], "count"), 9000U);
}

// Those of an event that the kernel only counts.
TEST_F(SessionTest, counts_are_events_of_their_interval_and_cpu) {
  SessionOptions options;
  options.views = {find_view("count")};
  options.view_options.by = {"event", "cpu"};
  options.times.interval_ns = kSecond;
  source_.add(2 * kSecond, Tick{});
  source_.add(3 * kSecond - 1, Counted{.event = 0, .count = 40});
  source_.add(3 * kSecond, Tick{});
  source_.add(4 * kSecond - 1, Counted{.event = 1, .count = 2});
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(total(reports[0], "count"), 40U);
  EXPECT_EQ(total(reports[1], "count"), 2U);
  ASSERT_EQ(reports[0].tables.at(0).rows.size(), 1U);
  EXPECT_EQ(reports[0].tables[0].rows[0].at(0), test::text("kmem:kmalloc"));
  EXPECT_EQ(reports[1].tables.at(0).rows.at(0).at(0), test::text("minor-faults"));
  EXPECT_EQ(session_->event_counts().at(0).hits, 40U);
}

TEST_F(SessionTest, each_interval_has_its_own_events_and_no_gap) {
  for (const std::uint64_t tenths : {10U, 12U, 19U, 21U, 45U}) {
    source_.add_kmalloc(tenths * kSecond / 10, {});
  }
  SessionOptions options = kmalloc_by_comm();
  options.times.interval_ns = kSecond;
  const auto reports = run(options);
  std::vector<std::uint64_t> counts;
  std::uint64_t end_ns = kSecond;
  for (const Report& report : reports) {
    counts.push_back(total(report, "count"));
    EXPECT_EQ(report.start_ns, end_ns) << "starts where the last one ended";
    end_ns = report.end_ns;
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{3, 1, 0, 1}));
}

TEST_F(SessionTest, interval_ends_by_the_clock_when_nothing_happens) {
  source_.add(kSecond, Tick{});
  source_.add(4 * kSecond, Tick{});
  SessionOptions options = kmalloc_by_comm();
  options.times.interval_ns = kSecond;
  EXPECT_GE(run(options).size(), 3U);
}

TEST_F(SessionTest, time_window_counts_from_the_first_event) {
  for (std::uint64_t second = 2; second < 9; ++second) {
    source_.add_kmalloc(second * kSecond, {});
  }
  SessionOptions options = kmalloc_by_comm();
  options.times.window = {.start_ns = kSecond, .stop_ns = 3 * kSecond};
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(total(reports[0], "count"), 3U) << "at 3, 4 and 5 seconds";
  EXPECT_EQ(reports[0].start_ns, 3 * kSecond);
  EXPECT_EQ(reports[0].end_ns, 5 * kSecond);
}

TEST_F(SessionTest, time_window_may_be_of_day_where_the_recording_says_it) {
  for (std::uint64_t second = 2; second < 9; ++second) {
    source_.add_kmalloc(second * kSecond, {});
  }
  SessionOptions options = kmalloc_by_comm();
  options.times.window = parse_time_window("2026-11-23T12:00:03Z,2026-11-23T12:00:05Z").value();
  source_.edit().clock = {.record_ns = kSecond, .wall_ns = 1'795'435'201 * kSecond};
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(total(reports[0], "count"), 3U) << "at 3, 4 and 5 seconds";
  EXPECT_EQ(reports[0].clock.wall_start_ns, 1'795'435'203 * kSecond);
  source_.edit().clock = {};
}

TEST_F(SessionTest, time_of_day_of_a_recording_without_a_clock_is_an_error) {
  source_.add_kmalloc(kSecond, {});
  SessionOptions options = kmalloc_by_comm();
  options.times.window = parse_time_window("12:00,").value();
  auto session = Session::create(source_, options);
  ASSERT_TRUE(session.ok());
  const auto done = session.value()->run([](std::vector<Report>) -> Result<> { return kDone; });
  EXPECT_FALSE(done.ok());
}

TEST_F(SessionTest, moments_without_a_clock_are_since_the_start_and_a_note_says_so) {
  SessionOptions options;
  options.views = {find_view("faults")};
  options.view_options.own["trace"] = "1";
  source_.add(kSecond, Sample{.event = test::kMinorFaults, .pid = 100, .tid = 100});
  EXPECT_TRUE(test::has_note(run(options).at(0), "does not say what time of day"));
  EXPECT_FALSE(test::has_note(run(kmalloc_by_comm()).at(0), "time of day")) << "no moments";
}

TEST_F(SessionTest, blocks_from_before_the_time_window_are_not_counted_when_freed) {
  source_.add_kmalloc(1 * kSecond, {.ptr = 0x100});
  source_.add_kmalloc(2 * kSecond, {.ptr = 0x200});
  source_.add_kmalloc(3 * kSecond, {.ptr = 0x300});
  source_.add_kfree(4 * kSecond, 0x100);
  source_.add_kfree(5 * kSecond, 0x200);
  source_.add_kfree(6 * kSecond, 0x300);
  SessionOptions options;
  options.views = {find_view("kleaks")};
  options.times.window = {.start_ns = kSecond, .stop_ns = 4 * kSecond};
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(total(reports[0], "count"), 1U) << "0x300 lives when the window ends";
}

TEST_F(SessionTest, count_of_intervals_ends_the_run) {
  for (std::uint64_t second = 1; second < 9; ++second) {
    source_.add_kmalloc(second * kSecond, {});
  }
  SessionOptions options = kmalloc_by_comm();
  options.times.interval_ns = kSecond;
  options.times.interval_count = 2;
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(total(reports[0], "count") + total(reports[1], "count"), 2U);
}

// Lines of an event that each view of calls has: too many for one time, then a tick.
TEST_F(SessionTest, lines_come_while_events_do_and_before_the_report) {
  SessionOptions options;
  options.views = {find_view("faults")};
  options.view_options.own["trace"] = "1";
  constexpr std::uint64_t kFaults = 5000;
  const auto add_fault = [this](std::uint64_t time_ns) {
    source_.add(time_ns, Sample{.event = test::kMinorFaults, .pid = 100, .tid = 100});
  };
  for (std::uint64_t i = 0; i < kFaults; ++i) {
    add_fault(kSecond + i);
  }
  source_.add(2 * kSecond, Tick{});
  source_.add(3 * kSecond, Tick{});
  add_fault(4 * kSecond);
  auto session = Session::create(source_, options);
  ASSERT_TRUE(session.ok());
  std::vector<std::size_t> portions;
  const auto done = session.value()->run(
      [&portions](const std::vector<Report>& reports) -> Result<> {
        EXPECT_EQ(reports.at(0).tables.size(), 1U);
        portions.push_back(0);
        return kDone;
      },
      [&portions](const Report& lines) -> Result<> {
        EXPECT_EQ(lines.start_ns, kSecond);
        portions.push_back(lines.tables.at(0).rows.size());
        return kDone;
      });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(portions, (std::vector<std::size_t>{4096, kFaults - 4096, 1, 0}));
}

TEST_F(SessionTest, error_of_whoever_takes_the_lines_ends_the_run) {
  SessionOptions options;
  options.views = {find_view("faults")};
  options.view_options.own["trace"] = "1";
  source_.add(kSecond, Sample{.event = test::kMinorFaults, .pid = 100, .tid = 100});
  auto session = Session::create(source_, options);
  ASSERT_TRUE(session.ok());
  const auto done =
      session.value()->run([](const std::vector<Report>&) -> Result<> { return kDone; },
                           [](const Report&) -> Result<> {
                             return Error{"full", 28, ""};
                           });
  EXPECT_FALSE(done.ok());
}

TEST_F(SessionTest, error_of_whoever_takes_the_reports_ends_the_run) {
  source_.add_kmalloc(kSecond, {});
  auto session = Session::create(source_, kmalloc_by_comm());
  const auto done = session.value()->run([](std::vector<Report>) -> Result<> {
    return Error{"pipe", 32, ""};
  });
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, "pipe");
}

TEST_F(SessionTest, every_reason_of_loss_is_told_under_its_name) {
  source_.add_kmalloc(1, {});
  source_.add(2, Lost{.count = 1, .reason = LossReason::Kernel});
  source_.add(3, Lost{.count = 2, .reason = LossReason::Late});
  source_.add(4, Lost{.count = 4, .reason = LossReason::Overload});
  source_.add(5, Lost{.count = 8, .reason = LossReason::Malformed});
  source_.add(6, Lost{.count = 16, .reason = LossReason::DiskFull});
  source_.add(7, CutStacks{.count = 32});
  const Caveats caveats = run(kmalloc_by_comm()).front().caveats;
  EXPECT_EQ(caveats.lost, 1U);
  EXPECT_EQ(caveats.late, 2U);
  EXPECT_EQ(caveats.overload, 4U);
  EXPECT_EQ(caveats.malformed, 8U);
  EXPECT_EQ(caveats.disk_full, 16U);
  EXPECT_EQ(caveats.cut, 32U);
  EXPECT_EQ(caveats.missing(), 31U);
}

// A file of a rotated recording has neither the blocks nor the pages of the files before it.
TEST_F(SessionTest, file_that_is_not_the_first_says_what_is_not_known) {
  source_.add_kmalloc(1, {});
  const auto has_note = [this](const char* view, std::string_view word) {
    SessionOptions options;
    options.views = {find_view(view)};
    const auto notes = run(options).front().caveats.notes;
    return std::ranges::any_of(notes, [word](const std::string& note) {
      return note.starts_with("the recording began 2 files earlier: " + std::string(word));
    });
  };
  for (const char* view : {"leaks", "kleaks", "heap", "pages", "slab"}) {
    source_.edit().about_json = to_json({.earlier_files = 2});
    EXPECT_TRUE(has_note(view, "blocks")) << view;
    EXPECT_FALSE(has_note(view, "pages")) << view;
    source_.edit().about_json = to_json({});
    EXPECT_FALSE(has_note(view, "")) << view;
  }
  source_.edit().about_json = to_json({.earlier_files = 2});
  EXPECT_TRUE(has_note("growth", "pages"));
  EXPECT_FALSE(has_note("growth", "blocks"));
  EXPECT_FALSE(has_note("kmalloc", ""));
}

TEST_F(SessionTest, loss_in_a_file_gets_back_the_name_that_record_gave_it) {
  source_.add_kmalloc(1, {});
  source_.add(2, Lost{.count = 10, .reason = LossReason::Kernel});
  source_.edit().about_json =
      to_json({.notes = {"rings are small"}, .late = 3, .overload = 4, .disk_full = 5});
  const Caveats caveats = run(kmalloc_by_comm()).front().caveats;
  EXPECT_EQ(caveats.lost, 3U);
  EXPECT_EQ(caveats.late, 3U);
  EXPECT_EQ(caveats.overload, 4U);
  EXPECT_EQ(caveats.disk_full, 5U) << "no record counts what could not be written";
  EXPECT_EQ(caveats.notes, std::vector<std::string>{"rings are small"});
}

// By who wrote them and not by their words.
TEST_F(SessionTest, notes_of_samples_are_those_on_what_came) {
  const std::string loss = "events of memtrace's own work filled the rings: user stacks end early";
  const std::string stacks = "1 of 2 user stacks end early: a return address is in no mapping";
  source_.edit().about_json =
      to_json({.notes = {loss, stacks}, .notes_of_samples = {stacks}, .own_samples = 2});
  source_.add_kmalloc(kSecond, {});
  const auto reports = run(kmalloc_by_comm());
  const std::string own = "2 events of memtrace's own work were left out";
  EXPECT_EQ(reports.front().caveats.notes, (std::vector<std::string>{own, loss, stacks}));
  EXPECT_EQ(session_->notes_of_samples(), (std::vector<std::string>{own, stacks}));
}

TEST_F(SessionTest, loss_belongs_to_the_interval_that_it_happened_in) {
  source_.add_kmalloc(kSecond, {});
  source_.add(kSecond + 1, Lost{.count = 9});
  source_.add_kmalloc(2 * kSecond + 2, {});
  SessionOptions options = kmalloc_by_comm();
  options.times.interval_ns = kSecond;
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].caveats.lost, 9U);
  EXPECT_EQ(reports[1].caveats.lost, 0U);
}

// A table that was printed cannot be changed any more.
TEST_F(SessionTest, loss_from_before_the_interval_is_told_as_such) {
  source_.add_kmalloc(kSecond, {});
  source_.add_kmalloc(2 * kSecond + 1, {});
  source_.add(2 * kSecond + kSecond / 2, Lost{.count = 9, .first_ns = kSecond + kSecond / 2});
  source_.add(2 * kSecond + kSecond / 2, Lost{.count = 4, .first_ns = 2 * kSecond + 2});
  source_.add_kmalloc(3 * kSecond + 2, {});
  SessionOptions options = kmalloc_by_comm();
  options.times.interval_ns = kSecond;
  options.live = true;
  const auto reports = run(options);
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[0].caveats.lost, 0U);
  EXPECT_EQ(reports[1].caveats.lost, 13U);
  ASSERT_EQ(reports[1].caveats.notes.size(), 1U);
  EXPECT_EQ(reports[1].caveats.notes[0],
            "9 of the lost events may have been lost up to 500 ms before this interval began: they "
            "are counted as lost here and not in the tables before");
  EXPECT_EQ(reports[2].caveats.lost, 0U);
}

// The records of the losses come when memtrace had the time to write them.
TEST_F(SessionTest, loss_is_of_the_time_that_the_recording_says) {
  source_.edit().about_json =
      to_json(RecordingFacts{.losses = {{LossReason::Overload, 2 * kSecond, 2 * kSecond + 1, 700},
                                        {LossReason::Kernel, 3 * kSecond, 4 * kSecond, 20},
                                        {LossReason::Late, 5 * kSecond, 7 * kSecond, 3},
                                        {LossReason::Kernel, 8 * kSecond, 8 * kSecond, 1000}}});
  for (std::uint64_t second = 1; second < 10; ++second) {
    source_.add_kmalloc(second * kSecond, {});
  }
  source_.add(9 * kSecond, Lost{1723});
  SessionOptions options = kmalloc_by_comm();
  options.times.window = {.start_ns = 2 * kSecond, .stop_ns = 5 * kSecond};  // 3 to 6 s
  const auto part = run(options);
  ASSERT_EQ(part.size(), 1U);
  EXPECT_EQ(part[0].caveats.lost, 20U);
  EXPECT_EQ(part[0].caveats.overload, 0U);
  EXPECT_EQ(part[0].caveats.late, 0U);
  const auto& notes = part[0].caveats.notes;
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note.starts_with("up to 3 more events may be missing");
  }));
}

TEST_F(SessionTest, without_a_window_all_listed_losses_are_counted) {
  source_.edit().about_json = to_json(RecordingFacts{
      .losses = {{LossReason::Overload, 1, 2, 700}, {LossReason::Kernel, 3, 4, 20}}});
  source_.add_kmalloc(kSecond, {});
  source_.add(kSecond, Lost{720});
  const auto reports = run(kmalloc_by_comm());
  EXPECT_EQ(reports.at(0).caveats.lost, 20U);
  EXPECT_EQ(reports.at(0).caveats.overload, 700U);
}

TEST_F(SessionTest, report_is_of_the_time_in_which_all_events_were_watched) {
  source_.edit().about_json =
      to_json(RecordingFacts{.started_ns = 2 * kSecond, .stopped_ns = 7 * kSecond});
  source_.add_kmalloc(1 * kSecond, {.ptr = 0x100});  // enabled first
  source_.add_kmalloc(3 * kSecond, {.ptr = 0x200});
  source_.add_kfree(4 * kSecond, 0x100);
  const auto reports = run(kmalloc_by_comm());
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].start_ns, 2 * kSecond);
  EXPECT_EQ(reports[0].end_ns, 7 * kSecond);
  EXPECT_EQ(total(reports[0], "count"), 1U);
  EXPECT_EQ(reports[0].caveats.unmatched, 0U);
}

// So that the overview of a file has as many samples as `record` and `perf script` say.
TEST_F(SessionTest, samples_of_a_file_are_all_counted_those_before_its_start_too) {
  source_.edit().about_json =
      to_json(RecordingFacts{.started_ns = 2 * kSecond, .stopped_ns = 7 * kSecond});
  source_.add_kmalloc(1 * kSecond, {});
  source_.add_kmalloc(3 * kSecond, {});
  EXPECT_EQ(total(run(kmalloc_by_comm()).at(0), "count"), 1U);
  EXPECT_EQ(session_->event_counts().front().samples, 2U);
}

TEST_F(SessionTest, samples_outside_a_time_window_are_not_counted) {
  source_.edit().about_json =
      to_json(RecordingFacts{.started_ns = 2 * kSecond, .stopped_ns = 7 * kSecond});
  source_.add_kmalloc(1 * kSecond, {});
  source_.add_kmalloc(3 * kSecond, {});
  source_.add_kmalloc(5 * kSecond, {});
  SessionOptions options = kmalloc_by_comm();
  options.times.window.start_ns = 2 * kSecond;
  run(options);
  EXPECT_EQ(session_->event_counts().front().samples, 1U);
}

TEST_F(SessionTest, time_window_counts_from_the_start_of_the_recording_where_it_is_known) {
  source_.edit().about_json =
      to_json(RecordingFacts{.started_ns = 2 * kSecond, .stopped_ns = 9 * kSecond});
  for (const std::uint64_t second : {4U, 5U, 6U}) {
    source_.add_kmalloc(second * kSecond, {});
  }
  SessionOptions options = kmalloc_by_comm();
  options.times.window = {.start_ns = 0, .stop_ns = 3 * kSecond};
  const auto reports = run(options);
  EXPECT_EQ(total(reports.at(0), "count"), 2U) << "at 4 and 5 seconds";
  EXPECT_EQ(reports[0].end_ns, 5 * kSecond);
}

TEST_F(SessionTest, recording_without_events_lasted_as_long_as_it_did) {
  source_.edit().about_json =
      to_json(RecordingFacts{.started_ns = 2 * kSecond, .stopped_ns = 3 * kSecond});
  const auto reports = run(kmalloc_by_comm());
  EXPECT_EQ(reports.at(0).end_ns - reports.at(0).start_ns, kSecond);
}

TEST_F(SessionTest, short_samples_are_counted_as_malformed) {
  const std::vector<std::byte> few(12);
  source_.add(1, Sample{.event = test::kKmalloc, .raw = few});
  source_.add_kmalloc(2, {});
  const Report report = run(kmalloc_by_comm()).front();
  EXPECT_EQ(report.caveats.malformed, 1U);
  EXPECT_EQ(total(report, "count"), 1U);
}

TEST_F(SessionTest, caveats_of_the_file_are_told_once) {
  source_.edit().caveats = {"The file is cut off", "The file is cut off"};
  source_.add_kmalloc(1, {});
  const auto notes = run(kmalloc_by_comm()).front().caveats.notes;
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "The file is cut off"), 1);
}

TEST_F(SessionTest, one_in_n_is_scaled_and_said) {
  source_.edit().events[test::kKmalloc].period = 10;
  source_.add_kmalloc(1, {.bytes = 100, .period = 10});
  const Report report = run(kmalloc_by_comm()).front();
  EXPECT_EQ(total(report, "count"), 10U);
  EXPECT_EQ(total(report, "bytes_req"), 1000U);
  EXPECT_TRUE(test::has_note(report, "one in N"));
}

SessionOptions slab_by_comm() {
  SessionOptions options;
  options.views = {find_view("slab")};
  options.view_options.by = {"comm"};
  return options;
}

constexpr std::uint64_t kUnknownBlock = 0xffff888000009000U;

TEST_F(SessionTest, frees_that_match_nothing_are_counted_in_the_views_of_these_frees) {
  source_.add_kmalloc(2, {});
  source_.add_kfree(3, kUnknownBlock);
  const Report report = run(slab_by_comm()).front();
  EXPECT_EQ(report.caveats.unmatched, 1U);
  EXPECT_EQ(report.caveats.unmatched_why, "");
}

TEST_F(SessionTest, frees_that_match_nothing_are_those_of_wanted_tasks) {
  source_.add(1, Comm{.pid = 7, .tid = 7, .name = "wanted"});
  source_.add_kmalloc(2, {.pid = 7});
  source_.add_kfree(3, kUnknownBlock);  // by another process
  SessionOptions options = slab_by_comm();
  options.view_options.tasks.comms = {"wanted"};
  EXPECT_EQ(run(options).front().caveats.unmatched, 0U);
}

// The frees of what the recording left out cannot be matched.
TEST_F(SessionTest, frees_that_match_nothing_say_what_the_recording_left_out) {
  source_.edit().about_json = to_json(RecordingFacts{.limited = {"kmem:kmalloc"}});
  source_.add_kmalloc(2, {});
  source_.add_kfree(3, kUnknownBlock);
  EXPECT_TRUE(run(slab_by_comm()).front().caveats.unmatched_why.starts_with("left out"));
}

// What /proc/vmstat counted is of the whole machine, the whole time and all events.
TEST_F(SessionTest, counters_of_the_machine_stand_beside_all_its_events_alone) {
  RecordingFacts facts{.vmstat = {{"nr_dirtied", 5}}};
  source_.add_kmalloc(2, {});
  const auto stand = [&](const SessionOptions& options) {
    source_.edit().about_json = to_json(facts);
    run(options);
    return session_->world().growth_beside_events() != nullptr;
  };
  EXPECT_TRUE(stand(slab_by_comm()));
  SessionOptions some = slab_by_comm();
  some.view_options.tasks.pids = {7};
  EXPECT_FALSE(stand(some));
  SessionOptions cut = slab_by_comm();
  cut.times.window.stop_ns = 3;
  EXPECT_FALSE(stand(cut));
  facts.limited = {"kmem:mm_page_alloc"};
  EXPECT_FALSE(stand(slab_by_comm())) << "by --filter";
  facts.filters = {{"kmem:mm_page_alloc", "order >= 9"}};
  EXPECT_TRUE(stand(slab_by_comm())) << "the part that a view needs";
  facts.whole_machine = false;
  EXPECT_FALSE(stand(slab_by_comm()));
}

TEST_F(SessionTest, frees_that_match_nothing_say_that_one_in_n_was_sampled) {
  source_.edit().events[test::kKmalloc].period = 10;
  source_.add_kmalloc(2, {.period = 10});
  source_.add_kfree(3, kUnknownBlock);
  EXPECT_TRUE(run(slab_by_comm()).front().caveats.unmatched_why.starts_with("not sampled"));
}

TEST_F(SessionTest, only_wanted_threads_are_shown_but_all_are_counted) {
  source_.add(1, Comm{.pid = 7, .tid = 7, .name = "wanted"});
  source_.add_kmalloc(2, {.pid = 7});
  source_.add_kmalloc(3, {.pid = 8});
  SessionOptions options = kmalloc_by_comm();
  options.view_options.tasks.comms = {"wanted"};
  EXPECT_EQ(total(run(options).front(), "count"), 1U);
  EXPECT_EQ(session_->event_counts().front().samples, 2U);
}

// For process 7, and for its child, which had ended before it could be read.
void add_family(FakeSource& source) {
  source.edit().identities = "user 1000 anna\ncgroup 1 /web.service\ntask 1 7 1000 1\n";
  source.add_kmalloc(2, {.pid = 7});
  source.add(3, Fork{.pid = 8, .parent_pid = 7, .tid = 8, .parent_tid = 7});
  source.add(4, Exit{.pid = 7, .parent_pid = 1, .tid = 7, .parent_tid = 1});
  source.add_kmalloc(5, {.pid = 8});
}

TEST_F(SessionTest, users_are_those_that_the_recording_tells) {
  add_family(source_);
  SessionOptions options = kmalloc_by_comm();
  options.view_options.by = {"user", "pid"};
  const Report report = run(options).front();
  EXPECT_EQ(test::figure(report, {test::text("anna"), test::number(8)}, "count"), test::number(1));
  EXPECT_TRUE(report.caveats.notes.empty());
}

TEST_F(SessionTest, only_events_of_wanted_users_and_cgroups_are_shown) {
  add_family(source_);
  source_.add_kmalloc(6, {.pid = 9});
  SessionOptions options = kmalloc_by_comm();
  options.view_options.tasks.users = {"anna"};
  options.view_options.tasks.cgroups = {"web"};
  const Report report = run(options).front();
  EXPECT_EQ(total(report, "count"), 2U);
  EXPECT_TRUE(test::has_note(report, "1 event of a process whose user is not known was left out"));
}

TEST_F(SessionTest, whom_nobody_knows_is_told_when_it_is_asked) {
  add_family(source_);
  source_.add_kmalloc(6, {.pid = 9});
  SessionOptions options = kmalloc_by_comm();
  EXPECT_TRUE(run(options).front().caveats.notes.empty());
  options.view_options.by = {"container"};
  FakeSource again;
  add_family(again);
  again.add_kmalloc(6, {.pid = 9});
  auto session = Session::create(again, options).take();
  ASSERT_TRUE(
      session
          ->run([](const std::vector<Report>& reports) -> Result<> {
            EXPECT_TRUE(test::has_note(
                reports.front(), "1 event is of a process whose cgroup at that time is not known"));
            return kDone;
          })
          .ok());
}

TEST_F(SessionTest, unknown_owners_of_what_a_filter_left_out_are_not_told) {
  source_.edit().identities = "user 1000 anna\ncgroup 1 /web.service\ntask 1 7 1000 1\n";
  source_.add(1, Comm{.pid = 7, .tid = 7, .name = "wanted"});
  source_.add_kmalloc(2, {.pid = 7});
  source_.add(3, Comm{.pid = 9, .tid = 9, .name = "other"});
  source_.add_kmalloc(4, {.pid = 9});
  SessionOptions options = kmalloc_by_comm();
  options.view_options.by = {"user", "cgroup"};
  options.view_options.tasks.comms = {"wanted"};
  EXPECT_TRUE(run(options).front().caveats.notes.empty());
}

TEST_F(SessionTest, idle_task_and_events_of_other_views_have_no_owner_to_be_told) {
  add_family(source_);
  source_.add_kmalloc(6, {.pid = 0});
  source_.add(7, Sample{.event = test::kMinorFaults, .pid = 9, .tid = 9});
  SessionOptions options = kmalloc_by_comm();
  options.view_options.by = {"user", "cgroup"};
  EXPECT_TRUE(run(options).front().caveats.notes.empty());
}

TEST_F(SessionTest, filter_tells_of_nobody_that_it_left_out_anyway) {
  add_family(source_);
  source_.add_kmalloc(6, {.pid = 0});
  source_.add(7, Sample{.event = test::kMinorFaults, .pid = 9, .tid = 9});
  SessionOptions options = kmalloc_by_comm();
  options.view_options.tasks.users = {"anna"};
  EXPECT_TRUE(run(options).front().caveats.notes.empty());
}

TEST_F(SessionTest, recording_of_perf_has_no_users_and_says_why) {
  source_.add_kmalloc(2, {.pid = 7});
  SessionOptions options = kmalloc_by_comm();
  options.view_options.by = {"user"};
  const Report report = run(options).front();
  EXPECT_EQ(test::figure(report, {Cell()}, "count"), test::number(1));
  EXPECT_TRUE(test::has_note(report, "perf record does not"));
}

TEST_F(SessionTest, events_without_a_view_are_counted) {
  source_.add(1, Sample{.event = test::kMinorFaults, .pid = 1, .tid = 1});
  run(kmalloc_by_comm());
  const auto counts = session_->event_counts();
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[test::kMinorFaults].name, "minor-faults");
  EXPECT_EQ(counts[test::kMinorFaults].samples, 1U);
  EXPECT_FALSE(session_->view_has_events(0));
}

TEST_F(SessionTest, key_that_a_view_does_not_have_is_a_usage_error) {
  SessionOptions options = kmalloc_by_comm();
  options.view_options.by = {"colour"};
  const auto session = Session::create(source_, options);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().kind, ErrorKind::Usage);
}

}  // namespace
}  // namespace memtrace
