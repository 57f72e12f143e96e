#include "cli/probe_rate.h"

#include <fmt/core.h>

#include <vector>

#include "base/log.h"
#include "base/units.h"

namespace memtrace {
namespace {

constexpr std::chrono::milliseconds kCountedTime(1000);

// A pair of malloc and free takes 5.8 us more where three probes are hit for it (man
// memtrace-leaks, COST).
constexpr std::uint64_t kHitNs = 2000;

}  // namespace

std::string describe_probe_rate(const HitRate& rate) {
  constexpr std::uint64_t kPercentNs = 10'000'000;  // of a second
  const std::uint64_t per_second = rate.per_second();
  return fmt::format(
      "programs hit the probes {} times a second (counted for {:.1f} s); at about 2 us a hit "
      "this costs them {} % of a CPU",
      print_count(per_second),
      std::chrono::duration<double>(rate.span).count(),
      per_second * kHitNs / kPercentNs);
}

Result<> ask_for_all_processes(const Target& target,
                               std::span<const EventRequest> events,
                               const ProbesOfAll& asked) {
  if (asked.is_wanted && asked.is_limited) {
    return kDone;
  }
  std::vector<EventRequest> probes;
  for (const EventRequest& event : events) {
    if (!event.probed_file.empty()) {
      probes.push_back(event);
    }
  }
  if (target.kind != TargetKind::System || probes.empty()) {
    return kDone;
  }
  const auto rate = count_hits(probes, kCountedTime);
  if (rate.ok()) {
    inform(describe_probe_rate(rate.value()));
  } else {
    warn("the hits of the probes could not be counted: " + describe(rate.error()));
  }
  if (asked.is_wanted) {
    return kDone;
  }
  return Error{
      "this sets probes on the code of every process of the machine, and slows down each process "
      "that calls it",
      0,
      "give --yes-all-processes instead of -a if the rate is bearable; or watch some with -p PID, "
      "-t TID or -- COMMAND; for the kernel's memory use kleaks, slab or pages",
      ErrorKind::Usage};
}

}  // namespace memtrace
