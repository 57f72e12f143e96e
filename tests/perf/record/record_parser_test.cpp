#include "perf/record/record_parser.h"

#include <gtest/gtest.h>

#include "support/perf_bytes.h"

namespace memtrace::test {
namespace {

RecordParser parser_of(const perf_event_attr& attr) {
  RecordParser parser;
  const std::uint64_t id = kEventId;
  parser.add_event(SampleLayout::of(attr), {&id, 1});
  return parser;
}

RecordParser kmalloc_parser() {
  RecordParser parser = parser_of(kmalloc_attr());
  const std::uint64_t id = kTrackingId;
  parser.add_event(SampleLayout::of(tracking_attr()), {&id, 1});
  return parser;
}

template <typename T>
T payload_of(const RecordParser& parser, const RecordBytes& bytes) {
  auto record = parser.parse(bytes);
  EXPECT_TRUE(record.ok()) << (record.ok() ? "" : record.error().message);
  const T* payload = record.ok() ? std::get_if<T>(&record.value().payload) : nullptr;
  EXPECT_NE(payload, nullptr);
  return payload == nullptr ? T{} : *payload;
}

TEST(RecordParser, tracepoint_sample_yields_its_fields) {
  const RecordParser parser = kmalloc_parser();
  const RecordBytes bytes = kmalloc_sample(1234, 5);
  const auto record = parser.parse(bytes);
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record.value().stamp.time_ns, 1234U);
  EXPECT_EQ(record.value().stamp.cpu, 1U);
  EXPECT_EQ(record.value().bytes.size(), bytes.size());
  const auto& sample = std::get<Sample>(record.value().payload);
  EXPECT_EQ(sample.event, 0U);
  EXPECT_EQ(sample.pid, 42U);
  EXPECT_EQ(sample.tid, 43U);
  EXPECT_EQ(sample.ip, 0xffffffff81001000U);
  EXPECT_EQ(sample.mode, CpuMode::Kernel);
  EXPECT_EQ(sample.period, 1U);
  ASSERT_EQ(sample.callchain.size(), 6U);
  EXPECT_EQ(sample.callchain[0], kContextKernel);
  EXPECT_EQ(sample.callchain[5], 0xffffffff81001040U);
  EXPECT_EQ(sample.raw.size(), 60U);
  EXPECT_EQ(parser.time_ns(bytes), 1234U);
}

// As of events that are opened again while a recording runs.
TEST(RecordParser, an_id_that_was_added_while_others_parse_names_its_event) {
  constexpr std::uint64_t kPassing = kEventId + PassingIds::kPlaces;
  RecordParser parser;
  parser.add_event(SampleLayout::of(kmalloc_attr()), {});
  const std::uint64_t id = kTrackingId;
  parser.add_event(SampleLayout::of(tracking_attr()), {&id, 1});
  EXPECT_FALSE(parser.parse(kmalloc_sample(1234, 5)).ok());
  const auto ids = std::make_shared<PassingIds>();
  parser.set_passing_ids(ids);
  EXPECT_FALSE(parser.parse(kmalloc_sample(1234, 5)).ok());
  ids->set(kEventId, 0);
  const auto record = parser.parse(kmalloc_sample(1234, 5));
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(std::get<Sample>(record.value().payload).event, 0U);
  ids->set(kPassing, 1);  // of the same place
  EXPECT_FALSE(parser.parse(kmalloc_sample(1234, 5)).ok());
  EXPECT_EQ(parser.event_of(kPassing), 1U);
  EXPECT_EQ(parser.event_of(0), std::nullopt);
}

TEST(RecordParser, every_sample_field_before_the_stack_is_stepped_over) {
  perf_event_attr attr = kmalloc_attr();
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                     PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_BRANCH_STACK |
                     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT;
  attr.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | (1U << 4) /* LOST */;
  attr.sample_regs_user = 0x105;
  attr.branch_sample_type = 1U << 17;  // HW_INDEX
  ByteWriter body;
  for (const std::uint64_t word : {11U, 0x1000U, 0U, 77U, 0x2000U, 11U, 5U, 3U, 9U}) {
    body.put(std::uint64_t{word});
  }
  for (const std::uint64_t word :
       {2U, 50U, 1U, 11U, 0U, 2U, 12U, 0U}) {  // READ: nr, enabled, 2 values
    body.put(std::uint64_t{word});
  }
  for (const std::uint64_t word : {1U, 0U, 100U, 200U, 0U}) {  // branches: nr, index, one entry
    body.put(std::uint64_t{word});
  }
  for (const std::uint64_t word : {2U, 7U, 8U, 9U}) {  // registers: abi, three of them
    body.put(std::uint64_t{word});
  }
  for (const std::uint64_t word : {16U, 0xaaU, 0xbbU, 8U}) {  // stack: size, data, used
    body.put(std::uint64_t{word});
  }
  const auto bytes = record_bytes(PERF_RECORD_SAMPLE, body);
  const auto sample = payload_of<Sample>(parser_of(attr), bytes);
  EXPECT_EQ(sample.address, 0x2000U);
  EXPECT_EQ(sample.period, 9U);
  EXPECT_EQ(sample.registers.abi, 2U);
  EXPECT_EQ(sample.registers.mask, 0x105U);
  ASSERT_EQ(sample.registers.values.size(), 3U);
  EXPECT_EQ(sample.registers.values[2], 9U);
  ASSERT_EQ(sample.user_stack.size(), 8U);
  EXPECT_EQ(sample.user_stack[0], std::byte{0xaa});
}

TEST(RecordParser, kernel_thread_has_neither_registers_nor_stack) {
  perf_event_attr attr = kmalloc_attr();
  attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = 0xff;
  ByteWriter body;
  for (const std::uint64_t word : {77U, 0U, 0U}) {
    body.put(std::uint64_t{word});
  }
  const auto bytes = record_bytes(PERF_RECORD_SAMPLE, body);
  RecordParser parser;
  parser.add_event(SampleLayout::of(attr), {});
  const auto sample = payload_of<Sample>(parser, bytes);
  EXPECT_EQ(sample.registers.abi, 0U);
  EXPECT_TRUE(sample.registers.values.empty());
  EXPECT_TRUE(sample.user_stack.empty());
}

TEST(RecordParser, padding_behind_a_sample_is_no_error) {
  RecordBytes bytes = kmalloc_sample(5);
  bytes.resize(bytes.size() + 16);
  EXPECT_EQ(payload_of<Sample>(kmalloc_parser(), bytes).callchain.size(), 4U);
}

TEST(RecordParser, sample_cut_anywhere_is_an_error_and_never_read_past) {
  const RecordParser parser = kmalloc_parser();
  const RecordBytes bytes = kmalloc_sample(5);
  for (std::size_t size = 0; size + 8 <= bytes.size(); size += 8) {
    const RecordBytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parser.parse(cut).ok()) << size;
  }
}

