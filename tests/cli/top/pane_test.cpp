// The panes name views, keys and columns by text: each must be there.
#include "cli/top/pane.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/top/pane_table.h"
#include "cli/top/process_table.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

// What the view's report looks like before anything has happened.
Report empty_report(const PaneQuery& query) {
  const World world{World::Options{}};
  ViewOptions options;
  options.by = {query.by.begin(), query.by.end()};
  auto view = make_view(find_view(query.view)->spec, options);
  EXPECT_TRUE(view.ok()) << query.view;
  return view.ok() ? view.value()->finish(world, {.start_ns = 1, .end_ns = 2}) : Report{};
}

TopSnapshot empty_snapshot() {
  TopSnapshot snapshot;
  for (const PaneQuery& query : pane_queries(true)) {
    snapshot.reports.push_back(empty_report(query));
  }
  snapshot.processes = process_table(snapshot.reports, {});
  return snapshot;
}

const Table& table_of(const TopSnapshot& snapshot, const PaneLook& look) {
  return look.of_processes ? snapshot.processes
                           : snapshot.reports.at(look.query).tables.at(look.table);
}

bool has_column(const Table& table, std::string_view name) {
  return std::ranges::find(table.columns, name, &Column::name) != table.columns.end();
}

bool shows(std::span<const PaneColumn> columns, std::string_view name) {
  return std::ranges::find(columns, name, &PaneColumn::name) != columns.end();
}

TEST(Panes, every_view_of_them_exists_and_knows_the_keys) {
  for (const PaneQuery& query : pane_queries(true)) {
    ASSERT_NE(find_view(query.view), nullptr) << query.view;
    EXPECT_FALSE(empty_report(query).tables.empty()) << query.view;
  }
}

TEST(Panes, every_column_of_them_is_one_of_their_tables) {
  const TopSnapshot snapshot = empty_snapshot();
  for (const Pane& pane : all_panes()) {
    for (const PaneLook& look : pane.looks) {
      const Table& table = table_of(snapshot, look);
      for (const auto columns : {look.rates, look.live}) {
        for (const PaneColumn& column : columns) {
          EXPECT_TRUE(has_column(table, column.name)) << look.title << ": " << column.name;
        }
      }
    }
  }
}

TEST(Panes, those_without_the_heap_need_no_probes) {
  for (std::size_t i = 0; i < kPanesWithoutHeap; ++i) {
    for (const PaneLook& look : all_panes()[i].looks) {
      EXPECT_LT(look.query, pane_queries(false).size()) << look.title;
    }
  }
  EXPECT_EQ(all_panes().size(), kPanesWithoutHeap + 1);
  for (const PaneQuery& query : pane_queries(false)) {
    EXPECT_FALSE(find_view(query.view)->spec.of_programs) << query.view;
  }
}

TEST(Panes, the_column_that_sorts_is_shown) {
  for (const Pane& pane : all_panes()) {
    for (const PaneLook& look : pane.looks) {
      EXPECT_TRUE(shows(look.rates, look.rates_sort)) << look.title;
      EXPECT_EQ(look.live.empty(), look.live_sort.empty()) << look.title;
      EXPECT_TRUE(look.live.empty() || shows(look.live, look.live_sort)) << look.title;
    }
  }
}

}  // namespace
}  // namespace memtrace
