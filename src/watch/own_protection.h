// Keeps memtrace itself alive and quick while the machine has no memory left.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace memtrace {

// Memory that malloc has and gives out without asking the kernel. Other code gives what is free
// back to the system, so it is taken again now and then.
class HeapReserve {
 public:
  explicit HeapReserve(std::size_t size_bytes);

  // Touches that much memory and frees it again, for malloc to keep.
  void refill() const;

 private:
  std::size_t size_bytes_;
};

// The OOM killer passes over this process, and its memory is neither swapped nor read again from
// files. Returns what the kernel refused, in sentences.
std::vector<std::string> protect_from_oom();

// Anonymous memory of this process; 0: not known.
std::size_t own_anonymous_bytes();

}  // namespace memtrace
