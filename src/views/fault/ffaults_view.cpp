// ffaults: page faults by the file that is mapped where they happened, and where in the file.
#include <array>
#include <utility>

#include "base/units.h"
#include "views/fault/fault_cost.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_needs.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"

namespace memtrace::ffaults_view {
namespace {

constexpr std::uint64_t kDefaultRangeBytes = 65536;

constexpr auto kKeys = std::to_array<std::string_view>({"file",
                                                        "offset",
                                                        "kind",
                                                        "comm",
                                                        "pid",
                                                        "tid",
                                                        "class",
                                                        "access",
                                                        "mode",
                                                        "page",
                                                        "stack",
                                                        "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({
    kHistOption,
    {"range", "BYTES", "with --by offset: group in steps of BYTES (default 64K)"},
});

class FileFaults final : public View {
 public:
  FileFaults(const FaultKeys& keys, const ViewOptions& options)
      : rows_(keys),
        row_latency_(options, rows_.keys().size(), "latency", Unit::Nanoseconds),
        pairing_(keys.shared(), [this](const Fault& fault) { count(fault); }) {}

  Result<> check(const std::deque<EventType>& types) override {
    pairing_.check(types);
    return kDone;
  }

  void on(const Event& event, const World& world) override { pairing_.on(event, world); }

  Report finish(const World& world, Span span) override;

 private:
  void count(const Fault& fault) {
    rows_.row(fault) += fault;
    if (fault.latency_ns) {
      row_latency_.add(rows_.keys(), fault, *fault.latency_ns, fault.weight);
    }
    if (fault.place.kind == PlaceKind::File) {
      in_files_ += fault.count;
    }
  }

  GroupBy<FaultCost, FaultKeys> rows_;
  AskedHistograms row_latency_;
  FaultPairing pairing_;
  std::uint64_t in_files_ = 0;
};

Report FileFaults::finish(const World& world, Span span) {
  pairing_.report_open();
  const FaultEvents& seen = pairing_.seen();
  const FaultContext context = fault_context(seen, world, span);
  Report report{.view = "ffaults", .title = "page faults by file"};
  const FaultCost total = rows_.total();
  report.totals = {{"count", Unit::Count, total.count}, {"files", Unit::Count, in_files_}};
  if (seen.ends) {
    report.totals.push_back({"minor", Unit::Count, total.minor});
    report.totals.push_back({"major", Unit::Count, total.major});
  }
  Table& table = report.tables.emplace_back(rows_.table(kShortFaultFigures, context));
  sort_by(table, "count");
  row_latency_.move_into(table, rows_.keys(), context);
  report.inconclusive = !knows_places(world);
  report.caveats.notes = place_notes(seen, world);
  if (rows_.keys().has("class")) {
    const auto more = class_notes(seen, world);
    report.caveats.notes.insert(report.caveats.notes.end(), more.begin(), more.end());
  }
  rows_.clear();
  in_files_ = 0;
  return report;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  const auto given = options.own.find("range");
  const auto range_bytes =
      given == options.own.end() ? kDefaultRangeBytes : parse_bytes(given->second).value_or(0);
  if (range_bytes == 0) {
    return Error{"--range " + given->second,
                 0,
                 "takes a number of bytes, as in 64K, 1M or 4096",
                 ErrorKind::Usage};
  }
  auto keys = FaultKeys::choose(options, kKeys, range_bytes);
  if (!keys.ok()) {
    return keys.take_error();
  }
  return std::unique_ptr<View>(std::make_unique<FileFaults>(keys.value(), options));
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "page faults by file and offset; in memory without a file, by its kind",
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

}  // namespace memtrace::ffaults_view
