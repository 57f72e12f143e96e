#include "views/kernel/gfp_names.h"

#include <set>

#include "support/event_script.h"

namespace memtrace::test {
namespace {

Report report_of(const std::vector<std::string>& flags) {
  Report report;
  Table& table = report.tables.emplace_back();
  table.columns = {{"gfp", Unit::Text}, {"allocs", Unit::Count}};
  table.key_count = 1;
  for (const std::string& text : flags) {
    table.rows.push_back({text, std::uint64_t{1}});
  }
  return report;
}

TEST(GfpNames, known_flags_have_letters_and_others_their_initials) {
  EXPECT_EQ(short_gfp_name("GFP_KERNEL"), "K");
  EXPECT_EQ(short_gfp_name("__GFP_NOWARN"), "NWR");
  EXPECT_EQ(short_gfp_name("__GFP_SOME_NEW_THING"), "SNT");
  EXPECT_EQ(short_gfp_name("___"), "___");
}

TEST(GfpNames, each_flag_of_a_row_is_shortened) {
  Report report = report_of({"GFP_KERNEL|__GFP_ZERO", "GFP_NOWAIT", "0x400000|GFP_DMA", "0"});
  shorten_gfp_names(report);
  EXPECT_NE(find_row(report.tables[0], {text("K|Z")}), nullptr);
  EXPECT_NE(find_row(report.tables[0], {text("NW")}), nullptr);
  EXPECT_NE(find_row(report.tables[0], {text("0x400000|D")}), nullptr);
  EXPECT_NE(find_row(report.tables[0], {text("0")}), nullptr);
  EXPECT_EQ(report.tables[1].rows.size(), 4U);
}

TEST(GfpNames, letters_are_never_used_twice) {
  Report report = report_of({"__GFP_ABLE", "__GFP_ANY", "GFP_ATOMIC"});
  shorten_gfp_names(report);
  std::set<Cell> letters;
  for (const std::vector<Cell>& row : report.tables[1].rows) {
    letters.insert(row[0]);
  }
  EXPECT_EQ(letters.size(), 3U);
}

TEST(GfpNames, table_without_the_key_stays_as_it_is) {
  Report report = report_of({});
  report.tables[0].columns[0].name = "comm";
  shorten_gfp_names(report);
  EXPECT_EQ(report.tables.size(), 1U);
}

}  // namespace
}  // namespace memtrace::test
