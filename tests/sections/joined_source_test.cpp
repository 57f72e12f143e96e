#include "sections/joined_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>

#include "sections/recording_facts.h"

namespace memtrace {
namespace {

// A file as a list of records.
class FakeFile final : public RecordSource {
 public:
  explicit FakeFile(Recording recording) : recording_(std::move(recording)) {}

  void add(std::uint64_t time_ns, RecordPayload payload) {
    records_.push_back({.stamp = {.time_ns = time_ns, .sequence = records_.size()},
                        .payload = payload,
                        .bytes = bytes_});
  }

  Result<std::optional<Record>> next() override {
    if (records_.empty()) {
      return std::optional<Record>();
    }
    const Record record = records_.front();
    records_.pop_front();
    return std::optional<Record>(record);
  }

  const Recording& recording() const override { return recording_; }

  void release_texts() override {
    recording_.symbols_json = recording_.about_json = recording_.identities = "";
  }

  // Set to false when nobody needs the file any more.
  void tell_life(bool* is_open) { is_open_ = is_open; }

  FakeFile(const FakeFile&) = delete;
  FakeFile& operator=(const FakeFile&) = delete;
  FakeFile(FakeFile&&) = delete;
  FakeFile& operator=(FakeFile&&) = delete;

  ~FakeFile() override {
    if (is_open_ != nullptr) {
      *is_open_ = false;
    }
  }

 private:
  std::array<std::byte, 8> bytes_{};
  bool* is_open_ = nullptr;
  Recording recording_;
  std::deque<Record> records_;
};

RecordingFacts times(std::uint64_t started_ns, std::uint64_t stopped_ns) {
  return {.started_ns = started_ns, .stopped_ns = stopped_ns};
}

Recording part_of(const std::string& recording, std::uint64_t number, const RecordingFacts& facts) {
  Recording made{.host_name = "host"};
  made.events = {{.name = "tracking", .is_tracking = true}, {.name = "a"}};
  made.about_json = to_json(facts);
  if (number != 0) {
    made.part_json = to_json(RecordingPart{.recording = recording,
                                           .number = number,
                                           .state_records = number == 1 ? 0U : 2U,
                                           .started_ns = facts.started_ns});
  }
  return made;
}

class JoinedSourceTest : public testing::Test {
 protected:
  FakeFile& add(const std::string& path, const Recording& recording) {
    auto file =
        std::make_shared<std::unique_ptr<RecordSource>>(std::make_unique<FakeFile>(recording));
    auto& made = static_cast<FakeFile&>(**file);
    files_.push_back({path, [file] { return Result(std::move(*file)); }});
    return made;
  }

  // The file of that number; from 2 on two records of state come first.
  FakeFile& add_part(std::uint64_t number) {
    FakeFile& file = add("f." + std::to_string(number),
                         part_of("r", number, times(number * 100, number * 100 + 100)));
    for (int i = 0; number > 1 && i < 2; ++i) {
      file.add(number * 100, Comm{.pid = 9, .tid = 9, .name = "state"});
    }
    file.add(number * 100, Comm{.pid = 9, .tid = 9, .name = "own"});
    file.add(number * 100 + 50, Sample{.event = 1, .pid = 9, .tid = 9});
    return file;
  }

  std::unique_ptr<RecordSource> joined() {
    auto source = JoinedSource::create(std::move(files_));
    EXPECT_TRUE(source.ok()) << describe(source.error());
    return source.take();
  }

  std::string error() {
    auto source = JoinedSource::create(std::move(files_));
    EXPECT_FALSE(source.ok());
    return source.ok() ? "" : source.error().message;
  }

  static std::vector<Record> all(RecordSource& source) {
    std::vector<Record> records;
    while (true) {
      auto record = source.next();
      EXPECT_TRUE(record.ok());
      if (!record.value()) {
        return records;
      }
      records.push_back(*record.value());
    }
  }

  static std::size_t names(const std::vector<Record>& records, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::count_if(records, [name](const Record& record) {
      const auto* comm = std::get_if<Comm>(&record.payload);
      return comm != nullptr && comm->name == name;
    }));
  }

