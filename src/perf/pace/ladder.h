// The periods that an event may have while its programs are to lose no more than a share of their
// time. The kernel changes the period of an open event (PERF_EVENT_IOC_PERIOD), but not that of the
// copies which children have inherited (perf_event_period(), kernel/events/core.c), and no sample
// says which period it was made with. So each period is an event of its own, and one of them is
// enabled. They are primes: a program that allocates 16 bytes and then 4096, again and again, would
// have all its samples of one kind with an even period.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "perf/event/event_attr.h"

namespace memtrace {

inline constexpr auto kPeriods = std::to_array<std::uint64_t>({1, 5, 17, 67, 257, 1031});

// The one that is enabled with a command, of which nobody knows yet what it will do.
inline constexpr std::size_t kFirstRung = 2;

// An event of which one in N hits says as much: no probe, no half of a pair, nothing that is only
// counted, and nothing that the table of mappings needs.
bool may_be_sampled(const EventRequest& request);

// Where counting alone costs too much, the event of this period is enabled in windows only,
// one slot of each cycle (perf/pace/event_gates.h). A counted hit costs some 90 ns
// and a sample 3 us: with this period the samples cost half of what the counting costs.
inline constexpr std::size_t kWindowRung = 3;
inline constexpr auto kWindowShares = std::to_array<std::uint64_t>({2, 4, 8, 16, 32, 64, 128, 256});
inline constexpr std::uint64_t kCycleNs = 100'000'000;

// A user probe traps at each hit, recorded or not. Where that costs too much, the probe is there in
// windows only, one of each such cycle (perf/pace/probe_windows.h). The shares leave windows of
// some milliseconds even where traps take all but a fiftieth of the programs' time.
inline constexpr auto kProbeShares =
    std::to_array<std::uint64_t>({32, 64, 128, 256, 512, 1024, 2048, 4096});
inline constexpr std::uint64_t kProbeCycleNs = 1'000'000'000;

// A user probe that can be opened for tasks while it is registered: tracefs defines it.
bool may_have_windows(const EventRequest& request);

// Each event that may be sampled, once for each period, and once for each share of windows. Each
// user probe that may have windows, once as it is, and once for each share. The others as they are.
std::vector<EventRequest> with_all_periods(const std::vector<EventRequest>& requests);

}  // namespace memtrace
