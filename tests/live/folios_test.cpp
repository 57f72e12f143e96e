// Pages counted right where the kernel's events are of folios: against the kernel's own counters.
#include <cmath>
#include <optional>

#include "live/folio_setting.h"
#include "live/mount.h"
#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

class FoliosTest : public PressureTest {
 protected:
  static constexpr std::uint64_t kPages = 16'384;

  std::string dd(const std::string& piece, std::uint64_t pieces) const {
    return "dd if=/dev/zero of=" + folder() + "/copy bs=" + piece +
           " count=" + std::to_string(pieces);
  }

  // Where the file is written.
  virtual std::string folder() const { return dir_.path(); }

  // 64 MiB are written in pieces of so many bytes: the larger the write, the larger are the folios
  // that ext4, xfs and btrfs make for it (mm/filemap.c, __filemap_get_folio).
  void expect_dirtied_as_counted(const std::string& piece, std::uint64_t pieces) {
    const Grown grown = record("-a --for writeback -- " + dd(piece, pieces));
    const Json writeback = report("writeback");
    EXPECT_EQ(lost_in(writeback), 0U);
    EXPECT_GE(grown.by("nr_dirtied"), kPages);
    expect_near(total_of(writeback, "dirtied"), grown.by("nr_dirtied"), 0.98);
    const Json writer = row_of(writeback, 0, "comm", "dd");
    ASSERT_FALSE(writer.is_null()) << writeback.dump(1);
    EXPECT_GE(writer.at("dirtied").get<std::uint64_t>(), kPages);
    EXPECT_LE(writer.at("dirtied").get<std::uint64_t>(), kPages * 101 / 100);
    const Json truth = truth_row(writeback, "dirtied");
    ASSERT_FALSE(truth.is_null()) << writeback.dump(1);
    EXPECT_EQ(truth.at("counter"), "nr_dirtied");
    EXPECT_NEAR(truth.at("explained").get<double>(), 100.0, 2.0);
  }
};

// Its own file is large beside what is written. Others may write at the same time to folios that
// were there before, so one try of four has to be right.
TEST_F(FoliosTest, what_memtrace_dirties_itself_is_no_difference) {
  constexpr int kTries = 4;
  double explained = 0;
  for (int i = 0; i < kTries && std::abs(explained - 100.0) > 3.0; ++i) {
    record(
        "-a --for writeback,kmalloc,pages,faults --no-compress -- sh -c 'find /usr -size "
        "+9999999k; " +
        dd("1M", kPages / 256) + "'");
    EXPECT_GE(std::filesystem::file_size(dir_.path() + "/memtrace.data"), 16 * kMebibyte);
    const Json writeback = report("writeback");
    EXPECT_EQ(lost_in(writeback), 0U);
    const Json truth = truth_row(writeback, "dirtied");
    ASSERT_FALSE(truth.is_null()) << writeback.dump(1);
    explained = truth.at("explained").get<double>();
  }
  EXPECT_NEAR(explained, 100.0, 3.0);
}

TEST_F(FoliosTest, dirtied_pages_are_those_of_vmstat_with_small_writes) {
  expect_dirtied_as_counted("4096", kPages);
}

TEST_F(FoliosTest, dirtied_pages_are_those_of_vmstat_with_large_writes) {
  expect_dirtied_as_counted("1M", kPages / 256);
}

// The same on other file systems, each in an image on a loop device. umount(8) frees the device.
class FileSystemsTest : public FoliosTest, public testing::WithParamInterface<const char*> {
 protected:
  std::string folder() const override { return dir_.path() + "/mounted"; }

  void expect_counted_when_mounted(const std::string& piece, std::uint64_t pieces) {
    const std::string type = GetParam();
    const std::string image = dir_.path() + "/image";
    const Mount mounted(folder(),
                        "truncate -s 512M " + image + " && mkfs." + type + " -q " + image,
                        "-t " + type + " -o loop " + image);
    if (!mounted.usable()) {
      GTEST_SKIP() << "no " << type << " can be mounted here: " << mounted.error();
    }
    expect_dirtied_as_counted(piece, pieces);
  }
};

TEST_P(FileSystemsTest, dirtied_pages_are_those_of_vmstat_with_small_writes) {
  expect_counted_when_mounted("4096", kPages);
}

TEST_P(FileSystemsTest, dirtied_pages_are_those_of_vmstat_with_large_writes) {
  expect_counted_when_mounted("1M", kPages / 256);
}

INSTANTIATE_TEST_SUITE_P(on, FileSystemsTest, testing::Values("xfs", "btrfs"));

// Files on tmpfs in huge pages, written and touched.
class HugeTmpfsTest : public FoliosTest {
 protected:
  static constexpr std::uint64_t kHugePages = 32;

