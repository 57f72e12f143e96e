// Events that are added while a file is written, and the same through a pipe.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "perf/file_out/file_writer.h"
#include "perf/record/tracing_data.h"
#include "support/recorded.h"

namespace memtrace::test {
namespace {

WrittenEvent late_event() {
  WrittenEvent event = kmalloc_setup().events.front();
  event.ids = {987};
  return event;
}

// Samples of the late event and of the first one by turns.
void write_late(FileWriter& writer, std::uint64_t sample_count) {
  ASSERT_TRUE(writer.write(kmalloc_sample(10)).ok());
  ASSERT_TRUE(writer.add_events({late_event()}).ok());
  for (std::uint64_t i = 0; i < sample_count; ++i) {
    RecordBytes sample = kmalloc_sample(20 + i);
    std::memcpy(sample.data() + sizeof(std::uint64_t), &late_event().ids.front(), 8);
    ASSERT_TRUE(writer.write(sample).ok());
    ASSERT_TRUE(writer.finish_round().ok());
  }
}

void expect_late(const Recorded& recorded, std::uint64_t sample_count) {
  EXPECT_EQ(recorded.error, "");
  EXPECT_EQ(recorded.sample_times_ns.size(), sample_count + 1);
  EXPECT_EQ(recorded.malformed_count, 0U);
  const auto& events = recorded.recording.events;
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[2].name, "kmem:kmalloc");
  EXPECT_EQ(events[2].format, data_text("kmem_kmalloc.format"));
}

TEST(FileWriter, events_added_later_are_in_the_whole_file_and_in_an_unfinished_one) {
  for (const int level : {0, 1}) {
    const TempFile file("late");
    WriterSetup setup = kmalloc_setup();
    setup.zstd_level = level;
    auto writer = create_file_writer(file.path(), setup);
    ASSERT_TRUE(writer.ok());
    write_late(*writer.value(), 50);
    ASSERT_TRUE(writer.value()->finish(kmalloc_end()).ok());
    const Recorded whole = read_all(file.path());
    expect_late(whole, 50);
    EXPECT_TRUE(whole.recording.caveats.empty());
    const RecordBytes bytes = file.read();
    // Without the attrs behind the data, which are the last of the file.
    file.write(RecordBytes(bytes.begin(), bytes.end() - 8));
    const Recorded cut = read_all(file.path());
    expect_late(cut, 50);
    EXPECT_FALSE(cut.recording.caveats.empty());
  }
}

class PipeWriterTest : public testing::TestWithParam<int> {};

TEST_P(PipeWriterTest, pipe_is_read_back_with_its_own_sections) {
  const TempFile file("pipe");
  WriterSetup setup = kmalloc_setup();
  setup.zstd_level = GetParam();
  const int saved = ::dup(STDOUT_FILENO);
  std::fflush(stdout);
  const int fd = ::open(file.path().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  ::dup2(fd, STDOUT_FILENO);
  auto writer = create_file_writer("-", setup);
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(fd);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer.value()->announce_identities("task 1 7 0 1\n").ok());
  ASSERT_TRUE(writer.value()->write(kmalloc_sample(5)).ok());
  ASSERT_TRUE(writer.value()->finish_round().ok());
  ASSERT_TRUE(writer.value()->announce_identities("task 9 8 0 1\n").ok());
  write_late(*writer.value(), 7);
  Recording end = kmalloc_end();
  end.symbols_json.assign(150'001, 'x');  // three pieces
  end.identities = "task 1 7 0 1\ntask 9 8 0 1\n";
  ASSERT_TRUE(writer.value()->finish(end).ok());
  const Recorded recorded = read_all(file.path());
  EXPECT_EQ(recorded.sample_times_ns.size(), 9U);
  EXPECT_EQ(recorded.recording.events.size(), 3U);
  EXPECT_EQ(recorded.recording.events[2].name, "kmem:kmalloc");
  EXPECT_EQ(recorded.recording.symbols_json, end.symbols_json);
  EXPECT_EQ(recorded.recording.about_json, end.about_json);
  EXPECT_EQ(recorded.recording.identities, end.identities) << "once, though announced and known";
  EXPECT_EQ(recorded.recording.build_ids.size(), 2U);
  EXPECT_EQ(recorded.recording.host_name, "box");
  EXPECT_EQ(recorded.recording.events[0].format, data_text("kmem_kmalloc.format"));
  EXPECT_EQ(recorded.recording.events[1].name, "dummy:u");
}

INSTANTIATE_TEST_SUITE_P(of_level, PipeWriterTest, testing::Values(0, 1));

TEST(TracingData, what_is_written_is_parsed) {
  TracingData data{.page_size_bytes = 65536,
                   .header_page = "page",
                   .header_event = "event",
                   .formats = {describe_format("kmem", "name: kfree\nID: 5\nformat:\n"),
                               describe_format("exceptions", "name: page_fault_user\nID: 6\n"),
                               describe_format("kmem", "name: kmalloc\nID: 7\nformat:\n")}};
  const auto bytes = write_tracing_data(data);
  const auto parsed = parse_tracing_data(bytes);
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed.value().is_whole);
  EXPECT_EQ(parsed.value().page_size_bytes, 65536U);
  ASSERT_EQ(parsed.value().formats.size(), 3U);
  EXPECT_EQ(parsed.value().formats[0].name, "page_fault_user");
  EXPECT_EQ(parsed.value().formats[2].system, "kmem");
  EXPECT_EQ(parsed.value().formats[2].id, 7U);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = parse_tracing_data(std::span(bytes).first(size));
    EXPECT_TRUE(!cut.ok() || !cut.value().is_whole || size + 16 >= bytes.size()) << size;
  }
}

}  // namespace
}  // namespace memtrace::test