  std::vector<JoinedSource::File> files_;
};

TEST_F(JoinedSourceTest, parts_come_in_order_of_time_without_what_they_repeat) {
  add_part(3);
  add_part(1);
  add_part(2);
  const auto source = joined();
  const auto records = all(*source);
  std::vector<std::uint64_t> times_ns;
  for (const Record& record : records) {
    times_ns.push_back(record.stamp.time_ns);
  }
  EXPECT_EQ(times_ns, (std::vector<std::uint64_t>{100, 150, 200, 250, 300, 350}));
  EXPECT_EQ(names(records, "state"), 0U);
  EXPECT_EQ(names(records, "own"), 3U);
  EXPECT_TRUE(source->recording().caveats.empty());
  const RecordingFacts facts = parse_recording_facts(source->recording().about_json);
  EXPECT_EQ(facts.started_ns, 100U);
  EXPECT_EQ(facts.stopped_ns, 400U);
  EXPECT_EQ(source->recording().events.size(), 2U);
}

TEST_F(JoinedSourceTest, state_is_of_use_where_a_file_is_missing) {
  add_part(1);
  add_part(3);
  const auto source = joined();
  const auto records = all(*source);
  EXPECT_EQ(names(records, "state"), 2U);
  ASSERT_EQ(source->recording().caveats.size(), 1U);
  EXPECT_NE(source->recording().caveats.front().find(
                "1 file of the recording between f.1 and f.3 is not given"),
            std::string::npos)
      << source->recording().caveats.front();
  const auto* gap = std::get_if<Lost>(&records[2].payload);
  ASSERT_NE(gap, nullptr) << "calls under way must not be taken to go on";
  EXPECT_EQ(gap->count, 0U);
}

TEST_F(JoinedSourceTest, two_recordings_are_told) {
  add("a", part_of("", 0, times(100, 200)));
  add("b", part_of("", 0, times(300, 400)));
  const auto source = joined();
  ASSERT_EQ(source->recording().caveats.size(), 1U);
  EXPECT_NE(source->recording().caveats.front().find("a and b are of two recordings"),
            std::string::npos);
}

TEST_F(JoinedSourceTest, what_cannot_be_one_recording_is_refused) {
  add("a", part_of("", 0, times(100, 200)));
  add("b", part_of("", 0, times(199, 400)));
  EXPECT_EQ(error(), "a and b were recorded at the same time");
  files_.clear();
  add_part(2);
  add_part(2);
  EXPECT_EQ(error(), "f.2 and f.2 are the same part of one recording");
  files_.clear();
  add("a", part_of("", 0, times(100, 200)));
  Recording other = part_of("", 0, times(300, 400));
  other.host_name = "elsewhere";
  add("b", other);
  EXPECT_EQ(error(), "a and b were recorded on two machines");
}

TEST_F(JoinedSourceTest, events_have_one_number_each) {
  add_part(1);
  Recording more = part_of("r", 2, times(200, 300));
  more.events = {{.name = "tracking", .is_tracking = true}, {.name = "added"}, {.name = "a"}};
  FakeFile& file = add("f.2", more);
  file.add(210, Sample{.event = 0});
  file.add(210, Sample{.event = 0});
  file.add(210, Sample{.event = 1});
  file.add(220, Sample{.event = 2});
  const auto source = joined();
  std::vector<std::string> events;
  for (const Record& record : all(*source)) {
    if (const auto* sample = std::get_if<Sample>(&record.payload)) {
      events.push_back(source->recording().events.at(sample->event).name);
    }
  }
  EXPECT_EQ(events, (std::vector<std::string>{"a", "added", "a"}));
}

// Two events of one kind in a file are two events.
TEST_F(JoinedSourceTest, equal_events_of_a_file_stay_two) {
  Recording twice = part_of("r", 1, times(100, 200));
  twice.events.push_back({.name = "a"});
  add("f.1", twice);
  twice.part_json = part_of("r", 2, times(200, 300)).part_json;
  add("f.2", twice);
  EXPECT_EQ(joined()->recording().events.size(), 3U);
}

TEST_F(JoinedSourceTest, figures_are_added_and_what_is_known_last_is_kept) {
  RecordingFacts first = times(100, 200);
  first.losses = {{LossReason::Kernel, 120, 130, 4}};
  first.own_samples = 3;
  first.own_events = {{"kmem:kfree", 3}};
  first.cut_stacks = 1;
  first.vmstat = {{"pgfault", 10}};
  first.notes = {"1 stack"};
  RecordingFacts second = times(200, 300);
  second.losses = {{LossReason::Overload, 220, 230, 5}};
  second.own_samples = 4;
  second.own_events = {{"kmem:kfree", 2}, {"kmem:kmalloc", 2}};
  second.vmstat = {{"pgfault", 7}, {"oom_kill", 1}};
  second.notes = second.notes_of_samples = {"2 stacks"};
  second.earlier_files = 1;
  Recording one = part_of("r", 1, first);
  one.identities = "task 1\n";
  Recording two = part_of("r", 2, second);
  two.identities = "task 2\n";
  add("f.1", one);
  add("f.2", two);
  const auto source = joined();
  const RecordingFacts all = parse_recording_facts(source->recording().about_json);
  EXPECT_EQ(all.losses,
            (std::vector<LossEntry>{{LossReason::Kernel, 120, 130, 4},
                                    {LossReason::Overload, 220, 230, 5}}));
  EXPECT_EQ(all.own_samples, 7U);
  EXPECT_EQ(all.own_events,
            (std::map<std::string, std::uint64_t>{{"kmem:kfree", 5}, {"kmem:kmalloc", 2}}));
  EXPECT_EQ(all.cut_stacks, 1U);
  EXPECT_EQ(all.vmstat, (std::map<std::string, std::uint64_t>{{"pgfault", 17}, {"oom_kill", 1}}));
  EXPECT_EQ(all.notes, std::vector<std::string>{"2 stacks"});
  EXPECT_EQ(all.notes_of_samples, std::vector<std::string>{"2 stacks"});
  EXPECT_EQ(all.earlier_files, 0U);
  EXPECT_EQ(source->recording().identities, "task 1\ntask 2\n");
}

// SIGKILL: the last file has nothing behind its records.
TEST_F(JoinedSourceTest, file_that_was_never_finished_counts_by_its_records) {
  RecordingFacts first = times(100, 200);
  first.losses = {{LossReason::Kernel, 120, 130, 4}};
  first.notes = {"said"};
  Recording one = part_of("r", 1, first);
  one.symbols_json = "names";
  Recording two = part_of("r", 2, times(200, 0));
  two.about_json.clear();
  two.caveats = {"it was killed"};
  add("f.1", one);
  add("f.2", two);
  const auto source = joined();
  const RecordingFacts all = parse_recording_facts(source->recording().about_json);
  EXPECT_TRUE(all.losses.empty()) << "else those of the second file were not counted";
  EXPECT_EQ(all.notes, std::vector<std::string>{"said"});
  EXPECT_EQ(all.stopped_ns, 0U);
  EXPECT_EQ(source->recording().symbols_json, "names");
  EXPECT_EQ(source->recording().caveats, std::vector<std::string>{"f.2: it was killed"});
}

// Each of a hundred files takes memory while it is open, and its names alone take tens of
// megabytes.
TEST_F(JoinedSourceTest, file_takes_no_memory_before_and_after_its_turn) {
  std::vector<FakeFile*> files;
  std::array<bool, 3> are_open{true, true, true};
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Recording part = part_of("r", number, times(number * 100, number * 100 + 100));
    part.symbols_json = "names up to " + std::to_string(number);
    part.identities = "task\n";
    FakeFile& file = add("f." + std::to_string(number), part);
    file.add(number * 100, Comm{.pid = 9, .tid = 9, .name = "own"});
    file.add(number * 100 + 1, Comm{.pid = 9, .tid = 9, .name = "own"});
    file.add(number * 100 + 2, Comm{.pid = 9, .tid = 9, .name = "own"});
    file.tell_life(&are_open[number - 1]);
    files.push_back(&file);
  }
  std::ranges::reverse(files_);
  const auto source = joined();
  for (const FakeFile* file : files) {
    EXPECT_EQ(file->recording().symbols_json, "");
    EXPECT_EQ(file->recording().about_json, "");
    EXPECT_EQ(file->recording().identities, "");
  }
  EXPECT_EQ(source->recording().symbols_json, "names up to 3");
  EXPECT_EQ(source->recording().identities, "task\ntask\ntask\n");
  ASSERT_TRUE(source->next().ok());
  EXPECT_EQ(are_open, (std::array<bool, 3>{true, true, true}));
  for (int i = 1; i < 4; ++i) {
    ASSERT_TRUE(source->next().ok());
  }
  EXPECT_EQ(are_open, (std::array<bool, 3>{false, true, true}));
  EXPECT_EQ(all(*source).size(), 1U) << "two of each later file repeat the state before it";
  EXPECT_EQ(are_open, (std::array<bool, 3>{false, false, false}));
}

TEST_F(JoinedSourceTest, what_was_before_the_first_file_stays_unknown) {
  RecordingFacts facts = times(300, 400);
  facts.earlier_files = 2;
  add("f.3", part_of("r", 3, facts));
  facts = times(400, 500);
  facts.earlier_files = 3;
  add("f.4", part_of("r", 4, facts));
  EXPECT_EQ(parse_recording_facts(joined()->recording().about_json).earlier_files, 2U);
}

}  // namespace
}  // namespace memtrace
