// How much memory faults made resident.
#include "views/fault/fault_script.h"

namespace memtrace::test::fault_resident_test {
namespace {

constexpr std::uint64_t kAnonymous = 0x300000;
constexpr std::uint64_t kShared = 0x400000;
constexpr std::uint64_t kPrivateFile = 0x500000;
constexpr std::uint64_t kSharedFile = 0x600000;
constexpr std::uint64_t kHugetlb = 0x800000;
constexpr std::uint64_t kPage = 4096;

void map_all(EventScript& script) {
  constexpr std::uint64_t kBytes = 0x10000;
  map(script, {kAnonymous, kBytes, AreaKind::Anonymous, "//anon"});
  map(script, {kShared, kBytes, AreaKind::SharedMemory, "/dev/zero (deleted)", 0, true});
  map(script, {kPrivateFile, kBytes, AreaKind::File, "/lib/libc.so.6", 0x7000});
  map(script, {kSharedFile, kBytes, AreaKind::File, "/var/data", 0, true});
  map(script, {kHugetlb, kBytes, AreaKind::HugePages, "/anon_hugepage (deleted)"});
}

// A folio of anonymous memory that is smaller than a huge page.
Step folio_alloc(std::uint32_t order) {
  return {.event = "kmem:mm_page_alloc",
          .payload = PageAlloc{.order = order, .like_huge_page = true}};
}

// What these events made resident. An allocation outside of a fault shows that the recording has
// allocations.
Cell resident_of(const std::vector<Step>& steps) {
  EventScript script("faults", {.by = {"comm"}});
  map_all(script);
  script.play(by_thread(7, page_alloc(0)));
  script.play(steps);
  const Report report = script.finish();
  const Table& table = report.tables.front();
  EXPECT_EQ(table.rows.size(), 1U);
  return table.rows.empty() ? Cell() : table.rows[0][column_index(table, "resident")];
}

Cell resident_at(std::uint64_t address, std::uint64_t error_code) {
  return resident_of({entry(address, error_code), minor(address)});
}

TEST(FaultResident, is_a_page_where_none_was_mapped) {
  for (const std::uint64_t place : {kAnonymous, kShared, kPrivateFile, kSharedFile}) {
    EXPECT_EQ(resident_at(place, kWrite), number(kPage));
  }
  for (const std::uint64_t place : {kShared, kPrivateFile, kSharedFile}) {
    EXPECT_EQ(resident_at(place, kRead), number(kPage));
  }
  EXPECT_EQ(resident_of({entry(kAnonymous, kRead), major(kAnonymous)}), number(kPage));
}

TEST(FaultResident, is_nothing_where_a_copy_takes_the_place_of_a_page) {
  for (const std::uint64_t place : {kAnonymous, kPrivateFile, kSharedFile}) {
    EXPECT_EQ(resident_at(place, kWriteProtected), number(0));
  }
}

TEST(FaultResident, is_nothing_when_the_page_of_zeros_is_read_and_a_page_when_it_is_written) {
  EXPECT_EQ(resident_at(kAnonymous, kRead), number(0));
  EXPECT_EQ(resident_of({entry(kAnonymous, kRead),
                         minor(kAnonymous),
                         entry(kAnonymous, kWriteProtected),
                         minor(kAnonymous)}),
            number(kPage));
}

TEST(FaultResident, is_all_of_a_folio_that_the_fault_allocated) {
  EXPECT_EQ(resident_of({entry(kAnonymous), folio_alloc(4), minor(kAnonymous)}),
            number(16 * kPage));
  EXPECT_EQ(resident_of({entry(kAnonymous), page_alloc(9), minor(kAnonymous)}),
            number(512 * kPage));
  EXPECT_EQ(resident_of({entry(kShared), page_alloc(9), minor(kShared)}), number(512 * kPage));
  EXPECT_EQ(resident_of({entry(kAnonymous), page_alloc(9, 0, true), minor(kAnonymous)}),
            number(kPage));
}

// The huge page of zeros, which is no part of RSS. Before Linux 5.8 the kernel also allocated a
// huge page to copy one (mm/huge_memory.c, do_huge_pmd_wp_page).
TEST(FaultResident, is_all_of_a_huge_page_that_takes_the_place_of_zeros_and_nothing_for_a_copy) {
  const std::vector<Step> copy = {
      entry(kAnonymous, kWriteProtected), page_alloc(9), minor(kAnonymous)};
  EXPECT_EQ(resident_of(copy), number(0));
  std::vector<Step> of_zeros = {entry(kAnonymous, kRead), minor(kAnonymous)};
  of_zeros.insert(of_zeros.end(), copy.begin(), copy.end());
  EXPECT_EQ(resident_of(of_zeros), number(512 * kPage));
}

TEST(FaultResident, is_one_page_of_what_was_read_ahead_of_a_file) {
  EXPECT_EQ(resident_of({entry(kSharedFile, kRead), folio_alloc(4), major(kSharedFile)}),
            number(kPage));
}

TEST(FaultResident, leaves_out_hugetlb_and_faults_without_an_end) {
  EXPECT_EQ(resident_at(kHugetlb, kWrite), number(0));
  EXPECT_EQ(resident_of({entry(kAnonymous), entry(kShared), minor(kShared)}), number(kPage));
}

TEST(FaultResident, is_blank_for_samples) {
  EXPECT_EQ(resident_of({weighing(10, entry(kAnonymous)), weighing(10, minor(kAnonymous))}),
            Cell());
}

TEST(FaultResident, is_blank_without_error_codes_ends_or_allocations) {
  EXPECT_EQ(resident_of({software(kAnonymous), minor(kAnonymous)}), Cell());
  EXPECT_EQ(resident_of({entry(kAnonymous)}), Cell());
  EventScript script("faults", {.by = {"comm"}});
  map_all(script);
  script.play({entry(kAnonymous), minor(kAnonymous)});
  const Report report = script.finish();
  const Table& table = report.tables.front();
  EXPECT_EQ(table.rows.at(0)[column_index(table, "resident")], Cell());
}

TEST(FaultResident, total_is_shown_where_it_is_known) {
  EventScript script("faults");
  map_all(script);
  script.play({page_alloc(0),
               entry(kAnonymous),
               page_alloc(9),
               minor(kAnonymous),
               entry(kShared),
               minor(kShared)});
  EXPECT_EQ(total(script.finish(), "resident"), 513 * kPage);
}

}  // namespace
}  // namespace memtrace::test::fault_resident_test
