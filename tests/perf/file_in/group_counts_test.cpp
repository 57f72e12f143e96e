#include "perf/file_in/group_counts.h"

#include <gtest/gtest.h>

#include "perf/file_in/file_source.h"
#include "perf/file_in/group_source.h"
#include "support/perf_bytes.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kLeader = 21;
constexpr std::uint64_t kMember = 22;
constexpr std::uint64_t kFormatLost = 1U << 4;

perf_event_attr group_attr(bool is_leader, std::uint64_t more_read_format = 0) {
  perf_event_attr attr{};
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ |
                     PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | more_read_format;
  attr.sample_period = is_leader ? 1 : 0;
  return attr;
}

struct Values {
  std::uint64_t leader = 0;
  std::uint64_t member = 0;
  std::uint32_t tid = 43;
};

// As perf record -e '{a,b}:S' has it in its file.
RecordBytes leader_sample(const Values& values, std::uint64_t read_format = 0) {
  ByteWriter body;
  body.put(std::uint64_t{0xffffffff81001000U});
  body.put(std::uint32_t{42});
  body.put(values.tid);
  body.put(std::uint64_t{1000});  // time
  body.put(kLeader);
  body.put(std::uint64_t{1});  // CPU
  body.put(std::uint64_t{2});
  for (const std::uint64_t time :
       {PERF_FORMAT_TOTAL_TIME_ENABLED, PERF_FORMAT_TOTAL_TIME_RUNNING}) {
    if ((read_format & time) != 0) {
      body.put(std::uint64_t{777});
    }
  }
  for (const auto& [value, id] : {std::pair(values.leader, kLeader), {values.member, kMember}}) {
    body.put(value);
    body.put(id);
    if ((read_format & kFormatLost) != 0) {
      body.put(std::uint64_t{999});
    }
  }
  return record_bytes(PERF_RECORD_SAMPLE, body);
}

// Gives out records as a file does.
class Records final : public RecordSource {
 public:
  Records(std::vector<RecordBytes> records, const RecordParser& parser)
      : records_(std::move(records)), parser_(parser) {}

  Result<std::optional<Record>> next() override {
    if (given_ == records_.size()) {
      return std::optional<Record>();
    }
    auto record = parser_.parse(records_[given_++]);
    return record.ok() ? Result<std::optional<Record>>(record.take()) : record.take_error();
  }

  const Recording& recording() const override { return recording_; }

 private:
  std::vector<RecordBytes> records_;
  const RecordParser& parser_;
  std::size_t given_ = 0;
  Recording recording_;
};

class GroupCountsTest : public testing::Test {
 protected:
  void add_events(const perf_event_attr& leader, const perf_event_attr& member) {
    for (const auto& [attr, id] : {std::pair(leader, kLeader), {member, kMember}}) {
      parser_.add_event(SampleLayout::of(attr), std::span(&id, 1));
      counts_.add_event(attr);
    }
  }

  // "event:period" of each sample that comes out.
  std::vector<std::string> samples_of(std::vector<RecordBytes> records) {
    const auto source =
        with_groups(std::make_unique<Records>(std::move(records), parser_), counts_, parser_);
    std::vector<std::string> samples;
    while (true) {
      const auto record = source->next();
      if (!record.ok() || !record.value()) {
        return samples;
      }
      const auto& sample = std::get<Sample>(record.value()->payload);
      EXPECT_EQ(record.value()->stamp.time_ns, 1000U);
      EXPECT_EQ(sample.pid, 42U);
      samples.push_back(std::to_string(sample.event) + ":" + std::to_string(sample.period));
    }
  }

  RecordParser parser_;
  GroupCounts counts_;
};

using Names = std::vector<std::string>;

TEST_F(GroupCountsTest, each_event_has_the_hits_since_the_sample_before) {
  add_events(group_attr(true), group_attr(false));
  EXPECT_EQ(samples_of({leader_sample({.leader = 1, .member = 5}),
                        leader_sample({.leader = 2, .member = 5}),
                        leader_sample({.leader = 4, .member = 12}),
                        leader_sample({.leader = 4, .member = 12}),
                        leader_sample({.leader = 4, .member = 13})}),
            (Names{"0:1", "1:5", "0:1", "0:2", "1:7", "1:1"}));
}

TEST_F(GroupCountsTest, times_and_losses_between_the_counts_are_passed_over) {
  for (const std::uint64_t more : std::initializer_list<std::uint64_t>{
           PERF_FORMAT_TOTAL_TIME_ENABLED,
           PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
           kFormatLost,
           PERF_FORMAT_TOTAL_TIME_RUNNING | kFormatLost}) {
    parser_ = {};
    counts_ = {};
    add_events(group_attr(true, more), group_attr(false, more));
    EXPECT_EQ(samples_of({leader_sample({.leader = 1, .member = 3}, more)}), (Names{"0:1", "1:3"}))
        << more;
  }
}

