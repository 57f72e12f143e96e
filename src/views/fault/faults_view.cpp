// faults: page faults by stack and process: how they accessed memory, what served them and how long
// that took.
#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>

#include "base/units.h"
#include "views/fault/fault_cost.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_needs.h"
#include "views/fault/fault_trace.h"
#include "views/kit/group_by.h"
#include "views/kit/histogram.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/truth/vmstat_check.h"

namespace memtrace::faults_view {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({"stack",
                                                        "comm",
                                                        "pid",
                                                        "tid",
                                                        "access",
                                                        "class",
                                                        "kind",
                                                        "file",
                                                        "size",
                                                        "offset",
                                                        "mode",
                                                        "page",
                                                        "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({
    kHistOption,
    {"trace", "", "print a line for each fault as it happens, in place of the report"},
});

class Faults final : public View {
 public:
  Faults(const FaultKeys& keys, const ViewOptions& options)
      : user_(keys),
        kernel_(keys),
        pairing_(keys.shared(), [this](const Fault& fault) { count(fault); }),
        has_trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")),
        has_percentiles_(!options.without_percentiles) {
    if (has_trace_ && has_stacks_) {
      pairing_.keep_stacks();
    }
    if (options.own.contains(std::string(kHistOption.name))) {
      row_latency_.emplace(keys.size());
    }
  }

  Result<> check(const std::deque<EventType>& types) override {
    pairing_.check(types);
    return kDone;
  }

  void on(const Event& event, const World& world) override { pairing_.on(event, world); }

  Report finish(const World& world, Span span) override;
  Table take_lines(const World& world, Span span, Namer& namer) override;

 private:
  using Rows = GroupBy<FaultCost, FaultKeys>;

  bool by(std::string_view key) const { return user_.keys().has(key); }

  void count(const Fault& fault);
  std::vector<std::string> notes(const World& world) const;
  void check_sums(const FaultCost& shown, const World& world, Report& report) const;

  Rows user_;
  Rows kernel_;
  FaultPairing pairing_;
  ValueHistogram latency_;
  std::optional<KeyedHistograms> row_latency_;
  bool has_trace_ = false;
  bool has_stacks_ = false;  // of the lines
  bool has_percentiles_ = true;
  EventList<Fault> trace_;
};

void Faults::count(const Fault& fault) {
  const bool counts = !is_of_kernel(fault.entry) || by("mode");
  FaultCost& row = (counts ? user_ : kernel_).row(fault);
  if (has_percentiles_) {
    row += fault;
  } else {
    row.add_to_sums(fault);
  }
  if (counts && fault.latency_ns) {
    latency_.add(*fault.latency_ns, fault.weight);
    if (row_latency_) {
      row_latency_->add(user_.keys().of(fault), *fault.latency_ns, fault.weight);
    }
  }
  if (counts && has_trace_ && fault.count > 0) {  // else it was listed when it began
    trace_.add(fault);
  }
}

std::vector<std::string> Faults::notes(const World& world) const {
  const FaultEvents& seen = pairing_.seen();
  std::vector<std::string> notes;
  if (const std::uint64_t count = kernel_.total().count; count > 0) {
    notes.push_back(
        fmt::format("{} faults of kernel code that accessed user memory are not counted "
                    "here: --by mode shows them",
                    print_count(count)));
  }
  if (seen.any() && !seen.ends) {
    notes.emplace_back(
        "whether faults were minor or major is not known: the recording has neither minor-faults "
        "nor major-faults");
  }
  if (seen.any() && by("access") && !seen.error_codes) {
    notes.emplace_back(
        "whether faults read or wrote is not known: only exceptions:page_fault_user reports it");
  }
  if (by("class") || has_trace_) {
    const auto more = class_notes(seen, world);
    notes.insert(notes.end(), more.begin(), more.end());
  }
  if (seen.sampled) {
    notes.emplace_back(
        "only one in N events was sampled: entry and end of a fault are seldom both sampled, so "
        "access, class and latency together are known for few faults");
  }
  return notes;
}

// Of sampled faults, the begin and the end are seldom both there.
void Faults::check_sums(const FaultCost& shown, const World& world, Report& report) const {
  const FaultCost others = kernel_.total();
  VmstatCheck check(world);
  if (pairing_.seen().any() && !pairing_.seen().sampled) {
    check.add({.name = "all faults",
               .counted = shown.count + others.count,
               .counters = {"pgfault"},
               .hint = "accesses by the kernel without an exception (get_user_pages) are no "
                       "events, and before Linux 6.4 the counter has each try of a fault"});
  }
  if (pairing_.seen().ends && !pairing_.seen().sampled) {
    check.add({.name = "all major",
               .counted = shown.major + others.major,
               .counters = {"pgmajfault"},
               .hint = "the event has faults that were tried again, too, and the counter only "
                       "those that read"});
  }
  check.add_to(report);
}

Report Faults::finish(const World& world, Span span) {
  pairing_.report_open();
  const FaultEvents& seen = pairing_.seen();
  const FaultContext context = fault_context(seen, world, span);
  Report report{.view = "faults", .title = by("mode") ? "page faults" : "page faults of user code"};
  const FaultCost total = user_.total();
  report.totals = {{"count", Unit::Count, total.count}};
  if (seen.ends) {  // of any interval: the totals of a live view stay the same
    if (context.resident_known()) {
      report.totals.push_back({"resident", Unit::Bytes, total.resident_bytes});
    }
    report.totals.push_back({"minor", Unit::Count, total.minor});
    report.totals.push_back({"major", Unit::Count, total.major});
    report.totals.push_back({"time", Unit::Nanoseconds, total.latency.total_ns()});
  }
  Table& table = report.tables.emplace_back(std::move(user_).take_table(kFaultFigures, context));
  sort_by(table, "count");
  if (row_latency_) {
    row_latency_->move_into(
        table, {.title = "latency", .unit = Unit::Nanoseconds}, user_.keys(), context);
  }
  if (total.latency.count() > 0) {
    report.histograms.push_back(latency_.histogram("latency", Unit::Nanoseconds));
  }
  report.caveats.notes = notes(world);
  check_sums(total, world, report);
  user_.clear();
  kernel_.clear();
  latency_.clear();
  return report;
}

Table Faults::take_lines(const World& world, Span span, Namer& /*namer*/) {
  pairing_.report_failed();
  return fault_lines(trace_,
                     fault_context(pairing_.seen(), world, span),
                     {.mode = by("mode"), .stack = has_stacks_});
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Faults>(FaultKeys::choose(options, kKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "page faults: by stack, process and class, with their latency",
    .needs = kFaultNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_memory_map = true,
    .looks_at_stack_keys_only = true,
    .parts = kFaultParts,
    .handles = is_of_faults,
    .rests_on = is_fault_event,
    .make = make,
};

}  // namespace memtrace::faults_view
