#include "tracepoints/probe/kernel_functions.h"

#include <gtest/gtest.h>

#include <set>

namespace memtrace {
namespace {

constexpr std::string_view kFilterFunctions =
    "hugetlb_fault_mutex_hash\n"
    "hugetlb_fault\n"
    "swap_readpage\n"
    "oom_kill_process.cold\n"
    "nfs_open [nfs]\n";

constexpr std::string_view kSymbols =
    "ffffffff81000000 T _text\n"
    "ffffffff8120c0d0 t oom_kill_process.cold\n"
    "ffffffff8122ab00 t oom_kill_process.part.0\n"
    "ffffffff8122af00 t oom_kill_process.isra.0\n"
    "ffffffff8122b000 d swap_read_folio\n"
    "ffffffffc0001000 t nfs_open\t[nfs]\n";

TEST(KernelFunctionsTest, exact_name_is_found_among_those_that_begin_like_it) {
  EXPECT_EQ(find_kernel_function(kFilterFunctions, "hugetlb_fault"), "hugetlb_fault");
  EXPECT_EQ(find_kernel_function(kFilterFunctions, "nfs_open"), "nfs_open");
  EXPECT_EQ(find_kernel_function(kFilterFunctions, "hugetlb"), std::nullopt);
}

TEST(KernelFunctionsTest, variant_of_the_compiler_is_the_function_but_a_piece_of_it_is_not) {
  EXPECT_EQ(find_kernel_function(kFilterFunctions, "oom_kill_process"), std::nullopt);
  EXPECT_EQ(find_kernel_function(kSymbols, "oom_kill_process"), "oom_kill_process.isra.0");
}

TEST(KernelFunctionsTest, data_of_that_name_is_no_function) {
  EXPECT_EQ(find_kernel_function(kSymbols, "swap_read_folio"), std::nullopt);
  EXPECT_EQ(find_kernel_function(kSymbols, "nfs_open"), "nfs_open");
  EXPECT_EQ(find_kernel_function("", "nfs_open"), std::nullopt);
}

TEST(KernelFunctionsTest, every_reading_says_what_is_gained) {
  std::set<std::string_view> views;
  for (const KernelReading& reading : kernel_readings()) {
    EXPECT_FALSE(reading.functions.empty());
    EXPECT_FALSE(reading.gain.empty());
    EXPECT_TRUE(views.insert(reading.view).second) << "one probe for a view";
  }
}

}  // namespace
}  // namespace memtrace
