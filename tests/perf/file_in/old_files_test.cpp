// Files as perfs of other ages write them: attr sizes, tracing data, rounds and compression.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "support/recorded.h"

namespace memtrace::test {
namespace {

// What perf record asks for one kind of tracepoint: no IDENTIFIER, as 2.6.32 to 3.11 have none.
constexpr std::uint64_t kOldSampleType = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                         PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
                                         PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
constexpr std::uint64_t kFreeId = 12;
constexpr std::uint32_t kKfreeId = 548;

struct OldPerf {
  std::size_t attr_bytes = 112;
  std::string tracing_version = "0.6";
  std::size_t kallsyms_bytes = 0;
  bool has_rounds = true;
  bool has_groups = false;       // ":S", with no samples here
  bool has_event_types = false;  // perf before 3.11 kept the names of events there
};

RecordBytes old_sample(std::uint64_t id, std::uint32_t tracepoint, std::uint64_t time_ns) {
  ByteWriter body;
  body.put(std::uint64_t{0xffffffff81001000U});
  body.put(std::uint32_t{42});
  body.put(std::uint32_t{43});
  body.put(time_ns);
  body.put(id);
  body.put(std::uint64_t{1});
  body.put(std::uint64_t{1});  // period
  body.put(std::uint64_t{2});
  body.put(std::uint64_t{0xffffffffffffff80U});
  body.put(std::uint64_t{0xffffffff81001000U});
  constexpr std::uint32_t kRawBytes = 60;
  body.put(kRawBytes);
  body.put(static_cast<std::uint16_t>(tracepoint));
  body.bytes().resize(body.size_bytes() + kRawBytes - sizeof(std::uint16_t));
  return record_bytes(PERF_RECORD_SAMPLE, body, PERF_RECORD_MISC_KERNEL);
}

void put_attr(ByteWriter& out, const OldPerf& perf, std::uint32_t tracepoint, std::uint64_t ids) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.size = static_cast<std::uint32_t>(perf.attr_bytes);
  attr.config = tracepoint;
  attr.sample_period = perf.has_groups && tracepoint == kKfreeId ? 0 : 1;
  attr.sample_type = kOldSampleType;
  attr.read_format = PERF_FORMAT_ID;
  attr.sample_type |= perf.has_groups ? std::uint64_t{PERF_SAMPLE_READ} : 0U;
  attr.read_format |= perf.has_groups ? std::uint64_t{PERF_FORMAT_GROUP} : 0U;
  attr.sample_id_all = 1;
  const auto all = std::as_bytes(std::span(&attr, 1));
  const std::size_t known_bytes = std::min(perf.attr_bytes, all.size());
  out.put_bytes(all.first(known_bytes));
  out.bytes().resize(out.size_bytes() + perf.attr_bytes - known_bytes);
  out.put(FileSection{ids, sizeof(std::uint64_t)});
}

// tools/perf/util/trace-event-info.c; the saved command lines came with "0.6".
RecordBytes tracing_data(const OldPerf& perf) {
  ByteWriter out;
  const auto put_sized = [&out](const std::string& text) {
    out.put(std::uint64_t{text.size()});
    out.put_text(text);
  };
  out.put_text("\x17\x08\x44tracing");
  out.put_c_string(perf.tracing_version);
  out.put(std::uint8_t{0});
  out.put(std::uint8_t{8});
  out.put(std::uint32_t{4096});
  out.put_c_string("header_page");
  put_sized(data_text("header_page"));
  out.put_c_string("header_event");
  put_sized(data_text("header_event"));
  out.put(std::uint32_t{1});  // of ftrace's own formats one: they describe no event
  put_sized("name: function\nID: 1\nformat:\n");
  out.put(std::uint32_t{1});
  out.put_c_string("kmem");
  out.put(std::uint32_t{2});
  put_sized(data_text("kmem_kmalloc.format"));
  put_sized(
      "name: kfree\nID: 548\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\n\n"
      "\tfield:const void * ptr;\toffset:16;\tsize:8;\n\nprint fmt: \"\"\n");
  out.put(static_cast<std::uint32_t>(perf.kallsyms_bytes));
  out.put_text(std::string(perf.kallsyms_bytes, 'k'));
  out.put(std::uint32_t{0});
  if (perf.tracing_version == "0.6") {
    out.put(std::uint64_t{0});
  }
  return out.bytes();
}

// Samples of two rings, one after the other in each round: out of order in the file.
RecordBytes old_data(const OldPerf& perf) {
  ByteWriter out;
  for (const std::uint64_t start_ns : {100U, 200U}) {
    for (const std::uint64_t ring : {0U, 1U}) {
      for (std::uint64_t i = 0; i < 3; ++i) {
        out.put_bytes(old_sample(kEventId, kKmallocId, start_ns + ring + 10 * i));
        out.put_bytes(old_sample(kFreeId, kKfreeId, start_ns + ring + 10 * i + 5));
      }
    }
    if (perf.has_rounds) {
      out.put_bytes(round_record());
    }
  }
  return out.bytes();
}

RecordBytes old_file(const OldPerf& perf) {
  FileHeader header{.size_bytes = sizeof(FileHeader),
                    .attr_size_bytes = perf.attr_bytes + sizeof(FileSection)};
  ByteWriter out;
  out.put(header);
  const std::size_t ids = out.size_bytes();
  out.put(kEventId);
  out.put(kFreeId);
  header.attrs = {out.size_bytes(), 2 * header.attr_size_bytes};
  put_attr(out, perf, kKmallocId, ids);
  put_attr(out, perf, kKfreeId, ids + sizeof(std::uint64_t));
  if (perf.has_event_types) {
    constexpr std::size_t kTypeBytes = 72;  // u64 id, char name[64]
    header.event_types = {out.size_bytes(), 2 * kTypeBytes};
    out.bytes().resize(out.size_bytes() + 2 * kTypeBytes);
  }
  const RecordBytes data = perf.has_groups ? round_record() : old_data(perf);
  header.data = {out.size_bytes(), data.size()};
  out.put_bytes(data);
  const RecordBytes tracing = tracing_data(perf);
  header.features[0] = 1U << kTracingData;
  out.put(FileSection{out.size_bytes() + sizeof(FileSection), tracing.size()});
  out.put_bytes(tracing);
  std::memcpy(out.bytes().data(), &header, sizeof(header));
  return out.bytes();
}

void expect_whole(const OldPerf& perf) {
  const TempFile file("old");
  file.write(old_file(perf));
  const Recorded recorded = read_all(file.path());
  EXPECT_EQ(recorded.error, "");
  EXPECT_TRUE(recorded.recording.caveats.empty()) << recorded.recording.caveats.front();
  EXPECT_EQ(recorded.sample_times_ns.size(), 24U);
  EXPECT_TRUE(std::is_sorted(recorded.sample_times_ns.begin(), recorded.sample_times_ns.end()));
  EXPECT_EQ(recorded.late_count + recorded.malformed_count + recorded.kernel_lost_count, 0U);
  ASSERT_EQ(recorded.recording.events.size(), 2U);
  EXPECT_EQ(recorded.recording.events[0].name, "kmem:kmalloc");
  EXPECT_EQ(recorded.recording.events[1].name, "kmem:kfree");
  EXPECT_NE(recorded.recording.events[1].format.find("field:const void * ptr"), std::string::npos);
}

// From the first perf_event_attr, of 2.6.31, to that of 7.2.
TEST(OldFiles, attrs_of_every_size_are_read) {
  for (const std::size_t attr_bytes : {64U, 72U, 80U, 96U, 104U, 112U, 120U, 128U, 136U, 144U}) {
    SCOPED_TRACE(attr_bytes);
    expect_whole({.attr_bytes = attr_bytes});
  }
}

TEST(OldFiles, both_versions_of_tracing_data_are_read) {
  for (const char* version : {"0.5", "0.6"}) {
    SCOPED_TRACE(version);
    expect_whole({.tracing_version = version});
  }
}

// perf of RHEL 6 put all of /proc/kallsyms into the file.
TEST(OldFiles, kallsyms_inside_do_no_harm) {
  expect_whole({.attr_bytes = 104, .tracing_version = "0.5", .kallsyms_bytes = 3'000'000});
}

TEST(OldFiles, order_is_restored_with_and_without_rounds) {
  expect_whole({.has_rounds = true});
  expect_whole({.has_rounds = false});
}

TEST(OldFiles, names_of_events_in_the_header_do_no_harm) {
  expect_whole({.attr_bytes = 96, .tracing_version = "0.5", .has_event_types = true});
}

TEST(OldFiles, groups_whose_leader_alone_is_sampled_are_said_to_be_such) {
  const TempFile file("group");
  file.write(old_file({.has_groups = true}));
  const Recorded recorded = read_all(file.path());
  EXPECT_EQ(recorded.error, "");
  EXPECT_TRUE(recorded.has_caveat("recorded as a group (:S): for events other than its leader"));
  EXPECT_FALSE(recorded.recording.events[0].is_counted);
  EXPECT_TRUE(recorded.recording.events[1].is_counted);
}

// Counts as that perf's own script gives them; data/perf/old/record.sh says how they were made.
TEST(OldFiles, recordings_of_real_perfs_have_as_many_samples_as_their_own_script_says) {
  const std::map<std::string, std::tuple<std::uint64_t, std::uint64_t>> expected = {
      {"5.10", {16, 49}},
      {"6.1", {16, 50}},
      {"6.1-z", {16, 48}},
      {"6.12", {16, 48}},
      {"6.12-z", {16, 49}}};
  for (const auto& [name, counts] : expected) {
    SCOPED_TRACE(name);
    auto source =
        open_file_source(std::string(TEST_SOURCE_DIR) + "/data/perf/old/" + name + ".data");
    ASSERT_TRUE(source.ok());
    std::map<std::string, std::uint64_t> counted;
    while (true) {
      const auto record = source.value()->next();
      ASSERT_TRUE(record.ok());
      if (!record.value()) {
        break;
      }
      if (const auto* sample = std::get_if<Sample>(&record.value()->payload)) {
        ++counted[source.value()->recording().events[sample->event].name];
      }
    }
    EXPECT_EQ(counted["kmem:kmalloc"], std::get<0>(counts));
    EXPECT_EQ(counted["page-faults"], std::get<1>(counts));
    EXPECT_TRUE(source.value()->recording().caveats.empty());
  }
}

}  // namespace
}  // namespace memtrace::test
