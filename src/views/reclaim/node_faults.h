// Page faults by the NUMA node that their page lies on, whether that is the node of the CPU, and
// whether the access was to read or to write.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash_map.h"
#include "report/report.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// Faults are kept by place until it is known which node that is: nodes are read at the end.
class NodeFaults {
 public:
  // The fault's entry has the access, its end the page.
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
  // No node begins or ends inside of such a piece of memory: its blocks are larger.
  static constexpr unsigned kPieceBits = 24;

  struct Place {
    StringId comm;
    std::uint32_t pid = 0;
    std::uint32_t cpu = 0;
    std::uint64_t piece = 0;  // of the page's physical address

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  struct Count {
    std::uint64_t reads = 0, writes = 0, others = 0;
  };

  std::map<Place, Count> faults_;
  HashMap<std::uint32_t, bool> is_write_;  // by thread: its fault that has not ended
  bool accesses_known_ = false;
  std::uint64_t unknown_ = 0;  // no page was there any more when the kernel looked
};

}  // namespace memtrace
