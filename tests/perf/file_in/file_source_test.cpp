#include "perf/file_in/file_source.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <variant>

#include "perf/file_in/recording_builder.h"
#include "support/recorded.h"
#include "support/sanitized.h"

namespace memtrace::test {
namespace {

using Times = std::vector<std::uint64_t>;

// A pipe's bytes without any writer of ours: header, attrs, a name, then `records`.
RecordBytes pipe_of(const std::vector<RecordBytes>& records) {
  ByteWriter out;
  out.put(PipeHeader{});
  const auto add_attr = [&out](const perf_event_attr& attr, std::uint64_t id) {
    ByteWriter body;
    body.put_bytes(attr_bytes(attr));
    body.put(id);
    out.put_bytes(record_bytes(kHeaderAttr, body));
  };
  add_attr(kmalloc_attr(), kEventId);
  add_attr(tracking_attr(), kTrackingId);
  ByteWriter name;
  name.put(kUpdateName);
  name.put(kEventId);
  name.put_c_string("kmem:kmalloc");
  out.put_bytes(record_bytes(kEventUpdate, name));
  for (const RecordBytes& record : records) {
    out.put_bytes(record);
  }
  return out.bytes();
}

Recorded read_bytes(const RecordBytes& bytes) {
  const TempFile file("source");
  file.write(bytes);
  return read_all(file.path());
}

// The same through a FIFO, where nothing can be mapped.
Recorded read_through_fifo(const RecordBytes& bytes) {
  const TempFile fifo("fifo");
  const TempFile file("fifo_data");
  file.write(bytes);
  EXPECT_EQ(::mkfifo(fifo.path().c_str(), 0600), 0);
  const std::string command = "cat " + file.path() + " > " + fifo.path() + " &";
  EXPECT_EQ(std::system(command.c_str()), 0);
  return read_all(fifo.path());
}

RecordBytes whole_file(int sample_count) {
  const TempFile file("whole");
  auto writer = create_file_writer(file.path(), short_setup());
  EXPECT_TRUE(writer.ok());
  EXPECT_TRUE(writer.value()->write(comm_record("eater", 1000)).ok());
  for (int i = 0; i < sample_count; ++i) {
    EXPECT_TRUE(writer.value()->write(kmalloc_sample(1001 + static_cast<unsigned>(i))).ok());
  }
  EXPECT_TRUE(writer.value()->finish_round().ok());
  EXPECT_TRUE(writer.value()->finish(kmalloc_end()).ok());
  return file.read();
}

TEST(FileSource, pipe_describes_its_events_by_records) {
  const Recorded recorded = read_bytes(pipe_of({kmalloc_sample(10), comm_record("x", 11)}));
  EXPECT_EQ(recorded.error, "");
  EXPECT_EQ(recorded.sample_times_ns, Times{10});
  EXPECT_EQ(recorded.comms, std::vector<std::string>{"x"});
  ASSERT_EQ(recorded.recording.events.size(), 2U);
  EXPECT_EQ(recorded.recording.events[0].name, "kmem:kmalloc");
  EXPECT_EQ(recorded.recording.events[1].name, "dummy");
  EXPECT_TRUE(recorded.recording.events[1].is_tracking);
  EXPECT_TRUE(recorded.has_caveat("which fields")) << "the pipe had no tracing data";
}

TEST(FileSource, records_come_in_time_order) {
  const Recorded recorded = read_bytes(
      pipe_of({kmalloc_sample(30), kmalloc_sample(50), kmalloc_sample(20), kmalloc_sample(40)}));
  EXPECT_EQ(recorded.sample_times_ns, (Times{20, 30, 40, 50}));
}

TEST(FileSource, record_older_than_a_passed_round_is_late) {
  const Recorded recorded = read_bytes(pipe_of({kmalloc_sample(30),
                                                round_record(),
                                                round_record(),
                                                kmalloc_sample(20),
                                                kmalloc_sample(31)}));
  EXPECT_EQ(recorded.sample_times_ns, (Times{30, 31}));
  EXPECT_EQ(recorded.late_count, 1U);
}

TEST(FileSource, times_never_go_back_even_without_a_time) {
  const Recorded recorded = read_bytes(
      pipe_of({comm_record("first", 0), kmalloc_sample(30), comm_record("second", ~0ULL)}));
  EXPECT_EQ(recorded.times_ns, (Times{0, 30, 30}));
  EXPECT_EQ(recorded.comms, (std::vector<std::string>{"first", "second"}));
}

TEST(FileSource, malformed_record_is_counted_and_skipped) {
  RecordBytes broken = kmalloc_sample(20);
  std::fill(broken.begin() + 48, broken.begin() + 56, std::byte{0xff});  // the callchain's length
  const Recorded recorded = read_bytes(pipe_of({kmalloc_sample(10), broken, kmalloc_sample(30)}));
  EXPECT_EQ(recorded.sample_times_ns, (Times{10, 30}));
  EXPECT_EQ(recorded.malformed_count, 1U);
}

TEST(FileSource, impossible_size_ends_the_reading_with_a_caveat) {
  const RecordBytes nothing(64);
  const Recorded recorded = read_bytes(pipe_of({kmalloc_sample(10), nothing, kmalloc_sample(30)}));
  EXPECT_EQ(recorded.sample_times_ns, Times{10});
  EXPECT_TRUE(recorded.has_caveat("impossible size"));
}

TEST(FileSource, unknown_user_record_is_skipped) {
  ByteWriter body;
  body.put(std::uint64_t{1});
  const Recorded recorded = read_bytes(pipe_of({record_bytes(99, body), kmalloc_sample(30)}));
  EXPECT_EQ(recorded.sample_times_ns, Times{30});
}

TEST(FileSource, loss_that_is_told_twice_is_counted_once) {
  ByteWriter lost;
  lost.put(kEventId);
  lost.put(std::uint64_t{6});
  put_trailer(lost, 20, kEventId);
  ByteWriter in_all;
  in_all.put(std::uint64_t{9});
  put_trailer(in_all, 0, kEventId);
  const Recorded recorded = read_bytes(pipe_of(
      {record_bytes(PERF_RECORD_LOST, lost), record_bytes(PERF_RECORD_LOST_SAMPLES, in_all)}));
  EXPECT_EQ(recorded.kernel_lost_count, 9U);
}

TEST(FileSource, fifo_gives_the_same_as_a_file) {
  std::vector<RecordBytes> records;
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    records.push_back(kmalloc_sample(i * 10, 40));
    if (i % 100 == 0) {
      records.push_back(round_record());
    }
  }
  ByteWriter odd;  // 84 bytes as perf's own: all that follows lies askew
  odd.put(std::uint64_t{kHostName});
  odd.put(std::uint32_t{64});
  odd.put_text("box");
  RecordBytes host = record_bytes(kHeaderFeature, odd);
  host.resize(84);
  const std::uint16_t size_bytes = 84;
  std::memcpy(host.data() + 6, &size_bytes, sizeof(size_bytes));
  records.insert(records.begin(), host);
  const Recorded mapped = read_bytes(pipe_of(records));
  const Recorded piped = read_through_fifo(pipe_of(records));
  EXPECT_EQ(mapped.sample_times_ns.size(), 5000U);
  EXPECT_EQ(mapped.recording.host_name, "box");
  EXPECT_EQ(mapped.sample_times_ns, piped.sample_times_ns);
  EXPECT_EQ(mapped.frame_count, 5000U * 41);
  EXPECT_EQ(piped.frame_count, mapped.frame_count);
  EXPECT_EQ(piped.recording.host_name, "box");
}

TEST(FileSource, file_format_may_come_through_a_fifo) {
  const Recorded piped = read_through_fifo(whole_file(20));
  EXPECT_EQ(piped.sample_times_ns.size(), 20U);
  EXPECT_EQ(piped.recording.host_name, "box");
  EXPECT_TRUE(piped.recording.caveats.empty());
}

// COMPRESSED records of `piece_bytes` each, so that records straddle them.
std::vector<RecordBytes> compressed(const RecordBytes& data, std::size_t piece_bytes) {
  std::vector<std::byte> packed(ZSTD_compressBound(data.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), data.data(), data.size(), 3));
  std::vector<RecordBytes> records;
  for (std::size_t at = 0; at < packed.size(); at += piece_bytes) {
    ByteWriter out;
    const std::size_t size_bytes = std::min(piece_bytes, packed.size() - at);
    out.put(RecordHeader{kCompressed, 0, static_cast<std::uint16_t>(8 + size_bytes)});
    out.put_bytes(std::span(packed).subspan(at, size_bytes));
    records.push_back(out.bytes());
  }
  return records;
}

