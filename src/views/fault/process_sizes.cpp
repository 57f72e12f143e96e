#include "views/fault/process_sizes.h"

#include <array>
#include <string_view>

#include "views/kit/cells.h"

namespace memtrace {
namespace {

constexpr auto kSizes =
    std::to_array<std::string_view>({"size", "resident", "shared", "text", "data"});

}  // namespace

Table process_size_table(const World& world, const std::set<std::uint32_t>& pids) {
  Table table{.title = "sizes of these processes at the end",
              .columns = {{"comm", Unit::Text}, {"pid", Unit::Number}},
              .key_count = 2,
              .sort = "resident"};
  for (const std::string_view size : kSizes) {
    table.columns.push_back({std::string(size), Unit::Bytes});
  }
  const Observation* seen = world.observations().last("sizes");
  for (const Facts& process : seen == nullptr ? std::vector<Facts>() : seen->rows) {
    const std::uint64_t* pid = process.number("pid");
    if (pid == nullptr || !pids.contains(static_cast<std::uint32_t>(*pid))) {
      continue;
    }
    std::vector<Cell>& row = table.rows.emplace_back();
    row.push_back(fact(process, "comm"));
    row.emplace_back(*pid);
    for (const std::string_view size : kSizes) {
      row.push_back(fact(process, size));
    }
  }
  return table;
}

}  // namespace memtrace
