#include "views/rss/process_sizes.h"

#include <array>
#include <string>
#include <string_view>

#include "base/units.h"
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
    // What ends has given its memory back before it is gone (mm_release() in kernel/exit.c).
    const std::uint64_t* mapped = process.number("size");
    const bool has_memory = mapped != nullptr && *mapped > 0;
    if (!has_memory || pid == nullptr || !pids.contains(static_cast<std::uint32_t>(*pid))) {
      continue;
    }
    std::vector<Cell>& row = table.rows.emplace_back();
    row.push_back(fact(process, "comm"));
    row.emplace_back(*pid);
    for (const std::string_view size : kSizes) {
      row.push_back(fact(process, size));
    }
  }
  if (seen != nullptr && table.rows.size() < pids.size()) {
    const bool is_all = table.rows.empty();
    table.note =
        "ended, or without memory of their own: " + std::string(is_all ? "" : "the other ") +
        counted(pids.size() - table.rows.size(), "process", "processes");
  }
  return table;
}

}  // namespace memtrace
