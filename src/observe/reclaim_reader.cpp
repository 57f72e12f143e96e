// How much memory was free when a process had just reclaimed some itself, whose process it was, and
// which cgroup was full.
#include "observe/observed_cgroup.h"
#include "observe/proc_readers.h"

namespace memtrace::reclaim_reader {
namespace {

void read(const Event& event, const ProcFolder& proc, Observation& observation) {
  add_kilobytes(proc.read("meminfo"), "MemFree", "free", observation.facts);
  add_uid(proc.read(std::to_string(event.pid) + "/status"), "uid", observation.facts);
  if (std::get<Work>(event.payload).end.kind == WorkKind::MemcgReclaim) {
    add_full_cgroup(proc.read(std::to_string(event.pid) + "/cgroup"), observation.facts);
  }
}

bool wants(const Event& event) {
  const auto* work = std::get_if<Work>(&event.payload);
  return work != nullptr &&
         (work->end.kind == WorkKind::DirectReclaim || work->end.kind == WorkKind::MemcgReclaim);
}

}  // namespace
}  // namespace memtrace::reclaim_reader

namespace memtrace {

const ObservationReader observe_reclaim{
    .name = "reclaim", .wants = reclaim_reader::wants, .read = reclaim_reader::read};

}  // namespace memtrace
