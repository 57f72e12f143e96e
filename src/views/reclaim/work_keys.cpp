#include "views/reclaim/work_keys.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.h"
#include "views/kit/cells.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

std::uint64_t to_word(std::int32_t number) {
  return number < 0 ? kUnknown : static_cast<std::uint64_t>(number);
}

const Work* find_work(const Event& event) {
  return std::get_if<Work>(&event.payload);
}

WorkKind kind_of(const Event& event) {
  if (const Work* work = find_work(event)) {
    return work->end.kind;
  }
  if (const auto* begin = std::get_if<WorkBegin>(&event.payload)) {
    return begin->kind;
  }
  if (const auto* shrink = std::get_if<LruShrink>(&event.payload)) {
    return shrink->part.kind;
  }
  if (const auto* write = std::get_if<ReclaimWrite>(&event.payload)) {
    return write->part.kind;
  }
  const auto* throttle = std::get_if<ReclaimThrottle>(&event.payload);
  return throttle == nullptr ? WorkKind::Other : throttle->part.kind;
}

std::uint64_t kind_word(const Event& event) {
  return static_cast<std::uint64_t>(kind_of(event));
}

Cell kind_cell(std::uint64_t word, const CellContext& /*context*/) {
  return std::string(name_of(static_cast<WorkKind>(word)));
}

std::uint64_t shrinker_word(const Event& event) {
  const bool is_shrink = kind_of(event) == WorkKind::SlabShrink;
  return is_shrink ? event.call_site.value : 0;
}

Cell shrinker_cell(std::uint64_t word, const CellContext& /*context*/) {
  return unless_invalid(LocationId{static_cast<std::uint32_t>(word)});
}

template <auto Member>
std::uint64_t begin_word(const Event& event) {
  const Work* work = find_work(event);
  return work == nullptr ? kUnknown : to_word(work->begin.*Member);
}

template <auto Member>
std::uint64_t end_word(const Event& event) {
  const Work* work = find_work(event);
  return work == nullptr ? kUnknown : to_word(work->end.*Member);
}

Cell number_cell(std::uint64_t word, const CellContext& /*context*/) {
  return when(word != kUnknown, word);
}

// No allocation has flags that are all 0 and reclaims: 0 is a work for no allocation.
std::uint64_t gfp_word(const Event& event) {
  const Work* work = find_work(event);
  return work == nullptr ? 0 : work->begin.gfp;
}

Cell gfp_cell(std::uint64_t word, const CellContext& context) {
  if (word == 0) {
    return {};
  }
  return context.gfp_flags.empty() ? fmt::format("0x{:x}", word)
                                   : print_flags(word, context.gfp_flags);
}

Cell mode_cell(std::uint64_t word, const CellContext& /*context*/) {
  return when(word != kUnknown, word == 0 ? "async" : "sync");
}

Cell named_cell(std::uint64_t word, std::span<const FlagName> names) {
  return when(word != kUnknown, name_of(static_cast<std::int64_t>(word), names));
}

Cell status_cell(std::uint64_t word, const CellContext& context) {
  return named_cell(word, own_context<WorkContext>(context).statuses);
}

Cell zone_cell(std::uint64_t word, const CellContext& context) {
  return named_cell(word, own_context<WorkContext>(context).zones);
}

// enum migrate_reason (include/linux/migrate_mode.h), as it has been since 3.10 but for what was
// added behind. The formats before TRACE_DEFINE_ENUM (4.1, RHEL 8) have the enum's words in place
// of the values.
constexpr auto kMigrationReasons = std::to_array<std::string_view>({"compaction",
                                                                    "memory_failure",
                                                                    "memory_hotplug",
                                                                    "syscall_or_cpuset",
                                                                    "mempolicy_mbind",
                                                                    "numa_misplaced"});

Cell reason_cell(std::uint64_t word, const CellContext& context) {
  const auto reasons = own_context<WorkContext>(context).reasons;
  const bool named = std::ranges::find(reasons, word, &FlagName::mask) != reasons.end();
  return word < kMigrationReasons.size() && !named ? Cell(std::string(kMigrationReasons.at(word)))
                                                   : named_cell(word, reasons);
}

// clang-format off
constexpr auto kWorkKeys = std::to_array<KeySpec>({
    {"kind", Unit::Text, kind_word, nullptr, kind_cell},
    {"shrinker", Unit::Text, shrinker_word, nullptr, shrinker_cell},
    {"order", Unit::Number, begin_word<&WorkBegin::order>, nullptr, number_cell},
    {"gfp", Unit::Text, gfp_word, nullptr, gfp_cell},
    {"node", Unit::Number, begin_word<&WorkBegin::node>, nullptr, number_cell},
    {"zone", Unit::Text, begin_word<&WorkBegin::zone>, nullptr, zone_cell},
    {"mode", Unit::Text, begin_word<&WorkBegin::sync>, nullptr, mode_cell},
    {"status", Unit::Text, end_word<&WorkEnd::status>, nullptr, status_cell},
    {"reason", Unit::Text, end_word<&WorkEnd::reason>, nullptr, reason_cell},
});

// clang-format on

}  // namespace

std::string_view name_of(WorkKind kind) {
  constexpr std::array<std::string_view, kWorkKinds + 1> kNames = {
      "direct", "memcg", "softlimit", "node", "slab", "kswapd", "compaction", "migration", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::span<const KeySpec> work_keys() {
  return kWorkKeys;
}

std::string name_of(std::int64_t number, std::span<const FlagName> names) {
  const auto found = std::ranges::find(names, static_cast<std::uint64_t>(number), &FlagName::mask);
  return found == names.end() ? std::to_string(number) : found->name;
}

std::vector<std::string> PairLosses::notes(const World& world) {
  std::uint64_t abandoned = 0;
  for (const WorkKind kind : kinds_) {
    abandoned += world.kernel_work().abandoned(kind);
  }
  std::uint64_t open = 0;
  for (const auto& [tid, works] : world.kernel_work().open()) {
    open += static_cast<std::uint64_t>(std::ranges::count_if(works, [&](const auto& work) {
      return work.begin.kind != WorkKind::Kswapd &&
             std::ranges::find(kinds_, work.begin.kind) != kinds_.end();
    }));
  }
  std::vector<std::string> notes;
  if (ends_ > 0) {
    notes.push_back(print_count(ends_) +
                    " began before the recording, or their begin was lost: their duration is not "
                    "known and not part of any time");
  }
  if (open > 0) {
    notes.push_back(print_count(open) +
                    " had not ended at the end: they are not part of any figure yet");
  }
  if (abandoned > abandoned_told_) {
    notes.push_back(print_count(abandoned - abandoned_told_) +
                    " began and their end was never seen: they are not part of any figure");
  }
  ends_ = 0;
  abandoned_told_ = abandoned;
  return notes;
}

void blank(Table& table, std::span<const std::string_view> columns) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (std::ranges::find(columns, table.columns[i].name) == columns.end()) {
      continue;
    }
    for (std::vector<Cell>& row : table.rows) {
      row[i] = {};
    }
  }
}

}  // namespace memtrace
