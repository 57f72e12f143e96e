// oom: each kill for lack of memory: who was killed, who wanted memory, and what the machine was
// like at that moment.
#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "views/kit/keys.h"
#include "views/oom/oom_calls.h"
#include "views/oom/oom_groups.h"
#include "views/oom/oom_kills.h"
#include "views/view.h"

namespace memtrace::oom_view {
namespace {

constexpr auto kNeeds = std::to_array<std::string_view>({"oom:mark_victim|signal:signal_generate"});

constexpr auto kParts = std::to_array<EventNarrowing>({{"signal:signal_generate", "sig == 9"}});

constexpr auto kOptions = std::to_array<ViewOption>(
    {{"trace", "", "print a line for each kill as it happens, in place of the report"},
     {"past", "", "show the kills that the kernel's log still has, or FILE..., - for stdin"}});

std::vector<std::string> default_keys() {
  return {kOomDefaultKeys.begin(), kOomDefaultKeys.end()};
}

class Oom final : public View {
 public:
  explicit Oom(const ViewOptions& options)
      : has_trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")),
        keys_(options.by.empty() ? default_keys() : options.by) {}

  Result<> check(const std::deque<EventType>& types) override {
    const auto has = [&](std::string_view name) {
      return std::ranges::find(types, name, &EventType::name) != types.end();
    };
    uses_signals_ = has("signal:signal_generate") && !has("oom:mark_victim");
    if (std::ranges::any_of(types, is_oom_call)) {
      calls_.see();
    }
    return kDone;
  }

  void on(const Event& event, const World& world) override {
    if (std::holds_alternative<OomVictim>(event.payload)) {
      add(killed_by_mark(event, world), event.tid);
    } else if (uses_signals_ && is_fatal_signal(event)) {
      add(killed_by_signal(event, world), event.tid);
    } else if (is_oom_call(*event.type)) {
      calls_.on_call(event, world);
    }
  }

  Report finish(const World& /*world*/, Span span) override {
    start_ns_ = span.start_ns;
    pending_ = std::exchange(kills_, {});
    std::ranges::move(calls_.take(), std::back_inserter(pending_));
    std::ranges::stable_sort(pending_, {}, &OomKill::time_ns);
    Report report{.view = "oom", .title = "OOM kills"};
    return report;
  }

  // Only the functions on the stack show which signals were the OOM killer's, and whether a cgroup
  // or the machine ran out of memory.
  void complete(Report& report, Namer& namer) override {
    judge_all(namer);
    const auto killed = static_cast<std::uint64_t>(std::ranges::count_if(
        pending_, [](const OomKill& kill) { return kill.by_killer && kill.has_victim(); }));
    report.totals = {{"kills", Unit::Count, killed}};
    report.inconclusive = uses_signals_ && pending_.empty();  // just signals
    report.nothing_happened = undecided_ == 0;
    report.tables = tables();
    report.caveats.notes = oom_notes(pending_, uses_signals_);
    std::ranges::move(oom_call_notes(pending_), std::back_inserter(report.caveats.notes));
    if (undecided_ > 0) {
      report.caveats.notes.push_back(undecided_note(undecided_));
    }
    pending_.clear();
  }

  Table take_lines(const World& world, Span span, Namer& namer) override {
    std::vector<OomKill> kills = std::exchange(lines_, {});
    for (OomKill& kill : kills) {
      judge(kill, namer, uses_signals_);
    }
    if (uses_signals_) {
      std::erase_if(kills, [](const OomKill& kill) { return !kill.by_killer; });
    }
    return kill_lines(kills, {.world = world, .span = span}, has_stacks_);
  }

 private:
  // What all kills of a row have in common, and then the last one of each in detail: a service that
  // is killed every minute would fill screens with the same.
  std::vector<Table> tables() const {
    const std::vector<OomGroup> groups = group_kills(pending_, keys_);
    std::vector<OomKill> last;
    last.reserve(groups.size());
    for (const OomGroup& group : groups) {
      last.push_back(*group.last);
    }
    std::ranges::stable_sort(last, {}, &OomKill::time_ns);
    std::vector<Table> tables = {group_table(groups, keys_, start_ns_),
                                 kill_table(last, start_ns_),
                                 victim_table(last),
                                 machine_table(last),
                                 process_table(last)};
    if (Table cgroups = cgroup_table(last); !cgroups.rows.empty()) {
      tables.push_back(std::move(cgroups));
    }
    return tables;
  }

  void add(OomKill kill, std::uint32_t tid) {
    calls_.resolve_late(kill, tid);
    if (has_trace_) {
      lines_.push_back(kill);
    }
    kills_.push_back(std::move(kill));
  }

  void judge_all(Namer& namer) {
    for (OomKill& kill : pending_) {
      judge(kill, namer, uses_signals_);
      if (uses_signals_ && kill.is_called && !kill.by_killer) {
        kill = call_without_victim(kill);
        judge(kill, namer, uses_signals_);
      }
    }
    undecided_ = static_cast<std::uint64_t>(
        std::ranges::count_if(pending_, [](const OomKill& kill) { return kill.is_undecided; }));
    if (uses_signals_) {
      std::erase_if(pending_, [](const OomKill& kill) { return !kill.by_killer; });
    }
  }

  bool has_trace_;
  bool has_stacks_;  // of the lines
  std::vector<std::string> keys_;
  std::vector<OomKill> kills_;
  std::vector<OomKill> lines_;    // since the last take_lines()
  std::vector<OomKill> pending_;  // of the report that is being made
  OomCalls calls_;
  std::uint64_t undecided_ = 0;  // of the report that is being made
  std::uint64_t start_ns_ = 0;   // of that report
  bool uses_signals_ = false;
};

bool handles(const EventType& type) {
  return type.name == "oom:mark_victim" || type.name == "signal:signal_generate" ||
         is_oom_call(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  for (const std::string& key : options.by) {
    if (std::ranges::find(kOomKeys, key) == kOomKeys.end()) {
      return unknown_key(key, kOomKeys);
    }
  }
  return std::unique_ptr<View>(std::make_unique<Oom>(options));
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "OOM kills: victim, trigger, and the state of the machine",
    .needs = kNeeds,
    .keys = kOomKeys,
    .default_by = kOomDefaultKeys,
    .options = kOptions,
    .needs_promptness = true,
    .needs_identities = true,
    .judges_kernel_stacks = true,
    .always_shows_stacks = true,
    .parts = kParts,
    .handles = handles,
    .make = make,
};

}  // namespace memtrace::oom_view