RecordBytes many_samples(std::uint64_t count) {
  ByteWriter out;
  for (std::uint64_t i = 1; i <= count; ++i) {
    out.put_bytes(kmalloc_sample(i, i % 30));
  }
  return out.bytes();
}

TEST(FileSource, compressed_records_may_straddle_their_containers) {
  const RecordBytes data = many_samples(9000);  // more than one block of the reader
  for (const std::size_t piece_bytes : {13U, 1000U, 60000U}) {
    const Recorded recorded = read_bytes(pipe_of(compressed(data, piece_bytes)));
    EXPECT_EQ(recorded.sample_times_ns.size(), 9000U) << piece_bytes;
    EXPECT_TRUE(std::is_sorted(recorded.times_ns.begin(), recorded.times_ns.end()));
    EXPECT_EQ(recorded.malformed_count, 0U);
  }
}

// As many records of one size and no content as have `sum_bytes`, packed.
RecordBytes bomb(std::uint16_t record_bytes, std::size_t sum_bytes) {
  RecordBytes one(record_bytes);
  const RecordHeader header{PERF_RECORD_THROTTLE, 0, record_bytes};
  std::memcpy(one.data(), &header, sizeof(header));
  RecordBytes piece;
  while (piece.size() < (std::size_t{1} << 20U)) {
    piece.insert(piece.end(), one.begin(), one.end());
  }
  ZSTD_CStream* stream = ZSTD_createCStream();
  std::vector<std::byte> packed(std::size_t{4} << 20U);
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  for (std::size_t done = 0; done < sum_bytes; done += piece.size()) {
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    ZSTD_compressStream(stream, &out, &in);
  }
  ZSTD_endStream(stream, &out);
  ZSTD_freeCStream(stream);
  packed.resize(out.pos);
  ByteWriter records;
  for (std::size_t at = 0; at < packed.size(); at += 60000) {
    const std::size_t part = std::min<std::size_t>(60000, packed.size() - at);
    records.put(RecordHeader{kCompressed, 0, static_cast<std::uint16_t>(8 + part)});
    records.put_bytes(std::span(packed).subspan(at, part));
  }
  return records.bytes();
}

long peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(FileSource, few_bytes_that_unpack_to_many_records_take_little_memory) {
  if (kIsSanitized) {
    GTEST_SKIP() << "a sanitizer takes memory and minutes for them";
  }
  for (const auto record_bytes : {std::uint16_t{8}, std::uint16_t{65528}}) {
    const std::size_t sum_bytes = std::size_t{record_bytes == 8 ? 64U : 512U} << 20U;
    const TempFile file("bomb");
    file.write(pipe_of({bomb(record_bytes, sum_bytes)}));
    const long before_kilobytes = peak_kilobytes();
    auto source = open_file_source(file.path());
    ASSERT_TRUE(source.ok());
    std::size_t count = 0;
    for (auto record = source.value()->next(); record.ok() && record.value();
         record = source.value()->next()) {
      const auto* lost = std::get_if<Lost>(&record.value()->payload);
      count += lost == nullptr ? 1 : lost->count;
    }
    EXPECT_GE(count, sum_bytes / record_bytes) << record_bytes;
    EXPECT_LT(peak_kilobytes() - before_kilobytes, 200 * 1024) << record_bytes;
  }
}

TEST(FileSource, padded_compressed_records_say_how_long_they_are) {
  std::vector<RecordBytes> records;
  for (const RecordBytes& piece : compressed(many_samples(50), 101)) {
    ByteWriter body;
    body.put(std::uint64_t{piece.size() - 8});
    body.put_bytes(std::span(piece).subspan(8));
    records.push_back(record_bytes(kCompressed2, body));
  }
  EXPECT_EQ(read_bytes(pipe_of(records)).sample_times_ns.size(), 50U);
}