TEST(RecordParser, absurd_counts_are_errors) {
  const RecordParser parser = kmalloc_parser();
  constexpr std::size_t kChainCountAt = 8 + 5 * 8;
  for (const std::uint64_t count : {~0ULL, 1ULL << 61, 1000ULL}) {
    RecordBytes bytes = kmalloc_sample(5);
    std::memcpy(bytes.data() + kChainCountAt, &count, sizeof(count));
    EXPECT_FALSE(parser.parse(bytes).ok()) << count;
  }
}

TEST(RecordParser, sample_of_an_unknown_event_is_an_error) {
  RecordBytes bytes = kmalloc_sample(5);
  const std::uint64_t id = 999;
  std::memcpy(bytes.data() + 8, &id, sizeof(id));
  EXPECT_FALSE(kmalloc_parser().parse(bytes).ok());
}

TEST(RecordParser, comm_takes_its_time_and_cpu_from_the_trailer) {
  const RecordParser parser = kmalloc_parser();
  const RecordBytes bytes = comm_record("eater", 99);
  const auto record = parser.parse(bytes);
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record.value().stamp.time_ns, 99U);
  EXPECT_EQ(record.value().stamp.cpu, 1U);
  const auto& comm = std::get<Comm>(record.value().payload);
  EXPECT_EQ(comm.name, "eater");
  EXPECT_TRUE(comm.exec);
  EXPECT_EQ(comm.tid, 43U);
  EXPECT_EQ(parser.time_ns(bytes), 99U);
}

TEST(RecordParser, all_ones_as_time_means_none) {
  EXPECT_EQ(kmalloc_parser().time_ns(comm_record("x", ~0ULL)), 0U);
}

ByteWriter mmap_start() {
  ByteWriter body;
  body.put(std::uint32_t{7});
  body.put(std::uint32_t{8});
  for (const std::uint64_t word : {0x400000U, 0x2000U, 0x1000U}) {
    body.put(std::uint64_t{word});
  }
  return body;
}

