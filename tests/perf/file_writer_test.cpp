#include "perf/file_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>

#include "perf/recorded.h"
#include "perf/tracing_data.h"

namespace memtrace::test {
namespace {

void write_all(FileWriter& writer, std::uint64_t sample_count) {
  ASSERT_TRUE(writer.write(comm_record("eater", 1000)).ok());
  for (std::uint64_t i = 0; i < sample_count; ++i) {
    ASSERT_TRUE(writer.write(kmalloc_sample(1001 + i)).ok());
    if (i % 50 == 49) {
      ASSERT_TRUE(writer.finish_round().ok());
    }
  }
  const auto finished = writer.finish(kmalloc_end());
  ASSERT_TRUE(finished.ok()) << finished.error().message;
}

TEST(FileWriter, reader_gets_back_all_that_was_written) {
  const TempFile file("round_trip");
  auto writer = create_file_writer(file.path(), kmalloc_setup());
  ASSERT_TRUE(writer.ok());
  write_all(*writer.value(), 120);
  EXPECT_EQ(writer.value()->samples_lost(), 0U);
  const Recorded recorded = read_all(file.path());
  const Recording& recording = recorded.recording;
  const Recording about = kmalloc_setup().about;
  const Recording end = kmalloc_end();
  EXPECT_EQ(recorded.sample_times_ns.size(), 120U);
  EXPECT_EQ(recorded.comms, std::vector<std::string>{"eater"});
  EXPECT_TRUE(recording.caveats.empty());
  ASSERT_EQ(recording.events.size(), 2U);
  EXPECT_EQ(recording.events[0].name, "kmem:kmalloc");
  EXPECT_EQ(recording.events[0].format, data_text("kmem_kmalloc.format"));
  EXPECT_EQ(recording.events[1].name, "dummy:u");
  EXPECT_TRUE(recording.events[1].is_tracking);
  EXPECT_EQ(recording.host_name, about.host_name);
  EXPECT_EQ(recording.kernel_release, about.kernel_release);
  EXPECT_EQ(recording.architecture, about.architecture);
  EXPECT_EQ(recording.tool_version, about.tool_version);
  EXPECT_EQ(recording.cpu_description, about.cpu_description);
  EXPECT_EQ(recording.command_line, about.command_line);
  EXPECT_EQ(recording.cpus_available, about.cpus_available);
  EXPECT_EQ(recording.cpus_online, about.cpus_online);
  EXPECT_EQ(recording.total_memory_bytes, about.total_memory_bytes);
  EXPECT_EQ(recording.first_time_ns, end.first_time_ns);
  EXPECT_EQ(recording.last_time_ns, end.last_time_ns);
  EXPECT_EQ(recording.symbols_json, end.symbols_json);
  EXPECT_EQ(recording.about_json, end.about_json);
  ASSERT_EQ(recording.build_ids.size(), 2U);
  EXPECT_EQ(recording.build_ids[0].path, "/usr/bin/true");
  EXPECT_EQ(recording.build_ids[0].build_id, end.build_ids[0].build_id);
  EXPECT_FALSE(recording.build_ids[0].kernel);
  EXPECT_TRUE(recording.build_ids[1].kernel);
}

TEST(FileWriter, users_and_cgroups_come_back_from_a_section_of_their_own) {
  const TempFile file("identities");
  auto writer = create_file_writer(file.path(), kmalloc_setup());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer.value()->write(kmalloc_sample(5)).ok());
  Recording end = kmalloc_end();
  end.identities = "cgroup 1 /\ntask 0 7 1000 1\n";
  ASSERT_TRUE(writer.value()->finish(end).ok());
  EXPECT_EQ(read_all(file.path()).recording.identities, end.identities);
}

TEST(FileWriter, same_input_gives_the_same_file_for_ever) {
  const TempFile file("golden");
  auto writer = create_file_writer(file.path(), short_setup());
  ASSERT_TRUE(writer.ok());
  write_all(*writer.value(), 3);
  const std::string golden = std::string(TEST_SOURCE_DIR) + "/data/perf/golden.perf.data";
  if (std::getenv("MEMTRACE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(golden, std::ios::binary | std::ios::trunc);
    const auto bytes = file.read();
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }
  const std::string expected = data_text("golden.perf.data");
  const auto bytes = file.read();
  ASSERT_EQ(bytes.size(), expected.size());
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
}

TEST(FileWriter, old_file_is_kept_under_another_name) {
  const TempFile file("old");
  file.write(comm_record("old", 1));
  auto writer = create_file_writer(file.path(), kmalloc_setup());
  ASSERT_TRUE(writer.ok());
  write_all(*writer.value(), 1);

  struct stat status {};

  ASSERT_EQ(::stat((file.path() + ".old").c_str(), &status), 0);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), comm_record("old", 1).size());
  ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(FileWriter, place_that_cannot_be_written_is_an_error) {
  const auto writer = create_file_writer("/nonexistent/file", kmalloc_setup());
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().message, "open(/nonexistent/file)");
  EXPECT_NE(writer.error().hint, "");
}

