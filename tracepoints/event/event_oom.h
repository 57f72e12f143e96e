// Payloads of OOM kills.
#pragma once

#include <cstdint>
#include <string_view>

namespace memtrace {

// oom:mark_victim. Before 6.9 and its backports it has the pid alone.
struct OomVictim {
  std::uint32_t pid = 0;
  bool has_memory = false;  // the fields below
  std::string_view comm;
  std::uint64_t total_vm_bytes = 0;
  std::uint64_t anon_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t shmem_bytes = 0;
  std::uint64_t page_table_bytes = 0;
  std::uint32_t uid = 0;
  std::int32_t oom_score_adj = 0;
};

// signal:signal_generate: pid is the thread that the signal is sent to.
struct SignalSent {
  std::int32_t signal = 0;
  std::uint32_t pid = 0;
  std::int32_t result = 0;  // 0: delivered, else ignored or already there
  std::string_view comm;
};

}  // namespace memtrace
