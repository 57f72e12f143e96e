// Page faults by the NUMA node that their page lies on, and whether that is the
// node of the CPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "report/report.h"
#include "state/world.h"
#include "tracepoints/event.h"

namespace memtrace {

// Faults are kept by place until it is known which node that is: nodes are read
// at the end.
class NodeFaults {
 public:
  void on(const Event& event, const PageFault& fault);

  // By process and node. Adds sentences about what is not known.
  Table table(const World& world, std::vector<std::string>& notes) const;

  // False without physical addresses: events of other views, that say nothing of nodes.
  bool any() const { return !faults_.empty(); }

  void clear() {
    faults_.clear();
    unknown_ = 0;
  }

 private:
  // No node begins or ends inside of such a piece of memory: its blocks are
  // larger.
  static constexpr unsigned kPieceBits = 24;

  std::map<std::tuple<StringId, std::uint32_t, std::uint64_t>, std::uint64_t> faults_;  // comm, CPU
  std::uint64_t unknown_ = 0;  // no page was there any more when the kernel looked
};

}  // namespace memtrace
