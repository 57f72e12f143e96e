// faults: page faults by stack and process, how they accessed memory and how they ended.
#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "views/group_by.h"
#include "views/shared_fault_keys.h"

namespace memtrace {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "comm", "pid", "tid", "access", "class", "mode", "page", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>(
    {"exceptions:page_fault_user|page-faults", "minor-faults", "major-faults"});

struct FaultCost {
  std::uint64_t count = 0;
  std::uint64_t minor = 0;
  std::uint64_t major = 0;

  FaultCost& operator+=(const FaultCost& other) {
    count += other.count;
    minor += other.minor;
    major += other.major;
    return *this;
  }

  bool empty() const { return count == 0 && minor == 0 && major == 0; }
};

Cell if_known(std::uint64_t faults, const CellContext& context) {
  return context.fault_ends_seen ? Cell(faults) : Cell();
}

constexpr auto kFigures = std::to_array<Figure<FaultCost>>({
    {"count", Unit::Count, [](const FaultCost& c, const CellContext&) { return Cell(c.count); }},
    {"minor",
     Unit::Count,
     [](const FaultCost& c, const CellContext& x) { return if_known(c.minor, x); }},
    {"major",
     Unit::Count,
     [](const FaultCost& c, const CellContext& x) { return if_known(c.major, x); }},
});

// One fault is up to three events of one thread, which this view counts once:
//
//   exceptions:page_fault_user   entry: error code          (x86, riscv)
//   page-faults                  entry: address alone       (every kernel)
//   minor-faults | major-faults  end; none when it failed   (every kernel)
//
// An entry is counted at once and as Open; the events that follow it move it to its proper row. So
// a fault that is under way when an interval ends counts in that interval, its end in the next.
class Faults final : public View {
 public:
  explicit Faults(KeySet keys)
      : user_(keys),
        kernel_(keys),
        access_index_(keys.index_of("access")),
        class_index_(keys.index_of("class")),
        by_mode_(keys.index_of("mode").has_value()) {}

  void on(const Event& event, const World& /*world*/) override {
    const auto* fault = std::get_if<PageFault>(&event.payload);
    if (fault == nullptr) {
      return;
    }
    sampled_ = sampled_ || event.weight > 1;
    if (fault->stage == FaultStage::Entry) {
      on_entry(event, *fault);
    } else {
      on_end(event, *fault);
    }
  }

  Report finish(const World& world, Span span) override;

 private:
  using Rows = GroupBy<FaultCost>;

  // The newest entry of a thread that has not ended.
  struct Pending {
    KeyWords keys;
    std::uint64_t page = 0;
    std::uint64_t weight = 0;
    bool in_kernel = false;
    bool exception_seen = false;
    bool software_seen = false;
    bool reported = false;  // its row was part of an earlier report
  };

  Rows& rows(bool kernel) { return kernel && !by_mode_ ? kernel_ : user_; }

  void on_entry(const Event& event, const PageFault& fault);
  void on_end(const Event& event, const PageFault& fault);
  bool is_same_fault(const Pending& pending, const PageFault& fault) const;
  void move(Pending& pending, std::optional<std::size_t> key_index, std::uint64_t word);
  std::vector<std::string> notes() const;

