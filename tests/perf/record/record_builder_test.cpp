#include "perf/record/record_builder.h"

#include <gtest/gtest.h>

#include "perf/event/event_attr.h"
#include "perf/record/record_parser.h"

namespace memtrace::record_builder_test {
namespace {

constexpr std::uint64_t kId = 9;

Record parsed(const RecordBuilder& records) {
  RecordParser parser;
  parser.add_event(SampleLayout::of(make_attr(tracking_request(), {})), std::vector{kId});
  auto record = parser.parse(records.bytes());
  EXPECT_TRUE(record.ok());
  return record.take();
}

TEST(RecordBuilderTest, a_comm_record_reads_back) {
  RecordBuilder records(kId);
  records.comm(12, 13, "a name of 15 c.");
  const Record record = parsed(records);
  const auto& comm = std::get<Comm>(record.payload);
  EXPECT_EQ(comm.pid, 12U);
  EXPECT_EQ(comm.tid, 13U);
  EXPECT_EQ(comm.name, "a name of 15 c.");
  EXPECT_FALSE(comm.exec);
}

TEST(RecordBuilderTest, a_mmap_record_reads_back) {
  RecordBuilder records(kId);
  records.mmap({.pid = 12,
                .tid = 12,
                .start = 0x400000,
                .length_bytes = 0x2000,
                .file_offset = 0x1000,
                .major = 8,
                .minor = 1,
                .inode = 77,
                .prot = 5,
                .flags = 2,
                .mode = CpuMode::User,
                .path = "/usr/bin/true"});
  const Record record = parsed(records);
  const auto& mmap = std::get<Mmap>(record.payload);
  EXPECT_EQ(mmap.start, 0x400000U);
  EXPECT_EQ(mmap.length_bytes, 0x2000U);
  EXPECT_EQ(mmap.file_offset, 0x1000U);
  EXPECT_EQ(mmap.inode, 77U);
  EXPECT_EQ(mmap.prot, 5U);
  EXPECT_EQ(mmap.path, "/usr/bin/true");
  EXPECT_EQ(mmap.mode, CpuMode::User);
}

TEST(RecordBuilderTest, a_mapping_that_is_no_code_is_marked_as_the_kernel_does) {
  RecordBuilder records(kId);
  records.mmap({.pid = 12, .prot = 3, .executable = false, .path = "//anon"});
  EXPECT_FALSE(std::get<Mmap>(parsed(records).payload).executable);
  records.clear();
  records.mmap({.pid = 12, .prot = 5, .path = "/bin/true"});
  EXPECT_TRUE(std::get<Mmap>(parsed(records).payload).executable);
}

// Kernels before 3.12: the id stands before the CPU, or there is no trailer at all.
TEST(RecordBuilderTest, trailers_are_those_of_the_events_of_older_kernels) {
  for (const bool sample_id_all : {true, false}) {
    const AttrFeatures features{.identifier = false, .sample_id_all = sample_id_all};
    RecordBuilder records(kId, trailer_shape(features));
    records.comm(12, 13, "seven.b");
    records.lost(42, 1234);
    RecordParser parser;
    parser.add_event(
        SampleLayout::of(make_attr(tracking_request(features), {.features = features})),
        std::vector{kId});
    const std::size_t comm_bytes = 8 + 8 + 8 + (sample_id_all ? 32U : 0U);
    const auto comm = parser.parse(records.bytes().first(comm_bytes));
    const auto lost = parser.parse(records.bytes().subspan(comm_bytes));
    ASSERT_TRUE(comm.ok() && lost.ok());
    EXPECT_EQ(std::get<Comm>(comm.value().payload).name, "seven.b");
    EXPECT_EQ(std::get<Lost>(lost.value().payload).count, 42U);
    EXPECT_EQ(lost.value().stamp.time_ns, sample_id_all ? 1234U : 0U);
  }
}

TEST(RecordBuilderTest, a_lost_record_carries_its_time) {
  RecordBuilder records(kId);
  records.lost(42, 1234);
  const Record record = parsed(records);
  EXPECT_EQ(std::get<Lost>(record.payload).count, 42U);
  EXPECT_EQ(record.stamp.time_ns, 1234U);
}

}  // namespace
}  // namespace memtrace::record_builder_test
