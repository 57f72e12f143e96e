#include "views/kit/group_by.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "support/event_script.h"
#include "views/all/all_views.h"

namespace memtrace::test {
namespace {

struct Sum {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

constexpr auto kSumFigures = std::to_array<Figure<Sum>>({
    memtrace::figure<&Sum::count>("count"),
    memtrace::figure<&Sum::bytes>("bytes", Unit::Bytes),
});
constexpr auto kNames = std::to_array<std::string_view>({"pid", "tid", "cpu", "stack"});

// Words that differ only in their high halves, to catch a hash or a comparison that drops bits.
Event random_event(std::mt19937_64& random) {
  Event event;
  event.pid = static_cast<std::uint32_t>(random() % 50) << 20U;
  event.tid = static_cast<std::uint32_t>(random() % 3);
  event.cpu = static_cast<std::uint32_t>(random() % 4);
  event.stack = StackId{static_cast<std::uint32_t>(random() % 40)};
  event.weight = 1 + random() % 9;
  return event;
}

TEST(GroupBy, agrees_with_a_naive_model_for_each_number_of_keys) {
  const World world({});
  for (std::size_t key_count = 1; key_count <= kNames.size(); ++key_count) {
    std::mt19937_64 random(key_count);
    ViewOptions options;
    options.by.assign(kNames.begin(), kNames.begin() + static_cast<std::ptrdiff_t>(key_count));
    GroupBy<Sum> rows(KeySet::choose(options, kNames).take());
    std::map<std::vector<Cell>, Sum> model;
    for (int i = 0; i < 1500; ++i) {
      const Event event = random_event(random);
      rows.row(event) += {event.weight, event.weight * 8};
      std::vector<Cell> keys = {std::uint64_t{event.pid},
                                std::uint64_t{event.tid},
                                std::uint64_t{event.cpu},
                                event.stack};
      keys.resize(key_count);
      model[keys] += {event.weight, event.weight * 8};
    }
    const Table table = rows.table(kSumFigures, {.world = world, .span = {}});
    std::map<std::vector<Cell>, std::vector<Cell>> expected;
    for (const auto& [keys, sum] : model) {
      expected[keys] = {sum.count, sum.bytes};
    }
    const auto split = static_cast<std::ptrdiff_t>(key_count);
    std::map<std::vector<Cell>, std::vector<Cell>> found;
    for (const std::vector<Cell>& row : table.rows) {
      const auto figures = row.begin() + split;  // behind them are the errors of sampled rows
      found[{row.begin(), figures}] = {figures, figures + std::ssize(kSumFigures)};
    }
    EXPECT_EQ(table.rows.size(), model.size());
    EXPECT_EQ(found, expected) << key_count << " keys";
  }
}

TEST(GroupBy, total_is_the_sum_of_all_rows) {
  GroupBy<Sum> rows(KeySet::choose({}, kNames).take());
  Event event;
  for (std::uint32_t pid = 1; pid <= 100; ++pid) {
    event.pid = pid;
    rows.row(event) += {1, pid};
  }
  EXPECT_EQ(rows.total().count, 100U);
  EXPECT_EQ(rows.total().bytes, 5050U);
  rows.clear();
  EXPECT_EQ(rows.total().count, 0U);
}

TEST(GroupBy, columns_are_keys_and_then_figures) {
  const World world({});
  const GroupBy<Sum> rows(KeySet::choose({.by = {"cpu", "pid"}}, kNames).take());
  const Table table = rows.table(kSumFigures, {.world = world, .span = {}});
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(table.columns[0].name, "cpu");
  EXPECT_EQ(table.columns[1].name, "pid");
  EXPECT_EQ(table.columns[3].name, "bytes");
  EXPECT_EQ(table.columns[3].unit, Unit::Bytes);
  EXPECT_EQ(table.key_count, 2U);
  EXPECT_EQ(table.title, "by cpu, pid");
}

TEST(AllViews, describe_themselves_and_can_be_made_with_each_key) {
  EXPECT_FALSE(all_views().empty());
  for (const NamedView& view : all_views()) {
    EXPECT_FALSE(view.spec.summary.empty()) << view.name;
    EXPECT_FALSE(view.spec.needs.empty()) << view.name;
    ASSERT_FALSE(view.spec.keys.empty()) << view.name;
    for (const std::string_view key : view.spec.keys) {
      const auto made = view.spec.make({.by = {std::string(key)}});
      EXPECT_TRUE(made.ok()) << view.name << " --by " << key;
    }
  }
}

// Probes are made when they are needed: their names are not events of the kernel.
std::string event_of(std::string_view need) {
  if (need.starts_with("heap:")) {
    return "memtrace_heap_1:malloc";
  }
  return need.starts_with("sdt:") ? "memtrace_1:libc_memory_arena_new" : std::string(need);
}

TEST(AllViews, handle_the_events_that_they_need) {
  for (const NamedView& view : all_views()) {
    for (const std::string_view group : view.spec.needs) {
      if (group.starts_with("syscalls:")) {
        continue;  // the world makes something of them, for all views at once
      }
      const std::string first = event_of(group.substr(0, group.find('|')));
      EXPECT_TRUE(handles(view.spec, event_named(first))) << view.name << " " << first;
    }
  }
}

}  // namespace
}  // namespace memtrace::test
