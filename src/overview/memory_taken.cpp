#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "overview/what_happened.h"
#include "views/view.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecondsBeforeNs = 10'000'000'000;
constexpr std::uint32_t kHugeOrder = 9;

constexpr auto kTakenNeeds =
    std::to_array<std::string_view>({"exceptions:page_fault_user|page-faults"});
constexpr auto kTakenKeys = std::to_array<std::string_view>({"comm"});

// A page for each fault: those of files are not told apart from new ones. A huge page comes with an
// event of its own.
std::uint64_t bytes_of(const Event& event, std::uint64_t page_bytes) {
  if (const auto* fault = std::get_if<PageFault>(&event.payload)) {
    return fault->stage == FaultStage::Entry ? event.weight * page_bytes : 0;
  }
  const auto* alloc = std::get_if<PageAlloc>(&event.payload);
  const bool is_huge = alloc != nullptr && !alloc->failed && alloc->order >= kHugeOrder;
  return is_huge ? event.weight * (page_bytes << alloc->order) : 0;
}

class MemoryTaken final : public View {
 public:
  MemoryTaken(std::uint64_t until_ns, std::uint64_t page_bytes)
      : until_ns_(until_ns), page_bytes_(page_bytes) {}

  void on(const Event& event, const World& world) override {
    const std::uint64_t from_ns = until_ns_ - std::min(until_ns_, kSecondsBeforeNs);
    const std::uint64_t bytes = bytes_of(event, page_bytes_);
    if (event.time_ns > until_ns_ || event.time_ns < from_ns || bytes == 0) {
      return;
    }
    Taken& taken = by_process_[{std::string(world.strings().at(event.comm)), event.pid}];
    taken.bytes += bytes;
    taken.by_stack[event.stack.id()] += bytes;
  }

  Report finish(const World& /*world*/, Span /*span*/) override {
    Table table{.columns = {{"comm", Unit::Text},
                            {"pid", Unit::Number},
                            {"stack", Unit::Stack},
                            {"bytes", Unit::Bytes}},
                .key_count = 3};
    for (const auto& [process, taken] : by_process_) {
      const auto largest = std::ranges::max_element(
          taken.by_stack, {}, [](const auto& entry) { return entry.second; });
      table.rows.push_back(
          {process.first, std::uint64_t{process.second}, largest->first, taken.bytes});
    }
    Report report{.view = "memory_taken"};
    report.tables.push_back(std::move(table));
    return report;
  }

 private:
  struct Taken {
    std::uint64_t bytes = 0;
    std::map<StackId, std::uint64_t> by_stack;
  };

  std::uint64_t until_ns_;
  std::uint64_t page_bytes_;
  std::map<std::pair<std::string, std::uint32_t>, Taken> by_process_;
};

bool handles(const EventType& type) {
  return type.name.starts_with("exceptions:page_fault_") || type.name == "page-faults" ||
         type.name == "kmem:mm_page_alloc";
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  const auto until = options.own.find(kTakenUntil);
  const std::uint64_t until_ns =
      until == options.own.end() ? 0 : parse_number(until->second).value_or(0);
  return std::unique_ptr<View>(std::make_unique<MemoryTaken>(until_ns, options.page_size_bytes));
}

constinit const ViewSpec spec{
    .summary = "Memory that was touched first in the seconds before a trigger",
    .needs = kTakenNeeds,
    .keys = kTakenKeys,
    .always_shows_stacks = true,
    .handles = handles,
    .make = make,
};

}  // namespace

constinit const NamedView memory_taken{"memory_taken", spec};

}  // namespace memtrace