TEST(RecordParser, mmap_has_a_path_and_no_protection) {
  ByteWriter body = mmap_start();
  body.put_c_string("/bin/true");
  put_trailer(body, 5, kTrackingId);
  const RecordBytes bytes =
      record_bytes(PERF_RECORD_MMAP, body, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
  const auto map = payload_of<Mmap>(kmalloc_parser(), bytes);
  EXPECT_EQ(map.path, "/bin/true");
  EXPECT_EQ(map.start, 0x400000U);
  EXPECT_EQ(map.length_bytes, 0x2000U);
  EXPECT_EQ(map.file_offset, 0x1000U);
  EXPECT_FALSE(map.executable);
  EXPECT_EQ(map.mode, CpuMode::User);
  EXPECT_EQ(map.prot, 0U);
}

TEST(RecordParser, mmap2_has_an_inode_or_a_build_id) {
  ByteWriter body = mmap_start();
  body.put(std::uint32_t{8});
  body.put(std::uint32_t{1});
  body.put(std::uint64_t{4711});
  body.put(std::uint64_t{0});
  body.put(std::uint32_t{5});
  body.put(std::uint32_t{2});
  body.put_c_string("/bin/true");
  put_trailer(body, 5, kTrackingId);
  const RecordBytes with_inode = record_bytes(PERF_RECORD_MMAP2, body);
  const auto map = payload_of<Mmap>(kmalloc_parser(), with_inode);
  EXPECT_EQ(map.inode, 4711U);
  EXPECT_EQ(map.major, 8U);
  EXPECT_EQ(map.prot, 5U);
  EXPECT_EQ(map.flags, 2U);
  EXPECT_EQ(map.path, "/bin/true");

  ByteWriter other = mmap_start();
  other.put(std::uint32_t{20});
  for (std::uint32_t word = 0; word < 5; ++word) {
    other.put(word);
  }
  other.put(std::uint32_t{5});
  other.put(std::uint32_t{2});
  other.put_c_string("/bin/false");
  put_trailer(other, 5, kTrackingId);
  const RecordBytes with_id = record_bytes(PERF_RECORD_MMAP2, other, 1U << 14);
  perf_event_attr attr = tracking_attr();
  attr.build_id = 1;
  RecordParser parser;
  const std::uint64_t id = kTrackingId;
  parser.add_event(SampleLayout::of(attr), {&id, 1});
  const auto identified = payload_of<Mmap>(parser, with_id);
  EXPECT_EQ(identified.build_id.size(), 20U);
  EXPECT_EQ(identified.inode, 0U);
  EXPECT_EQ(identified.path, "/bin/false");
}

RecordBytes mapping_of_inode(std::uint64_t inode, std::uint64_t event_id) {
  ByteWriter body = mmap_start();
  body.put(std::uint32_t{8});
  body.put(std::uint32_t{1});
  body.put(inode);
  body.put(std::uint64_t{0});
  body.put(std::uint32_t{5});
  body.put(std::uint32_t{2});
  body.put_c_string("/bin/true");
  put_trailer(body, 5, event_id);
  return record_bytes(PERF_RECORD_MMAP2, body, 1U << 14);
}

TEST(RecordParser, build_id_that_the_event_did_not_ask_for_is_none) {
  const auto map = payload_of<Mmap>(kmalloc_parser(), mapping_of_inode(4711, kTrackingId));
  EXPECT_TRUE(map.build_id.empty());
  EXPECT_EQ(map.inode, 4711U);
  EXPECT_EQ(map.major, 8U);
}

TEST(RecordParser, build_id_is_believed_by_the_event_or_where_nobody_knows_the_event_by_any) {
  constexpr std::uint64_t kAsksForIds = 99;
  RecordParser parser = kmalloc_parser();
  perf_event_attr attr = tracking_attr();
  attr.build_id = 1;
  parser.add_event(SampleLayout::of(attr), std::vector{kAsksForIds});
  EXPECT_TRUE(payload_of<Mmap>(parser, mapping_of_inode(4711, kTrackingId)).build_id.empty());
  EXPECT_FALSE(payload_of<Mmap>(parser, mapping_of_inode(20, kAsksForIds)).build_id.empty());
  EXPECT_FALSE(payload_of<Mmap>(parser, mapping_of_inode(20, 0)).build_id.empty())
      << "made up by perf of what ran already";
}

// One of the kernel's events, two of ours.
TEST(RecordParser, number_in_the_raw_data_tells_whose_a_sample_is) {
  RecordParser parser;
  const SampleLayout layout = SampleLayout::of(kmalloc_attr());
  parser.add_event(layout, std::vector<std::uint64_t>{901});
  parser.add_event(layout, std::vector<std::uint64_t>{902});
  constexpr std::uint32_t kBytesReq = 24;  // kmalloc_sample(): 100
  parser.share(0, std::vector{kEventId}, {.offset = kBytesReq, .events = {{7, 0}, {100, 1}}});
  EXPECT_EQ(payload_of<Sample>(parser, kmalloc_sample(1)).event, 1U);

  parser.share(0, std::vector{kEventId}, {.offset = kBytesReq, .events = {{7, 0}}});
  EXPECT_FALSE(parser.parse(kmalloc_sample(1)).ok()) << "nobody has that number";
  parser.share(0, std::vector{kEventId}, {.offset = 4000, .events = {{100, 1}}});
  EXPECT_FALSE(parser.parse(kmalloc_sample(1)).ok()) << "too short for a number";
}

TEST(RecordParser, fork_exit_lost_and_throttle_are_told_apart) {
  const RecordParser parser = kmalloc_parser();
  ByteWriter task;
  for (const std::uint32_t word : {10U, 1U, 11U, 2U}) {
    task.put(word);
  }
  task.put(std::uint64_t{5});
  put_trailer(task, 5, kTrackingId);
  const RecordBytes fork = record_bytes(PERF_RECORD_FORK, task);
  EXPECT_EQ(payload_of<Fork>(parser, fork).parent_pid, 1U);
  const RecordBytes exit = record_bytes(PERF_RECORD_EXIT, task);
  EXPECT_EQ(payload_of<Exit>(parser, exit).tid, 11U);

  ByteWriter lost;
  lost.put(kEventId);
  lost.put(std::uint64_t{6});
  put_trailer(lost, 5, kEventId);
  const RecordBytes lost_bytes = record_bytes(PERF_RECORD_LOST, lost);
  EXPECT_EQ(payload_of<Lost>(parser, lost_bytes).count, 6U);
  ByteWriter samples;
  samples.put(std::uint64_t{8});
  put_trailer(samples, 5, kEventId);
  EXPECT_EQ(payload_of<Lost>(parser, record_bytes(PERF_RECORD_LOST_SAMPLES, samples)).count, 8U);
  EXPECT_EQ(
      payload_of<OtherRecord>(parser, record_bytes(PERF_RECORD_LOST_SAMPLES, samples, 1U << 15))
          .type,
      static_cast<std::uint32_t>(PERF_RECORD_LOST_SAMPLES));
  EXPECT_TRUE(payload_of<Throttle>(parser, record_bytes(PERF_RECORD_THROTTLE, lost)).on);
  EXPECT_FALSE(payload_of<Throttle>(parser, record_bytes(PERF_RECORD_UNTHROTTLE, lost)).on);
}

TEST(RecordParser, unknown_kernel_record_is_passed_on) {
  ByteWriter body;
  put_trailer(body, 55, kEventId);
  const RecordBytes bytes = record_bytes(33, body);
  EXPECT_EQ(payload_of<OtherRecord>(kmalloc_parser(), bytes).type, 33U);
  EXPECT_EQ(kmalloc_parser().time_ns(bytes), 55U);
}

TEST(RecordParser, id_without_identifier_is_found_behind_the_address) {
  perf_event_attr attr = kmalloc_attr();
  attr.sample_type =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
  RecordParser parser;
  for (const std::uint64_t id : {21U, 22U}) {
    parser.add_event(SampleLayout::of(attr), {&id, 1});
  }
  ByteWriter body;
  for (const std::uint64_t word : {0x1000U, 0U, 66U, 22U, 0U}) {
    body.put(std::uint64_t{word});
  }
  const RecordBytes bytes = record_bytes(PERF_RECORD_SAMPLE, body);
  EXPECT_EQ(payload_of<Sample>(parser, bytes).event, 1U);
  EXPECT_EQ(parser.time_ns(bytes), 66U);
}

TEST(RecordParser, ids_of_many_cpus_are_all_found) {
  std::vector<std::uint64_t> first(1000);
  std::vector<std::uint64_t> second(1000);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    first[i] = 1 + 2 * i;
    second[i] = 2 + 2 * i;
  }
  RecordParser parser;
  parser.add_event(SampleLayout::of(kmalloc_attr()), first);
  parser.add_event(SampleLayout::of(kmalloc_attr()), second);
  for (std::uint64_t id = 1; id <= 2000; ++id) {
    ASSERT_EQ(parser.event_of(id), (id + 1) % 2);
  }
  EXPECT_FALSE(parser.event_of(2001).has_value());
  EXPECT_FALSE(parser.event_of(0).has_value());
}

}  // namespace
}  // namespace memtrace::test