TEST(FileSource, damaged_compressed_data_is_a_caveat) {
  std::vector<RecordBytes> records = compressed(many_samples(50), 200);
  std::fill(records[1].begin() + 8, records[1].end(), std::byte{0x5a});
  const Recorded recorded = read_bytes(pipe_of(records));
  EXPECT_EQ(recorded.error, "");
  EXPECT_FALSE(recorded.recording.caveats.empty());
  EXPECT_LT(recorded.sample_times_ns.size(), 50U);
}

TEST(FileSource, file_cut_anywhere_gives_an_error_or_a_part_with_a_caveat) {
  const RecordBytes whole = whole_file(4);
  std::size_t most = 0;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const RecordBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Recorded recorded = read_bytes(cut);
    ASSERT_TRUE(!recorded.error.empty() || !recorded.recording.caveats.empty()) << size;
    ASSERT_GE(recorded.sample_times_ns.size(), most) << "fewer than of a shorter file: " << size;
    most = recorded.sample_times_ns.size();
    if (most > 0) {
      ASSERT_EQ(recorded.recording.events[0].name, "kmem:kmalloc");
      ASSERT_FALSE(recorded.recording.events[0].format.empty()) << "early copy, at " << size;
    }
  }
  EXPECT_EQ(most, 4U);
}

TEST(FileSource, file_with_any_byte_wrong_is_read_without_harm) {
  const RecordBytes whole = whole_file(3);
  for (std::size_t at = 8; at < whole.size(); ++at) {
    RecordBytes wrong = whole;
    wrong[at] ^= std::byte{0xff};
    read_bytes(wrong);
  }
}

TEST(FileSource, killed_recorder_leaves_a_readable_file) {
  RecordBytes whole = whole_file(20);
  FileHeader header;
  std::memcpy(&header, whole.data(), sizeof(header));
  whole.resize(header.data.offset + header.data.size_bytes);
  header.data.size_bytes = 0;
  std::fill(std::begin(header.features), std::end(header.features), 0);
  std::memcpy(whole.data(), &header, sizeof(header));
  const Recorded recorded = read_bytes(whole);
  EXPECT_EQ(recorded.sample_times_ns.size(), 20U);
  EXPECT_TRUE(recorded.has_caveat("killed"));
  EXPECT_EQ(recorded.recording.host_name, "box");
  EXPECT_FALSE(recorded.recording.events[0].format.empty());
}

TEST(FileSource, recorder_killed_at_its_start_is_told_of) {
  RecordBytes whole = whole_file(20);
  FileHeader header;
  std::memcpy(&header, whole.data(), sizeof(header));
  whole.resize(header.data.offset);
  header.data.size_bytes = 0;
  std::memcpy(whole.data(), &header, sizeof(header));
  const Recorded recorded = read_bytes(whole);
  EXPECT_TRUE(recorded.times_ns.empty());
  EXPECT_TRUE(recorded.has_caveat("killed before it wrote a record"));
}

// The file's owner may cut it at any time: what was mapped is gone then.
TEST(FileSource, file_that_is_cut_while_it_is_read_ends_there) {
  const TempFile file("cut");
  const RecordBytes whole = whole_file(20000);
  for (const bool has_begun : {false, true}) {
    file.write(whole);
    auto source = open_file_source(file.path());
    ASSERT_TRUE(source.ok());
    ASSERT_TRUE(!has_begun || source.value()->next().ok());
    ASSERT_EQ(::truncate(file.path().c_str(), static_cast<off_t>(whole.size() / 2)), 0);
    std::uint64_t count = 0;
    for (auto record = source.value()->next(); record.ok() && record.value();
         record = source.value()->next()) {
      count += std::holds_alternative<Sample>(record.value()->payload) ? 1 : 0;
    }
    EXPECT_GT(count, 5000U);
    EXPECT_LT(count, 15000U);
    ASSERT_FALSE(source.value()->recording().caveats.empty());
    EXPECT_NE(source.value()->recording().caveats.back().find("became shorter"), std::string::npos);
  }
}

