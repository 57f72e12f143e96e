#include "views/shared_nodes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/units.h"

namespace memtrace {
namespace {

// What sysfs said of the nodes (the reader "nodes").
class Nodes {
 public:
  explicit Nodes(const Observation* seen) : rows_(seen == nullptr ? kNone : seen->rows) {}

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

  inline static const std::vector<Facts> kNone;
  const std::vector<Facts>& rows_;
};

struct NodeCost {
  std::uint64_t count = 0;
  std::uint64_t local = 0;
  std::uint64_t remote = 0;
};

}  // namespace

void NodeFaults::on(const Event& event, const PageFault& fault) {
  if (fault.physical_address == 0) {
    unknown_ += event.weight;
    return;
  }
  faults_[{event.comm, event.cpu, fault.physical_address >> kPieceBits}] += event.weight;
}

Table NodeFaults::table(const World& world, std::vector<std::string>& notes) const {
  const Nodes nodes(world.observations().last("nodes"));
  std::map<std::pair<std::string, std::optional<std::uint64_t>>, NodeCost> rows;
  for (const auto& [key, count] : faults_) {
    const auto& [comm, cpu, piece] = key;
    const auto node = nodes.of_address(piece << kPieceBits);
    const auto cpu_node = nodes.of_cpu(cpu);
    NodeCost& cost = rows[{std::string(world.strings().at(comm)), node}];
    cost.count += count;
    cost.local += node && node == cpu_node ? count : 0;
    cost.remote += node && cpu_node && node != cpu_node ? count : 0;
  }
  Table table{
      .title = "page faults by the node of their page",
      .columns = {{"comm", Unit::Text}, {"node", Unit::Number}, {"faults"}, {"local"}, {"remote"}},
      .key_count = 2,
      .sort = "faults"};
  for (const auto& [key, cost] : rows) {
    const bool known = key.second.has_value();
    table.rows.push_back({key.first,
                          known ? Cell(*key.second) : Cell(),
                          cost.count,
                          known ? Cell(cost.local) : Cell(),
                          known ? Cell(cost.remote) : Cell()});
  }
  if (any() && nodes.count() == 0) {
    notes.emplace_back(
        "which memory belongs to which node is not known: the "
        "recording does not say");
  } else if (nodes.count() == 1) {
    notes.emplace_back("this machine has one node only: all its memory is local");
  }
  if (unknown_ > 0) {
    notes.push_back("of " + print_count(unknown_) +
                    " faults the kernel did not tell where their page lies");
  }
  return table;
}

}  // namespace memtrace