  Rows user_;
  Rows kernel_;
  tsl::robin_map<std::uint32_t, Pending> pending_;  // by tid
  std::optional<std::size_t> access_index_;
  std::optional<std::size_t> class_index_;
  bool by_mode_ = false;
  bool sampled_ = false;
  bool ends_seen_ = false;
  bool error_codes_seen_ = false;
  std::array<bool, 2> entries_seen_{};  // of user mode, of kernel mode
};

// The other of the two entry events, for the same page, with no end in between.
bool Faults::is_same_fault(const Pending& pending, const PageFault& fault) const {
  const bool seen = fault.has_error_code ? pending.exception_seen : pending.software_seen;
  return pending.page == page_of(fault) && !seen;
}

void Faults::on_entry(const Event& event, const PageFault& fault) {
  const bool kernel = is_of_kernel(fault);
  entries_seen_[kernel ? 1 : 0] = true;
  error_codes_seen_ = error_codes_seen_ || fault.has_error_code;
  const auto [found, is_new] = pending_.try_emplace(event.tid);
  Pending& pending = found.value();
  if (!is_new && is_same_fault(pending, fault)) {
    if (fault.has_error_code) {
      move(pending, access_index_, static_cast<std::uint64_t>(access_of(fault)));
    }
  } else {
    pending = {.keys = user_.keys().of(event),
               .page = page_of(fault),
               .weight = event.weight,
               .in_kernel = kernel};
    rows(kernel).row_at(pending.keys).count += event.weight;
  }
  (fault.has_error_code ? pending.exception_seen : pending.software_seen) = true;
}

void Faults::on_end(const Event& event, const PageFault& fault) {
  ends_seen_ = true;
  const auto found = pending_.find(event.tid);
  FaultCost cost;
  std::uint64_t& ended = fault.stage == FaultStage::Major ? cost.major : cost.minor;
  if (found != pending_.end() && found->second.page == page_of(fault)) {
    Pending& pending = found.value();
    move(pending, class_index_, static_cast<std::uint64_t>(class_of(fault)));
    ended = pending.weight;
    rows(pending.in_kernel).row_at(pending.keys) += cost;
    pending_.erase(found);
    return;
  }
  // When both are sampled on their own, an end without its entry is a fault that the sampled
  // entries already stand for.
  const bool kernel = is_of_kernel(fault);
  const bool counted_by_entries = sampled_ && entries_seen_[kernel ? 1 : 0];
  ended = event.weight;
  cost.count = counted_by_entries ? 0 : event.weight;
  rows(kernel).row(event) += cost;
}

void Faults::move(Pending& pending, std::optional<std::size_t> key_index, std::uint64_t word) {
  if (!key_index) {
    return;
  }
  Rows& rows_of_mode = rows(pending.in_kernel);
  const std::uint64_t count = pending.reported ? 0 : pending.weight;
  if (count != 0) {
    rows_of_mode.row_at(pending.keys).count -= count;
  }
  pending.keys.words[*key_index] = word;
  rows_of_mode.row_at(pending.keys).count += count;
}

std::vector<std::string> Faults::notes() const {
  std::vector<std::string> notes;
  if (const std::uint64_t count = kernel_.total().count; count > 0) {
    notes.push_back(
        format("%llu faults of kernel code that accessed user memory are not counted "
               "here: --by mode shows them",
               static_cast<unsigned long long>(count)));
  }
  const bool any_seen = ends_seen_ || entries_seen_[0] || entries_seen_[1];
  if (any_seen && !ends_seen_) {
    notes.emplace_back(
        "whether faults were minor or major is not known: the recording holds neither minor-faults "
        "nor major-faults");
  }
  if (any_seen && access_index_ && !error_codes_seen_) {
    notes.emplace_back(
        "how faults accessed memory is not known: only exceptions:page_fault_user tells");
  }
  if (sampled_) {
    notes.emplace_back(
        "only one in N events was sampled: the entry and the end of a fault seldom meet, so access "
        "and class are known for few faults at once");
  }
  return notes;
}

Report Faults::finish(const World& world, Span span) {
  const CellContext context{
      .world = world, .span = span, .fault_ends_seen = ends_seen_, .sampled = sampled_};
  Report report;
  report.view = "faults";
  report.title = by_mode_ ? "page faults" : "page faults of user code";
  const FaultCost total = user_.total();
  report.totals = {{"count", Unit::Count, total.count}};
  if (ends_seen_) {  // of any interval: the totals of a live view stay the same
    report.totals.push_back({"minor", Unit::Count, total.minor});
    report.totals.push_back({"major", Unit::Count, total.major});
  }
  Table& table = report.tables.emplace_back(user_.table(kFigures, context));
  table.sort = "count";
  table.weight = "count";
  report.caveats.notes = notes();
  user_.clear();
  kernel_.clear();
  for (auto entry = pending_.begin(); entry != pending_.end(); ++entry) {
    entry.value().reported = true;
  }
  return report;
}

bool handles(const EventType& type) {
  constexpr auto kNames = std::to_array<std::string_view>({"exceptions:page_fault_user",
                                                           "exceptions:page_fault_kernel",
                                                           "page-faults",
                                                           "minor-faults",
                                                           "major-faults"});
  return std::ranges::find(kNames, type.name) != kNames.end();
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  auto keys = KeySet::choose(options, kKeys, fault_keys());
  if (!keys.ok()) {
    return keys.take_error();
  }
  return std::unique_ptr<View>(std::make_unique<Faults>(keys.take()));
}

}  // namespace

extern const ViewSpec view_faults;
constinit const ViewSpec view_faults{
    .summary = "page faults: by stack and process, read or write, minor or major",
    .needs = kNeeds,
    .keys = kKeys,
    .options = {},
    .handles = handles,
    .make = make,
};

}  // namespace memtrace
