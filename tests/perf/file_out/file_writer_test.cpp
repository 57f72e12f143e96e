#include "perf/file_out/file_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/recorded.h"
#include "support/temp_dir.h"

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

// A reader of several files needs it, also of a recording that was killed.
TEST(FileWriter, part_of_a_recording_stands_before_the_records) {
  const TempFile file("part");
  WriterSetup setup = kmalloc_setup();
  setup.about.part_json = R"({"number":2})";
  auto writer = create_file_writer(file.path(), setup);
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(read_all(file.path()).recording.part_json, setup.about.part_json);
  write_all(*writer.value(), 3);
  EXPECT_EQ(read_all(file.path()).recording.part_json, setup.about.part_json);
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

TEST(FileWriter, disk_that_is_full_from_the_start_leaves_what_was_there) {
  const TempDir dir;
  const std::string path = dir.file("rec");
  std::ofstream(path) << "PERFILE2 before";
  {
    const FileSizeLimit limit(100);
    EXPECT_FALSE(create_file_writer(path, kmalloc_setup()).ok());
  }
  EXPECT_EQ(std::filesystem::file_size(path), 15U);
  EXPECT_FALSE(std::filesystem::exists(path + ".old"));
}

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

}  // namespace
}  // namespace memtrace::test
