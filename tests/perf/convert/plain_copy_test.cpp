#include "perf/convert/plain_copy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "perf/file_out/file_writer.h"
#include "support/recorded.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kSampleCount = 3000;

WrittenEvent added_event() {
  WrittenEvent event = kmalloc_setup().events.front();
  event.ids = {771, 772};
  return event;
}

void write_file(const std::string& path, int level, bool adds_events) {
  WriterSetup setup = kmalloc_setup();
  setup.zstd_level = level;
  auto writer = create_file_writer(path, setup);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer.value()->write(comm_record("eater", 1000)).ok());
  for (std::uint64_t i = 0; i < kSampleCount; ++i) {
    ASSERT_TRUE(writer.value()->write(kmalloc_sample(1001 + i)).ok());
    if (i % 50 == 49) {
      ASSERT_TRUE(writer.value()->finish_round().ok());
    }
    if (i == 100 && adds_events) {
      ASSERT_TRUE(writer.value()->add_events({added_event()}).ok());
    }
  }
  ASSERT_TRUE(writer.value()->finish(kmalloc_end()).ok());
}

void expect_same(const Recorded& copy, const Recorded& original) {
  EXPECT_EQ(copy.error, "");
  EXPECT_EQ(copy.times_ns, original.times_ns);
  EXPECT_EQ(copy.frame_count, original.frame_count);
  EXPECT_EQ(copy.comms, original.comms);
  EXPECT_EQ(copy.malformed_count, 0U);
  EXPECT_EQ(copy.recording.caveats, original.recording.caveats);
  EXPECT_EQ(copy.recording.events.size(), original.recording.events.size());
  EXPECT_EQ(copy.recording.symbols_json, original.recording.symbols_json);
  EXPECT_EQ(copy.recording.about_json, original.recording.about_json);
  EXPECT_EQ(copy.recording.build_ids.size(), original.recording.build_ids.size());
  EXPECT_EQ(copy.recording.first_time_ns, original.recording.first_time_ns);
}

FileHeader header_of_file(const TempFile& file) {
  FileHeader header;
  const RecordBytes bytes = file.read();
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

// The types of the records, as they follow each other in the file.
std::map<std::uint32_t, std::size_t> types_in(const TempFile& file) {
  const FileHeader header = header_of_file(file);
  const RecordBytes bytes = file.read();
  std::map<std::uint32_t, std::size_t> types;
  std::uint64_t at = header.data.offset;
  while (at < header.data.offset + header.data.size_bytes) {
    const RecordHeader record = header_of(std::span(bytes).subspan(at));
    ++types[record.type];
    at += record.size_bytes;
  }
  EXPECT_EQ(at, header.data.offset + header.data.size_bytes);
  return types;
}

class PlainCopyTest : public testing::TestWithParam<bool> {
 protected:
  TempFile packed_{"packed"};
  TempFile plain_{"plain"};
};

TEST_P(PlainCopyTest, a_compressed_recording_is_the_same_without_compression) {
  write_file(packed_.path(), 1, GetParam());
  const auto copy = make_plain_copy(packed_.path(), plain_.path());
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  expect_same(read_all(plain_.path()), read_all(packed_.path()));
  EXPECT_GT(types_in(packed_)[kCompressed], 0U);
  EXPECT_EQ(types_in(plain_)[kCompressed], 0U);
  EXPECT_EQ(types_in(plain_)[PERF_RECORD_SAMPLE], kSampleCount);
  const FileHeader header = header_of_file(plain_);
  EXPECT_EQ(header.features[0] & (1U << kCompression), 0U);
  EXPECT_NE(header_of_file(packed_).features[0] & (1U << kCompression), 0U);
  EXPECT_EQ(copy.value().plain_bytes, header.data.size_bytes);
  EXPECT_EQ(copy.value().compressed_bytes, header_of_file(packed_).data.size_bytes);
}

TEST_P(PlainCopyTest, a_plain_recording_is_copied_to_the_byte) {
  write_file(packed_.path(), 0, GetParam());
  ASSERT_TRUE(make_plain_copy(packed_.path(), plain_.path()).ok());
  EXPECT_EQ(plain_.read(), packed_.read());
}

INSTANTIATE_TEST_SUITE_P(with_events_added, PlainCopyTest, testing::Bool());

TEST(PlainCopy, a_recorder_that_was_killed_leaves_a_file_that_can_be_copied) {
  const TempFile packed("packed");
  const TempFile plain("plain");
  write_file(packed.path(), 1, false);
  // As it was before the end: the header says nothing of the records yet, and nothing is behind.
  FileHeader header = header_of_file(packed);
  RecordBytes bytes = packed.read();
  bytes.resize(header.data.offset + header.data.size_bytes);
  header.data.size_bytes = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  packed.write(bytes);
  ASSERT_TRUE(make_plain_copy(packed.path(), plain.path()).ok());
  const Recorded copy = read_all(plain.path());
  EXPECT_EQ(copy.times_ns, read_all(packed.path()).times_ns);
  EXPECT_TRUE(copy.has_caveat("killed"));
}

// Each start of the file and each with one byte changed: an error and no file, or a file that can
// be read.
TEST(PlainCopy, damaged_recordings_end_in_an_error_or_a_readable_file) {
  const TempFile packed("packed");
  write_file(packed.path(), 1, true);
  const RecordBytes whole = packed.read();
  std::size_t failed = 0;
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 60) {
    for (const bool cut : {true, false}) {
      RecordBytes bytes = whole;
      if (cut) {
        bytes.resize(at);
      } else {
        bytes[at] ^= std::byte{0xa5};
      }
      packed.write(bytes);
      const TempFile plain("plain");
      const auto copy = make_plain_copy(packed.path(), plain.path());

      struct stat status {};

      if (!copy.ok()) {
        ++failed;
        EXPECT_NE(copy.error().hint, "");
        EXPECT_NE(::stat(plain.path().c_str(), &status), 0) << "left behind";
        continue;
      }
      EXPECT_EQ(::stat(plain.path().c_str(), &status), 0);
      read_all(plain.path());
    }
  }
  EXPECT_GT(failed, 50U);
}

TEST(PlainCopy, only_files_are_converted_to_files) {
  const TempFile packed("packed");
  write_file(packed.path(), 1, false);
  EXPECT_EQ(make_plain_copy("-", packed.path()).error().kind, ErrorKind::Usage);
  EXPECT_EQ(make_plain_copy(packed.path(), "/dev/null").error().kind, ErrorKind::Usage);
  EXPECT_FALSE(make_plain_copy("/nowhere/at/all", packed.path()).ok());
  EXPECT_FALSE(make_plain_copy(packed.path(), "/nowhere/at/all").ok());
}

}  // namespace
}  // namespace memtrace::test
