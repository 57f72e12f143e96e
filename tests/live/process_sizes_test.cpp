// How large anon says that processes were at the end, against /proc/PID/statm.
#include <array>

#include "live/live_test.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kHeldPages = 5000;

using ProcessSizesTest = LiveTest;

TEST_F(ProcessSizesTest, sizes_are_those_of_a_process_that_holds_so_many_pages) {
  const std::string held = std::to_string(kHeldPages);
  const Outcome outcome = run_well(
      "trap 'kill $(cat pid)' EXIT\n"
      "$MEMTRACE record --for anon -- sh -c '$PUPPETS/press_memory hold " +
      held +
      " > ready & echo $! > pid; until grep -q ready ready; do sleep 0.05; done'\n"
      "cat /proc/$(cat pid)/statm > statm");
  std::array<std::uint64_t, 6> pages{};
  std::istringstream statm(text_of(dir_.path() + "/statm"));
  for (std::uint64_t& number : pages) {
    statm >> number;
  }
  ASSERT_GE(pages[1], kHeldPages) << outcome.all();
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const Json anon = report("anon");
  const auto pid = std::stoull(text_of(dir_.path() + "/pid"));
  const Json& rows = anon.at("tables").at(1).at("rows");
  const auto row =
      std::find_if(rows.begin(), rows.end(), [pid](const Json& one) { return one["pid"] == pid; });
  ASSERT_NE(row, rows.end()) << anon.dump(1);
  EXPECT_EQ(row->at("comm"), "press_memory");
  EXPECT_EQ(row->at("size"), pages[0] * page);
  EXPECT_EQ(row->at("resident"), pages[1] * page);
  EXPECT_EQ(row->at("shared"), pages[2] * page);
  EXPECT_EQ(row->at("text"), pages[3] * page);
  EXPECT_EQ(row->at("data"), pages[5] * page);
  const auto anonymous =
      row->at("resident").get<std::uint64_t>() - row->at("shared").get<std::uint64_t>();
  EXPECT_GE(anonymous, kHeldPages * page);
  EXPECT_LE(anonymous, (kHeldPages + 100) * page);  // its stack and what libc has
  EXPECT_GE(row->at("data").get<std::uint64_t>(), kHeldPages * page);
}

}  // namespace
}  // namespace memtrace::test
