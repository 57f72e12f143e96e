// Page faults one by one, in the order in which they began.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"
#include "views/fault/fault_pairing.h"
#include "views/view.h"

namespace memtrace {

class FaultTrace {
 public:
  void add(const Fault& fault);

  // Starts again with nothing. has_mode: whether they are of user or kernel code is a column.
  Table take(const CellContext& context, bool has_mode);

  // Faults since the last take() for which there was no room.
  std::uint64_t unlisted() const { return unlisted_; }

 private:
  std::vector<Fault> faults_;
  std::uint64_t unlisted_ = 0;
};

}  // namespace memtrace
