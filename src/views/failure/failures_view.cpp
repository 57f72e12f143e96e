// failures: why memory was refused: system calls, allocations of the kernel, OOM kills; each with
// the limit that was passed, by how much, and what would have to change.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "state/mapping/refused_memory.h"
#include "views/failure/failure_rows.h"
#include "views/failure/page_failures.h"
#include "views/kit/group_by.h"
#include "views/kit/make_view.h"
#include "views/mapping/call_names.h"
#include "views/mapping/call_trace.h"
#include "views/mapping/refused_calls.h"
#include "views/oom/oom_kills.h"
#include "views/reason/call_reasons.h"
#include "views/reason/kill_reasons.h"

namespace memtrace::failures_view {
namespace {

constexpr auto kOtherNeeds =
    std::to_array<std::string_view>({"kmem:mm_page_alloc|",
                                     "kmem:kmalloc|",
                                     "kmem:kmalloc_node|",
                                     "oom:mark_victim|signal:signal_generate|"});

constexpr auto kNeeds = [] {
  std::array<std::string_view, kRefusedCallNeeds.size() + kOtherNeeds.size()> needs{};
  std::ranges::copy(kOtherNeeds, std::ranges::copy(kRefusedCallNeeds, needs.begin()).out);
  return needs;
}();

// A page is a pfn, or the address of its struct page before 4.4 and on RHEL 7.
constexpr auto kParts = std::to_array<EventNarrowing>({
    {"kmem:mm_page_alloc", "pfn == 0xffffffffffffffff"},
    {"kmem:mm_page_alloc", "page == 0"},
    {"kmem:kmalloc", "ptr == 0"},
    {"kmem:kmalloc_node", "ptr == 0"},
    {"signal:signal_generate", "sig == 9"},
});

constexpr auto kKeys = std::to_array<std::string_view>({"stack", "comm", "pid", "tid", "cpu"});

constexpr auto kOptions = std::to_array<ViewOption>(
    {{"past", "", "show what the kernel's log still has, or FILE..., - for stdin"}});

struct FailureCost {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

constexpr auto kFigures = std::to_array<Figure<FailureCost>>({
    figure<&FailureCost::count>("count"),
    figure_unless_zero<&FailureCost::bytes>("asked", Unit::Bytes),
});

class Failures final : public View {
 public:
  Failures(KeySet keys, const ViewOptions& options)
      : stacks_(std::move(keys)), page_bytes_(options.page_size_bytes) {}

  Result<> check(const std::deque<EventType>& types) override;
  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;
  void complete(Report& report, Namer& namer) override;

 private:
  void on_call(const Event& event, const SystemCallDone& done, const World& world);
  void on_request(const Event& event, const BlockRequest& request, const World& world);
  void add(const Event& event, Failure failure, const World& world);