// Each event says that the whole file is its ids.
TEST(FileSource, ids_of_all_events_are_no_more_than_the_file_holds) {
  constexpr std::uint64_t kEvents = 4000;
  const RecordBytes attr = attr_bytes(kmalloc_attr());
  FileHeader header;
  header.size_bytes = sizeof(header);
  header.attr_size_bytes = attr.size() + sizeof(FileSection);
  header.attrs = {.offset = sizeof(header), .size_bytes = kEvents * header.attr_size_bytes};
  const std::uint64_t file_bytes = sizeof(header) + header.attrs.size_bytes;
  header.data = {.offset = file_bytes, .size_bytes = 0};
  ByteWriter out;
  out.put(header);
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    out.put_bytes(attr);
    out.put(FileSection{.offset = 0, .size_bytes = file_bytes});
  }
  const TempFile file("ids");
  file.write(out.bytes());
  const auto source = open_file_source(file.path());
  ASSERT_TRUE(source.ok());
  const Recording& recording = source.value()->recording();
  EXPECT_EQ(recording.events.size(), kEvents);
  EXPECT_EQ(std::ranges::count(
                recording.caveats,
                "The ids of some events are cut off; their samples cannot be distinguished."),
            1);
}

// In proportion to the product of their numbers they take minutes.
TEST(FileSource, many_events_find_their_formats_at_once) {
  constexpr std::uint64_t kEvents = 50'000;
  TracingData data;
  RecordingBuilder builder;
  for (std::uint64_t i = 1; i <= kEvents; ++i) {
    data.formats.push_back(
        describe_format("kmem", fmt::format("name: event_{0}\nID: {0}\nformat:\n", i)));
    perf_event_attr attr = kmalloc_attr();
    attr.config = i;
    builder.add_event(attr_bytes(attr), {&i, 1});
  }
  builder.add_feature(kTracingData, write_tracing_data(data));
  builder.complete_events();
  EXPECT_EQ(builder.recording().events.front().name, "kmem:event_1");
  EXPECT_EQ(builder.recording().events.back().name, fmt::format("kmem:event_{}", kEvents));
}

// A small file would take any memory: each event has a copy of the same text.
TEST(FileSource, formats_of_all_events_have_a_limit) {
  constexpr std::size_t kTextBytes = std::size_t{1} << 20U;
  TracingData data;
  data.formats.push_back(
      describe_format("kmem", "name: kmalloc\nID: 547\n" + std::string(kTextBytes, 'x')));
  RecordingBuilder builder;
  for (std::uint64_t id = 1; id <= 100; ++id) {
    builder.add_event(attr_bytes(kmalloc_attr()), {&id, 1});
  }
  builder.add_feature(kTracingData, write_tracing_data(data));
  for (int times = 0; times < 2; ++times) {
    builder.complete_events();
    EXPECT_EQ(std::ranges::count_if(builder.recording().events,
                                    [](const EventInfo& event) { return !event.format.empty(); }),
              63);
  }
  builder.note_missing_formats();
  EXPECT_EQ(builder.recording().caveats.size(), 1U);
}

TEST(FileSource, section_of_names_has_a_limit) {
  RecordingBuilder builder;
  const RecordBytes large((std::size_t{64} << 20U) + 1, std::byte{'['});
  builder.add_feature(kSymbolsFeature, std::span(large).first(10));
  EXPECT_EQ(builder.recording().symbols_json.size(), 10U);
  builder.add_feature(kSymbolsFeature, large);
  EXPECT_EQ(builder.recording().symbols_json, "");
  EXPECT_EQ(builder.recording().caveats.size(), 1U);
}

TEST(FileSource, what_is_no_recording_is_named) {
  const auto error_of = [](const std::string& text) {
    RecordBytes bytes(200);
    std::memcpy(bytes.data(), text.data(), text.size());
    return read_bytes(bytes).error;
  };
  EXPECT_NE(error_of("2ELIFREP").find("big-endian"), std::string::npos);
  EXPECT_NE(error_of("PERFFILE").find("version 1"), std::string::npos);
  EXPECT_NE(error_of("\x7f"
                     "ELF")
                .find("ELF"),
            std::string::npos);
  EXPECT_NE(error_of("hello").find("not a perf.data file"), std::string::npos);
  EXPECT_NE(read_bytes({}).error.find("empty"), std::string::npos);
  EXPECT_NE(read_all("/tmp").error.find("directory"), std::string::npos);
  EXPECT_EQ(read_all("/nonexistent/perf.data").error, "open(/nonexistent/perf.data)");
}

}  // namespace
}  // namespace memtrace::test
