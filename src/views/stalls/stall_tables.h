// The tables of a report of stalls: who caused how much of whose, and what the causers did.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"
#include "views/kit/keyed_rows.h"
#include "views/kit/keys.h"
#include "views/stalls/stall_actors.h"
#include "views/stalls/stall_causes.h"

namespace memtrace {

// What the user asked for. The key kind is of the stall; the others are of both sides.
struct StallKeys {
  KeySet sides;
  bool has_kind = false;
};

// What an actor did in the span of the report.
struct ActorUse {
  std::uint64_t allocated = 0;   // pages
  std::uint64_t given_back = 0;  // of these, within the window
  std::uint64_t dirtied = 0;
};

// What happened to a victim.
struct VictimUse {
  std::uint64_t stalls = 0;
  std::uint64_t longest_ns = 0;
};

class StallTables {
 public:
  StallTables(const StallKeys& keys,
              const StallActors& actors,
              const StallCauses& causes,
              const CellContext& context);

  // A row for each aggressor and victim.
  Table causes() const;

  // A row for each victim: for what it waited.
  Table victims(const std::vector<VictimUse>& uses) const;

  // A row for each aggressor: what it did, and what it caused.
  Table aggressors(const std::vector<ActorUse>& uses) const;

  // Aggressors down, victims across. Without rows unless both are few and there is one key.
  Table matrix() const;

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  struct Cost {
    double time_ns = 0;
  };

  struct Waits {
    VictimUse use;
    std::array<double, kStallKinds> by_kind{};  // in nanoseconds
  };

  struct Deeds {
    double caused_ns = 0;
    double others_ns = 0;
    double background_ns = 0;
    double evicted_pages = 0;
    ActorUse use;
  };

  KeyedRows<Waits> waits(const std::vector<VictimUse>& uses) const;
  KeyedRows<Deeds> deeds(const std::vector<ActorUse>& uses) const;
  std::string column_name(const KeyWords& victim) const;
  KeyWords side_of(std::uint32_t actor) const;
  KeyWords both(const KeyWords& aggressor, const KeyWords& victim, StallKind kind) const;
  KeyWords part(const KeyWords& words, std::size_t first) const;
  void add_cells(const KeyWords& side, std::vector<Cell>& row) const;
  void add_columns(const char* side, Table& table) const;

  const StallKeys& keys_;
  const StallActors& actors_;
  const StallCauses& causes_;
  const CellContext& context_;
  KeyedRows<Cost> pairs_;  // aggressor, victim, kind; without background work
};

}  // namespace memtrace
