#include "perf/target/mapping_recovery.h"

#include <algorithm>
#include <variant>

#include "os/system.h"

namespace memtrace {
namespace {

// Reading the mappings of a thousand processes takes a tenth of a second.
constexpr std::uint64_t kPauseForTime = 20;
constexpr std::uint64_t kShortestPauseNs = 100'000'000;

}  // namespace

void MappingRecovery::see_process(std::uint32_t pid) {
  if (!whole_machine_ && pid != last_pid_) {
    last_pid_ = pid;
    pids_.insert(pid);
  }
}

void MappingRecovery::see(const Record& record) {
  if (const auto* sample = std::get_if<Sample>(&record.payload)) {
    see_process(sample->pid);
  } else if (const auto* fork = std::get_if<Fork>(&record.payload)) {
    see_process(fork->pid);
  } else if (const auto* exit = std::get_if<Exit>(&record.payload)) {
    if (exit->pid == exit->tid) {
      pids_.erase(exit->pid);
      last_pid_ = 0;
    }
  } else if (const auto* lost = std::get_if<Lost>(&record.payload)) {
    in_doubt_ = in_doubt_ || lost->reason == LossReason::Kernel;
  }
}

void MappingRecovery::read(RecordBuilder& records) {
  const std::uint64_t start_ns = monotonic_ns();
  if (whole_machine_) {
    (void)snapshot_all_processes(records, kept_);  // without /proc there was nothing before either
  }
  for (const std::uint32_t pid : pids_) {
    snapshot_process(pid, records, kept_);
  }
  const std::uint64_t end_ns = monotonic_ns();
  in_doubt_ = false;
  not_before_ns_ = end_ns + std::max(kShortestPauseNs, kPauseForTime * (end_ns - start_ns));
}

}  // namespace memtrace