// While it lives no file of this process grows further.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t size_bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{size_bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }

  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(FileWriter, full_disk_leaves_a_readable_file_and_a_count) {
  constexpr std::uint64_t kSampleCount = 20000;  // 3 MB
  for (const rlim_t limit_bytes : {100'000U, 1'048'576U, 1'500'001U}) {
    const TempFile file("full");
    auto writer = create_file_writer(file.path(), kmalloc_setup());
    ASSERT_TRUE(writer.ok());
    {
      const FileSizeLimit limit(limit_bytes);
      write_all(*writer.value(), kSampleCount);
    }
    const std::uint64_t lost = writer.value()->samples_lost();
    EXPECT_GT(lost, 0U);
    const Recorded recorded = read_all(file.path());
    EXPECT_EQ(recorded.error, "");
    EXPECT_TRUE(recorded.recording.caveats.empty());
    EXPECT_EQ(recorded.sample_times_ns.size() + lost, kSampleCount) << limit_bytes;
    EXPECT_GT(recorded.sample_times_ns.size(), (limit_bytes - 50'000U) / 200U);
    EXPECT_EQ(recorded.recording.symbols_json, kmalloc_end().symbols_json);
  }
}

WriterSetup compressing_setup() {
  WriterSetup setup = kmalloc_setup();
  setup.zstd_level = 1;
  return setup;
}

TEST(FileWriter, compressed_file_is_read_back_as_the_plain_one) {
  constexpr std::uint64_t kSampleCount = 20000;
  const TempFile plain("plain");
  const TempFile packed("packed");
  for (const TempFile* file : {&plain, &packed}) {
    auto writer =
        create_file_writer(file->path(), file == &packed ? compressing_setup() : kmalloc_setup());
    ASSERT_TRUE(writer.ok());
    write_all(*writer.value(), kSampleCount);
  }
  const Recorded expected = read_all(plain.path());
  const Recorded recorded = read_all(packed.path());
  EXPECT_EQ(recorded.times_ns, expected.times_ns);
  EXPECT_EQ(recorded.frame_count, expected.frame_count);
  EXPECT_EQ(recorded.comms, expected.comms);
  EXPECT_TRUE(recorded.recording.caveats.empty());
  EXPECT_EQ(recorded.recording.symbols_json, expected.recording.symbols_json);
  EXPECT_LT(packed.read().size() * 5, plain.read().size());
}

TEST(FileWriter, cut_compressed_file_is_read_as_far_as_it_is_whole) {
  constexpr std::uint64_t kSampleCount = 30000;
  const TempFile file("packed_cut");
  auto writer = create_file_writer(file.path(), compressing_setup());
  ASSERT_TRUE(writer.ok());
  write_all(*writer.value(), kSampleCount);
  const RecordBytes whole = file.read();
  std::size_t most = 0;
  for (std::size_t size = whole.size() / 20; size < whole.size(); size += whole.size() / 20) {
    file.write(RecordBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    const Recorded recorded = read_all(file.path());
    EXPECT_TRUE(!recorded.error.empty() || !recorded.recording.caveats.empty()) << size;
    EXPECT_GE(recorded.sample_times_ns.size(), most) << size;
    most = recorded.sample_times_ns.size();
  }
  EXPECT_GT(most, kSampleCount / 2);
}

TEST(FileWriter, full_disk_cuts_a_compressed_file_behind_a_record) {
  constexpr std::uint64_t kSampleCount = 100'000;
  for (const rlim_t limit_bytes : {60'000U, 100'000U, 170'001U}) {
    const TempFile file("packed_full");
    auto writer = create_file_writer(file.path(), compressing_setup());
    ASSERT_TRUE(writer.ok());
    {
      const FileSizeLimit limit(limit_bytes);
      write_all(*writer.value(), kSampleCount);
    }
    const std::uint64_t lost = writer.value()->samples_lost();
    EXPECT_GT(lost, 0U);
    const Recorded recorded = read_all(file.path());
    EXPECT_EQ(recorded.error, "");
    EXPECT_TRUE(recorded.recording.caveats.empty());
    EXPECT_EQ(recorded.sample_times_ns.size() + lost, kSampleCount) << limit_bytes;
    EXPECT_GT(recorded.sample_times_ns.size(), 0U);
    EXPECT_EQ(recorded.recording.symbols_json, kmalloc_end().symbols_json);
  }
}

TEST(FileWriter, names_give_way_to_samples_on_a_full_disk) {
  const TempFile file("full_names");
  auto writer = create_file_writer(file.path(), kmalloc_setup());
  ASSERT_TRUE(writer.ok());
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(writer.value()->write(kmalloc_sample(1001 + i)).ok());
  }
  Recording end = kmalloc_end();
  end.symbols_json.assign(1'000'000, 'x');
  {
    const FileSizeLimit limit(300'000);
    ASSERT_TRUE(writer.value()->finish(end).ok());
  }
  const Recorded recorded = read_all(file.path());
  EXPECT_EQ(recorded.sample_times_ns.size(), 1000U);
  EXPECT_EQ(writer.value()->samples_lost(), 0U);
  EXPECT_EQ(recorded.recording.symbols_json, "");
  EXPECT_EQ(recorded.recording.about_json, end.about_json);
}

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