TEST_F(GroupCountsTest, inherited_counters_are_each_threads_own) {
  perf_event_attr leader = group_attr(true);
  perf_event_attr member = group_attr(false);
  leader.inherit = member.inherit = 1;
  add_events(leader, member);
  EXPECT_EQ(samples_of({leader_sample({.leader = 1, .member = 5}),
                        leader_sample({.leader = 1, .member = 2, .tid = 44}),
                        leader_sample({.leader = 2, .member = 6})}),
            (Names{"0:1", "1:5", "0:1", "1:2", "0:1", "1:1"}));
}

// perf 6.12 sets the bit with -a, too, and its ID_INDEX says that the ids belong to no thread.
TEST_F(GroupCountsTest, counters_of_a_whole_cpu_are_no_threads_own) {
  perf_event_attr leader = group_attr(true);
  perf_event_attr member = group_attr(false);
  leader.inherit = member.inherit = 1;
  add_events(leader, member);
  counts_.note_all_tasks(kLeader);
  counts_.note_all_tasks(kMember);
  EXPECT_EQ(samples_of({leader_sample({.leader = 1, .member = 5}),
                        leader_sample({.leader = 2, .member = 7, .tid = 44}),
                        leader_sample({.leader = 3, .member = 8})}),
            (Names{"0:1", "1:5", "0:1", "1:2", "0:1", "1:1"}));
}

// The times of samples say when they began, their counters when they were written: an interrupt's
// sample in between has the later time and the lower value.
TEST_F(GroupCountsTest, a_counter_that_seems_to_go_back_counts_nothing_twice) {
  add_events(group_attr(true), group_attr(false));
  EXPECT_EQ(samples_of({leader_sample({.leader = 3, .member = 5}),
                        leader_sample({.leader = 2, .member = 5}),
                        leader_sample({.leader = 4, .member = 5})}),
            (Names{"0:3", "1:5", "0:1"}));
}

// A whole file, whose ID_INDEX says so.
TEST(GroupCountsOfFileTest, counters_of_whole_cpus_are_found_by_the_index_of_ids) {
  for (const std::uint64_t tid : {~std::uint64_t{0}, std::uint64_t{43}}) {
    ByteWriter out;
    out.put(PipeHeader{});
    ByteWriter index;
    index.put(std::uint64_t{2});
    for (const auto& [is_leader, id] : {std::pair(true, kLeader), {false, kMember}}) {
      perf_event_attr attr = group_attr(is_leader);
      attr.size = 112;
      attr.inherit = 1;
      ByteWriter body;
      body.put_bytes(attr_bytes(attr));
      body.put(id);
      out.put_bytes(record_bytes(kHeaderAttr, body));
      index.put(id);
      index.put(std::uint64_t{0});
      index.put(std::uint64_t{1});
      index.put(tid);
    }
    out.put_bytes(record_bytes(kIdIndex, index));
    out.put_bytes(leader_sample({.leader = 1, .member = 5}));
    out.put_bytes(leader_sample({.leader = 3, .member = 7, .tid = 44}));
    const TempFile file("groups");
    file.write(out.bytes());
    const auto source = open_file_source(file.path());
    ASSERT_TRUE(source.ok()) << source.error().message;
    std::uint64_t hits = 0;
    for (auto record = source.value()->next(); record.ok() && record.value();
         record = source.value()->next()) {
      hits += std::get<Sample>(record.value()->payload).period;
    }
    EXPECT_EQ(hits, tid == 43 ? 16U : 10U) << tid;
  }
}

TEST_F(GroupCountsTest, only_members_that_are_never_sampled_are_counted_alone) {
  EXPECT_FALSE(is_counted_by_leader(group_attr(true)));
  EXPECT_TRUE(is_counted_by_leader(group_attr(false)));
  perf_event_attr plain = group_attr(false);
  plain.sample_type &= ~std::uint64_t{PERF_SAMPLE_READ};
  EXPECT_FALSE(is_counted_by_leader(plain));
}

TEST_F(GroupCountsTest, cut_samples_and_unknown_ids_do_no_harm) {
  add_events(group_attr(true), group_attr(false));
  RecordBytes wrong = leader_sample({.leader = 1, .member = 5});
  wrong[10 * 8] = std::byte{0xff};  // the member's id
  EXPECT_EQ(samples_of({wrong}), Names{"0:1"});
  RecordBytes many = leader_sample({.leader = 2, .member = 5});
  many[6 * 8] = std::byte{0xff};  // there is only room for two of them
  Sample sample{.event = 0};
  EXPECT_EQ(counts_.take(sample, many, parser_).size(), 2U);
  for (std::size_t bytes = 0; bytes < many.size(); bytes += 8) {
    EXPECT_LE(counts_.take(sample, std::span(many).first(bytes), parser_).size(), 2U);
  }
}

}  // namespace
}  // namespace memtrace::test