  FailureRows rows_;
  GroupBy<FailureCost> stacks_;
  FieldNames gfp_flags_ = gfp_flag_names();
  std::vector<OomKill> kills_;
  std::optional<Observation> last_blocks_;
  std::uint64_t page_bytes_ = 0;
  std::uint64_t start_ns_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t allocations_ = 0;
  bool uses_signals_ = false;
  bool sees_pages_ = false;
  bool sees_calls_ = false;
};

Result<> Failures::check(const std::deque<EventType>& types) {
  const auto has = [&types](std::string_view name) {
    return std::ranges::find(types, name, &EventType::name) != types.end();
  };
  uses_signals_ = has("signal:signal_generate") && !has("oom:mark_victim");
  sees_pages_ = has("kmem:mm_page_alloc");
  sees_calls_ = std::ranges::any_of(
      types, [](const EventType& type) { return is_exit_of(type, kRefusedCalls); });
  return kDone;
}

void Failures::on(const Event& event, const World& world) {
  gfp_flags_.learn(*event.type);
  if (const auto* done = std::get_if<SystemCallDone>(&event.payload)) {
    if (was_refused_memory(*done)) {
      on_call(event, *done, world);
    }
  } else if (std::holds_alternative<OomVictim>(event.payload)) {
    kills_.push_back(killed_by_mark(event, world));
  } else if (uses_signals_ && is_fatal_signal(event)) {
    kills_.push_back(killed_by_signal(event, world));
  } else if (const auto request = failed_request(event, page_bytes_, gfp_flags_.names())) {
    on_request(event, *request, world);
  }
}

// The size of the address space is not in /proc any more when the process has ended.
void Failures::on_call(const Event& event, const SystemCallDone& done, const World& world) {
  const Observation* seen = world.observations().find("limits", event.time_ns, event.tid);
  Facts facts = seen == nullptr ? Facts() : seen->facts;
  const MemoryMap* map = world.memory_maps().of(event.pid);
  if (!facts.empty() && map != nullptr && map->areas().covered() > 0) {
    facts.numbers.try_emplace("vm_size", map->areas().covered());
  }
  std::vector<Reason> reasons = reasons_of(done, facts);
  if (reasons.empty()) {
    reasons.push_back(unexplained(done, &facts));
  }
  calls_ += event.weight;
  stacks_.row(event) +=
      {.count = event.weight, .bytes = event.weight * asked_bytes(done).value_or(0)};
  for (Reason& reason : reasons) {
    add(event,
        {.kind = "call", .what = std::string(name_of(done.call)), .reason = std::move(reason)},
        world);
  }
}

void Failures::on_request(const Event& event, const BlockRequest& request, const World& world) {
  const Observation* seen = world.observations().find("free_blocks", event.time_ns, event.tid);
  if (seen != nullptr) {
    last_blocks_ = *seen;
  }
  allocations_ += event.weight;
  stacks_.row(event) += {.count = event.weight, .bytes = event.weight * request.bytes};
  std::string what =
      request.object.empty() ? "order " + std::to_string(request.order) : request.object;
  add(event, {.kind = "pages", .what = std::move(what), .reason = reason_of(request, seen)}, world);
}

void Failures::add(const Event& event, Failure failure, const World& world) {
  failure.comm = event.comm.valid() ? std::string(world.strings().at(event.comm)) : "";
  failure.pid = event.pid;
  failure.count = event.weight;
  failure.last_ns = event.time_ns;
  rows_.add(std::move(failure));
}

Report Failures::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span, .gfp_flags = gfp_flags_.names()};
  start_ns_ = span.start_ns;
  Report report{.view = "failures", .title = "memory that was refused"};
  report.tables.push_back(rows_.table(start_ns_));  // complete() adds the kills
  Table& stacks = report.tables.emplace_back(stacks_.table(kFigures, context));
  stacks.title = "calls and allocations " + stacks.title;
  sort_by(stacks, "count");
  if (last_blocks_) {
    report.tables.push_back(free_block_table(*last_blocks_));
  }
  if (!sees_calls_) {
    report.caveats.notes.emplace_back(
        "system calls that were refused are not known: they were not recorded");
  }
  if (!sees_pages_) {
    report.caveats.notes.emplace_back(
        "allocations of the kernel that failed are not known: kmem:mm_page_alloc was not recorded");
  }
  stacks_.clear();
  last_blocks_.reset();
  return report;
}

// Only the functions on a kill's stack show whether a cgroup or the machine was full.
void Failures::complete(Report& report, Namer& namer) {
  for (OomKill& kill : kills_) {
    judge(kill, namer, uses_signals_);
    if (!kill.by_killer) {
      continue;
    }
    const KillFacts facts{.trigger = kill.trigger,
                          .domain = kill.domain,
                          .held = kill.memory.anon_bytes,
                          .seen = kill.seen ? &*kill.seen : nullptr};
    rows_.add({.kind = "kill",
               .what = "OOM kill",
               .comm = kill.victim,
               .pid = kill.victim_pid,
               .reason = reason_of(facts),
               .count = 1,
               .last_ns = kill.time_ns});
  }
  report.tables.front() = rows_.table(start_ns_);
  report.totals = {{"calls", Unit::Count, calls_},
                   {"allocations", Unit::Count, allocations_},
                   {"kills", Unit::Count, rows_.count("kill")}};
  rows_.clear();
  kills_.clear();
  calls_ = allocations_ = 0;
}

bool handles(const EventType& type) {
  return is_exit_of(type, kRefusedCalls) ||
         std::ranges::any_of(kOtherNeeds, [&type](std::string_view need) {
           return need.find(type.name + "|") != std::string_view::npos;
         });
}

// Of allocations alone, most recordings have those that succeeded.
bool rests_on(const EventType& type) {
  return is_exit_of(type, kRefusedCalls) || type.name == "oom:mark_victim";
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Failures>(KeySet::choose(options, kKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "why memory was refused: the limit that was passed, by how much, what to change",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_memory_map = true,
    .needs_call_stacks = true,
    .needs_promptness = true,
    .judges_kernel_stacks = true,
    .parts = kParts,
    .handles = handles,
    .rests_on = rests_on,
    .make = make,
};

}  // namespace memtrace::failures_view
