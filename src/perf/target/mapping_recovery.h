// Mappings whose records may have been lost with others, and when to read them again from /proc: a
// full ring takes no record of a mapping either, and the kernel reports each mapping once.
#pragma once

#include <cstdint>
#include <set>

#include "perf/record/record.h"
#include "perf/record/record_builder.h"
#include "perf/target/proc_snapshot.h"

namespace memtrace {

class MappingRecovery {
 public:
  MappingRecovery(bool whole_machine, KeptMaps kept) : whole_machine_(whole_machine), kept_(kept) {}

  // One whose mappings matter.
  void watch(std::uint32_t pid) { pids_.insert(pid); }

  // Learns of processes, and of losses.
  void see(const Record& record);

  // While records are being lost, reading takes a small part of the time only.
  bool is_due(std::uint64_t now_ns) const { return in_doubt_ && now_ns >= not_before_ns_; }

  // Adds names and mappings as they are now.
  void read(RecordBuilder& records);

 private:
  void see_process(std::uint32_t pid);

  bool whole_machine_ = false;
  KeptMaps kept_ = KeptMaps::Executable;
  std::set<std::uint32_t> pids_;
  std::uint32_t last_pid_ = 0;
  bool in_doubt_ = false;
  std::uint64_t not_before_ns_ = 0;  // CLOCK_MONOTONIC
};

}  // namespace memtrace
