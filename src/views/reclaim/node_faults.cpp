#include "views/reclaim/node_faults.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/units.h"
#include "views/kit/cells.h"

namespace memtrace {
namespace {

// X86_PF_WRITE (arch/x86/include/asm/trap_pf.h); riscv gives its cause in the same field and has
// no such bit.
constexpr std::uint64_t kWriteAccess = 2;

// What sysfs said of the nodes (the reader "nodes").
class Nodes {
 public:
  explicit Nodes(const Observation* seen) : rows_(seen == nullptr ? none : seen->rows) {}

  std::optional<std::uint64_t> of_address(std::uint64_t physical_address) const {
    return find([physical_address](const Facts& row) {
      const auto* start = row.number("start");
      const auto* limit = row.number("limit");
      return start != nullptr && limit != nullptr && physical_address >= *start &&
             physical_address < *limit;
    });
  }

  std::optional<std::uint64_t> of_cpu(std::uint32_t cpu) const {
    return find([cpu](const Facts& row) {
      const auto* number = row.number("cpu");
      return number != nullptr && *number == cpu;
    });
  }

  std::size_t count() const {
    std::map<std::uint64_t, bool> nodes;
    for (const Facts& row : rows_) {
      if (const auto* node = row.number("node")) {
        nodes[*node] = true;
      }
    }
    return nodes.size();
  }

 private:
  template <typename Matches>
  std::optional<std::uint64_t> find(Matches matches) const {
    const auto row = std::ranges::find_if(rows_, matches);
    const auto* node = row == rows_.end() ? nullptr : row->number("node");
    return node == nullptr ? std::nullopt : std::optional(*node);
  }

  inline static const std::vector<Facts> none;
  const std::vector<Facts>& rows_;
};

struct NodeRow {
  std::string comm;
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> node;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
  friend auto operator<=>(const NodeRow&, const NodeRow&) = default;
};

struct NodeCost {
  std::uint64_t count = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t local = 0;
  std::uint64_t remote = 0;
};

}  // namespace

void NodeFaults::on(const Event& event, const PageFault& fault) {
  if (fault.stage == FaultStage::Entry) {
    accesses_known_ = accesses_known_ || fault.has_error_code;
    is_write_[event.tid] = (fault.error_code & kWriteAccess) != 0;
    return;
  }
  const auto access = is_write_.find(event.tid);
  const bool is_known = access != is_write_.end();
  const bool is_write = is_known && access->second;
  is_write_.erase(event.tid);
  if (fault.physical_address == 0) {
    unknown_ += event.weight;
    return;
  }
  Count& count = faults_[{event.comm, event.pid, event.cpu, fault.physical_address >> kPieceBits}];
  (!is_known ? count.others : is_write ? count.writes : count.reads) += event.weight;
}

Table NodeFaults::table(const World& world, std::vector<std::string>& notes) const {
  const Nodes nodes(world.observations().last("nodes"));
  std::map<NodeRow, NodeCost> rows;
  for (const auto& [place, each] : faults_) {
    const std::uint64_t count = each.reads + each.writes + each.others;
    const auto node = nodes.of_address(place.piece << kPieceBits);
    const auto cpu_node = nodes.of_cpu(place.cpu);
    NodeCost& cost = rows[{std::string(world.strings().at(place.comm)), place.pid, node}];
    cost.count += count;
    cost.reads += each.reads;
    cost.writes += each.writes;
    cost.local += node && node == cpu_node ? count : 0;
    cost.remote += node && cpu_node && node != cpu_node ? count : 0;
  }
  Table table{.title = "page faults by the node of their page",
              .columns = {{"comm", Unit::Text},
                          {"pid", Unit::Number},
                          {"node", Unit::Number},
                          {"faults"},
                          {"reads"},
                          {"writes"},
                          {"local"},
                          {"remote"}},
              .key_count = 3,
              .sort = "faults"};
  for (const auto& [row, cost] : rows) {
    const bool known = row.node.has_value();
    table.rows.push_back({row.comm,
                          std::uint64_t{row.pid},
                          when(row.node),
                          cost.count,
                          when(accesses_known_, cost.reads),
                          when(accesses_known_, cost.writes),
                          when(known, cost.local),
                          when(known, cost.remote)});
  }
  if (any() && nodes.count() == 0) {
    notes.emplace_back(
        "the node of a page is not known: the recording does not have the nodes' memory ranges");
  } else if (nodes.count() == 1) {
    notes.emplace_back("this machine has only one node: all memory is local");
  }
  if (unknown_ > 0) {
    notes.push_back("the kernel did not report the page of " + print_count(unknown_) + " faults");
  }
  return table;
}

}  // namespace memtrace
