#include "perf/target/proc_snapshot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

namespace memtrace {
namespace {

std::optional<Mmap> mapping_of(std::string_view text) {
  const auto line = parse_maps_line(text);
  return line ? std::optional(record_of(*line)) : std::nullopt;
}

TEST(ProcSnapshot, a_line_of_maps_is_taken_apart) {
  const auto mapping = mapping_of(
      "7f3a00001000-7f3a00003000 r-xp 00002000 fe:01 1234                       /usr/lib/a b.so");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->start, 0x7f3a00001000U);
  EXPECT_EQ(mapping->length_bytes, 0x2000U);
  EXPECT_EQ(mapping->file_offset, 0x2000U);
  EXPECT_EQ(mapping->major, 0xfeU);
  EXPECT_EQ(mapping->minor, 1U);
  EXPECT_EQ(mapping->inode, 1234U);
  EXPECT_EQ(mapping->prot, 5U);
  EXPECT_EQ(mapping->path, "/usr/lib/a b.so");
}

TEST(ProcSnapshot, a_mapping_without_a_name_is_anonymous) {
  const auto mapping = mapping_of("1000-2000 rwxp 00000000 00:00 0 ");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->path, "//anon");
}

TEST(ProcSnapshot, this_process_is_described_with_its_threads_and_code) {
  RecordBuilder records(1);
  snapshot_process(static_cast<std::uint32_t>(::getpid()), records);
  EXPECT_GT(records.bytes().size(), 200U);
  EXPECT_EQ(process_of(static_cast<std::uint32_t>(::gettid())).value(),
            static_cast<std::uint32_t>(::getpid()));
  EXPECT_FALSE(process_of(0x7ffffffe).ok());
}

TEST(ProcSnapshot, data_is_told_only_when_it_is_wanted) {
  RecordBuilder code(1);
  RecordBuilder all(1);
  snapshot_process(static_cast<std::uint32_t>(::getpid()), code);
  snapshot_process(static_cast<std::uint32_t>(::getpid()), all, KeptMaps::All);
  EXPECT_GT(all.bytes().size(), 2 * code.bytes().size());
  EXPECT_FALSE(mapping_of("1000-2000 rw-p 00000000 00:00 0 ")->executable);
  EXPECT_TRUE(mapping_of("1000-2000 r-xp 00000000 00:00 0 ")->executable);
}

}  // namespace
}  // namespace memtrace
