// What page faults add up to in one row, and the columns that most views of faults have.
#pragma once

#include <array>
#include <cstdint>

#include "views/fault/fault_keys.h"
#include "views/fault/fault_pairing.h"
#include "views/kit/durations.h"
#include "views/kit/group_by.h"

namespace memtrace {

struct FaultCost {
  std::uint64_t count = 0;
  std::uint64_t minor = 0;
  std::uint64_t major = 0;
  std::uint64_t resident_bytes = 0;
  Durations latency = {};

  FaultCost& operator+=(const Fault& fault) {
    add_to_sums(fault);
    if (fault.latency_ns) {
      latency.add_to_percentiles(*fault.latency_ns, fault.weight);
    }
    return *this;
  }

  // All but percentiles.
  void add_to_sums(const Fault& fault) {
    count += fault.count;
    minor += fault.end == FaultEnd::Minor ? fault.weight : 0;
    major += fault.end == FaultEnd::Major ? fault.weight : 0;
    resident_bytes += fault.resident_bytes * fault.weight;
    if (fault.latency_ns) {
      latency.add_to_sums(*fault.latency_ns, fault.weight);
    }
  }
};

using FaultFigure = Figure<FaultCost, FaultContext>;

// Latencies are blank when no fault of the row had both its entry and its end.
inline constexpr auto kFaultFigures = std::to_array<FaultFigure>({
    figure<&FaultCost::count>("count"),
    figure_if<&FaultContext::resident_known, &FaultCost::resident_bytes>("resident", Unit::Bytes),
    figure_if<&FaultContext::ends_seen, &FaultCost::minor>("minor"),
    figure_if<&FaultContext::ends_seen, &FaultCost::major>("major"),
    latency_figure<&FaultCost::latency, &Durations::total_ns>("time"),
    latency_figure<&FaultCost::latency, &Durations::average_ns>("avg"),
    percentile_figure<&FaultCost::latency, 50>("p50"),
    percentile_figure<&FaultCost::latency, 99>("p99"),
    latency_figure<&FaultCost::latency, &Durations::max_ns>("max"),
});

// The same with fewer columns, where names of files need the room.
inline constexpr auto kShortFaultFigures = std::to_array<FaultFigure>({
    kFaultFigures[0],
    kFaultFigures[2],
    kFaultFigures[3],
    kFaultFigures[4],
    kFaultFigures[5],
    kFaultFigures[7],
    kFaultFigures[8],
});

}  // namespace memtrace
