// What views of reclaim, compaction and migration share: names of the kinds of work, keys, and the
// sentences about works of which only the begin or only the end was seen.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/kit/keys.h"

namespace memtrace {

// "direct", "memcg", "softlimit", "node", "slab", "kswapd", "compaction", "migration", "other".
std::string_view name_of(WorkKind kind);

// What a view with work_keys() hands out. Names of numbers, as the formats of events have them.
struct WorkContext : CellContext {
  std::span<const FlagName> statuses = {};
  std::span<const FlagName> zones = {};
  std::span<const FlagName> reasons = {};
};

// Keys of events that are works or parts of a reclaim: kind, shrinker, order, gfp, node, zone,
// mode, status, reason.
std::span<const KeySpec> work_keys();

// The number itself where it has no name.
std::string name_of(std::int64_t number, std::span<const FlagName> names);

// Works of which one side is missing, reported once: an interval's notes do not repeat the last
// one's.
class PairLosses {
 public:
  explicit PairLosses(std::span<const WorkKind> kinds) : kinds_(kinds) {}

  // True when the work is whole.
  bool take(const Work& work, std::uint64_t weight) {
    ends_ += work.has_begin ? 0 : weight;
    return work.has_begin;
  }

  std::vector<std::string> notes(const World& world);

 private:
  std::span<const WorkKind> kinds_;
  std::uint64_t ends_ = 0;
  std::uint64_t abandoned_told_ = 0;
};

// Empties columns whose events were not recorded: not 0 but unknown.
void blank(Table& table, std::span<const std::string_view> columns);

}  // namespace memtrace
