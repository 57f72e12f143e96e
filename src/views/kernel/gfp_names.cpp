#include "views/kernel/gfp_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"

namespace memtrace {
namespace {

struct ShortName {
  std::string_view flag;
  std::string_view letters;
};

// include/trace/events/mmflags.h (gfpflags.h before 4.7) of 3.10 to 6.18. The letters of those that
// are met most often are the ones that perf kmem has accustomed people to.
constexpr auto kShortNames = std::to_array<ShortName>({
    {"GFP_TRANSHUGE", "THP"},
    {"GFP_TRANSHUGE_LIGHT", "THL"},
    {"GFP_HIGHUSER_MOVABLE", "HUM"},
    {"GFP_HIGHUSER", "HU"},
    {"GFP_USER", "U"},
    {"GFP_KERNEL_ACCOUNT", "KAC"},
    {"GFP_KERNEL", "K"},
    {"GFP_NOFS", "NF"},
    {"GFP_NOIO", "NI"},
    {"GFP_ATOMIC", "A"},
    {"GFP_NOWAIT", "NW"},
    {"GFP_TEMPORARY", "TMP"},
    {"GFP_DMA", "D"},
    {"GFP_DMA32", "D32"},
    {"__GFP_HIGHMEM", "HM"},
    {"__GFP_HIGH", "H"},
    {"__GFP_WAIT", "W"},
    {"__GFP_IO", "I"},
    {"__GFP_FS", "F"},
    {"__GFP_COLD", "CO"},
    {"__GFP_NOWARN", "NWR"},
    {"__GFP_REPEAT", "R"},
    {"__GFP_RETRY_MAYFAIL", "R"},
    {"__GFP_NOFAIL", "NF!"},
    {"__GFP_NORETRY", "NR"},
    {"__GFP_COMP", "C"},
    {"__GFP_ZERO", "Z"},
    {"__GFP_NOMEMALLOC", "NMA"},
    {"__GFP_MEMALLOC", "MA"},
    {"__GFP_HARDWALL", "HW"},
    {"__GFP_THISNODE", "TN"},
    {"__GFP_RECLAIMABLE", "RC"},
    {"__GFP_MOVABLE", "M"},
    {"__GFP_ACCOUNT", "AC"},
    {"__GFP_WRITE", "WR"},
    {"__GFP_RECLAIM", "RL"},
    {"__GFP_DIRECT_RECLAIM", "DR"},
    {"__GFP_KSWAPD_RECLAIM", "KR"},
    {"__GFP_SKIP_ZERO", "SZ"},
    {"__GFP_SKIP_KASAN", "SK"},
    {"__GFP_NOLOCKDEP", "NL"},
    {"__GFP_NO_OBJ_EXT", "NOE"},
});

// One report's flags and what they are called in it, each name once.
class Legend {
 public:
  const std::string& letters_of(std::string_view flag) {
    const auto [known, is_new] = letters_.try_emplace(std::string(flag));
    if (is_new) {
      std::string name = short_gfp_name(flag);
      known->second = taken_.insert(name).second ? name : std::string(flag);
    }
    return known->second;
  }

  Table table() const {
    Table table{.title = "GFP flags",
                .columns = {{"short", Unit::Text}, {"flag", Unit::Text}},
                .key_count = 2,
                .fixed = true};
    for (const auto& [flag, letters] : letters_) {
      table.rows.push_back({letters, flag});
    }
    return table;
  }

 private:
  std::map<std::string, std::string> letters_;
  std::set<std::string> taken_;
};

std::string shortened(const std::string& flags, Legend& legend) {
  std::vector<std::string> names;
  for (const std::string_view flag : split(flags, '|')) {
    // What is left over when all flags with names are taken is a number, and no flag at all "0".
    const bool is_number = parse_number(flag).has_value() || flag.empty();
    names.emplace_back(is_number ? std::string(flag) : legend.letters_of(flag));
  }
  return join(names, "|");
}

}  // namespace

std::string short_gfp_name(std::string_view name) {
  const auto* known = std::ranges::find(kShortNames, name, &ShortName::flag);
  if (known != kShortNames.end()) {
    return std::string(known->letters);
  }
  std::string_view rest = name;
  rest.remove_prefix(std::min(rest.find_first_not_of('_'), rest.size()));
  rest = rest.starts_with("GFP_") ? rest.substr(4) : rest;
  std::string initials;
  for (const std::string_view word : split(rest, '_')) {
    initials += word.substr(0, 1);
  }
  return initials.empty() ? std::string(name) : initials;
}

void shorten_gfp_names(Report& report) {
  Table& table = report.tables.front();
  const auto column = std::ranges::find(table.columns, std::string_view("gfp"), &Column::name);
  if (column == table.columns.end()) {
    return;
  }
  const auto index = static_cast<std::size_t>(column - table.columns.begin());
  Legend legend;
  const auto shorten = [index, &legend](std::vector<Cell>& cells) {
    if (auto* flags = std::get_if<std::string>(&cells[index])) {
      *flags = shortened(*flags, legend);
    }
  };
  std::ranges::for_each(table.rows, shorten);
  for (RowHistogram& histogram : table.histograms) {
    shorten(histogram.keys);
  }
  report.tables.push_back(legend.table());
}

}  // namespace memtrace