  void SetUp() override {
    FoliosTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    mount_.emplace(folder(), "true", "-t tmpfs -o huge=always,size=256M tmpfs");
    if (!mount_->usable() || !std::filesystem::exists(allocated_)) {
      GTEST_SKIP() << "no tmpfs in huge pages with a counter of them (6.13): " << mount_->error();
    }
  }

  std::string folder() const override { return dir_.path() + "/mounted"; }

  // How many huge pages of shared memory the machine got while memtrace recorded.
  std::uint64_t huge_pages_of(const std::string& words) {
    const std::uint64_t before = std::stoull(text_of(allocated_));
    record(words);
    return std::stoull(text_of(allocated_)) - before;
  }

  // A program's figure in the table whose title begins with `title`; 0 when it has no row there.
  static std::uint64_t figure_of(const Json& report,
                                 const std::string& title,
                                 const std::string& comm,
                                 const char* figure) {
    for (std::size_t i = 0; i < report.at("tables").size(); ++i) {
      if (report.at("tables").at(i).at("title").get<std::string>().starts_with(title)) {
        const Json row = row_of(report, i, "comm", comm);
        return row.is_null() ? 0 : row.at(figure).get<std::uint64_t>();
      }
    }
    return 0;
  }

 private:
  const std::string allocated_ = folio_folder(2048) + "/stats/shmem_alloc";
  std::optional<Mount> mount_;
};

TEST_F(HugeTmpfsTest, written_files_are_counted_as_all_their_pages) {
  EXPECT_GE(huge_pages_of("-a --for filepages -- " + dd("1M", kPages / 256)), kHugePages);
  const Json filepages = report("filepages");
  EXPECT_EQ(lost_in(filepages), 0U);
  EXPECT_EQ(figure_of(filepages, "pages of shared memory and tmpfs", "dd", "pages"), kPages);
}

TEST_F(HugeTmpfsTest, a_fault_that_gets_a_huge_page_is_one_of_hfaults) {
  const std::string touch =
      "python3 -c 'import mmap; f = open(\"" + folder() +
      "/touched\", \"w+b\"); f.truncate(64 << 20); m = mmap.mmap(f.fileno(), 64 << 20)\n"
      "for i in range(0, 64 << 20, 4096): m[i] = 1'";
  EXPECT_GE(huge_pages_of("-a --for hfaults -- " + touch), kHugePages);
  const Json sizes = report("hfaults --by comm");
  EXPECT_EQ(lost_in(sizes), 0U);
  const Json row = row_of(sizes, 0, "comm", "python3");
  ASSERT_FALSE(row.is_null()) << sizes.dump(1);
  EXPECT_EQ(row.at("thp"), kHugePages);
  EXPECT_EQ(row.at("mthp"), 0);
}

// 64 MiB, touched page by page, in folios of three sizes that are smaller than a huge page.
class SmallFoliosTest : public FoliosTest, public testing::WithParamInterface<int> {
 protected:
  static constexpr std::uint64_t kBytes = 64 * kMebibyte;
};

TEST_P(SmallFoliosTest, are_counted_as_all_their_pages) {
  const FolioSetting huge(folio_folder(2048) + "/enabled");
  const FolioSetting small(folio_folder(GetParam()) + "/enabled");
  if (!huge.is_there() || !small.is_there()) {
    GTEST_SKIP() << "this kernel has no large folios of " << GetParam() << " kB (6.8 and later)";
  }
  huge.set("never");
  small.set("always");
  const std::string allocated = folio_folder(GetParam()) + "/stats/anon_fault_alloc";
  const std::uint64_t before = std::stoull(text_of(allocated));
  record("-a --for hfaults,growth -- $PUPPETS/fault_kinds folios " +
         std::to_string(kBytes / kPageBytes));
  const std::uint64_t folios = std::stoull(text_of(allocated)) - before;
  const std::uint64_t size = static_cast<std::uint64_t>(GetParam()) * 1024;
  const std::uint64_t whole = kBytes / size - 1;  // the mapping need not begin at a multiple
  EXPECT_GE(folios, whole);
  const Json sizes = report("hfaults --by size");
  EXPECT_EQ(lost_in(sizes), 0U);
  const Json row = row_of(sizes, 0, "size", size);
  ASSERT_FALSE(row.is_null()) << sizes.dump(1);
  EXPECT_LE(row.at("mthp").get<std::uint64_t>(), folios);
  EXPECT_GE(row.at("mthp").get<std::uint64_t>(), whole);
  const Json growth = report("growth --by comm");
  const Json toucher = row_of(growth, 0, "comm", "fault_kinds");
  ASSERT_FALSE(toucher.is_null()) << growth.dump(1);
  EXPECT_GE(toucher.at("touched").get<std::uint64_t>(), kBytes);
  EXPECT_LE(toucher.at("touched").get<std::uint64_t>(), kBytes + 4 * kMebibyte);
}

INSTANTIATE_TEST_SUITE_P(of_each_size, SmallFoliosTest, testing::Values(16, 64, 512));

}  // namespace
}  // namespace memtrace::test
