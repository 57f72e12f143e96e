// writeback: who made pages of files dirty, who wrote them back, and who had to wait for it.
#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "views/kit/cells.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/kit/mapping_call_needs.h"
#include "views/kit/show_option.h"
#include "views/reclaim/flushes.h"
#include "views/reclaim/sync_calls.h"
#include "views/reclaim/work_keys.h"
#include "views/reclaim/written_files.h"
#include "views/truth/folio_needs.h"
#include "views/truth/vmstat_check.h"

namespace memtrace::writeback_view {
namespace {

constexpr auto kKeys =
    std::to_array<std::string_view>({"comm", "pid", "tid", "device", "inode", "stack", "cpu"});
constexpr auto kNeeds = std::to_array<std::string_view>({
    "writeback:writeback_dirty_folio|writeback:writeback_dirty_page|",
    "writeback:writeback_single_inode|",
    "writeback:writeback_pages_written|",
    "writeback:balance_dirty_pages|",
    "vmscan:mm_vmscan_write_folio|vmscan:mm_vmscan_writepage|kmem:mm_vmscan_writepage",
    "writeback:writeback_start|",
    "writeback:writeback_written|",
    "syscalls:sys_enter_sync|",
    "syscalls:sys_exit_sync|",
    "syscalls:sys_enter_syncfs|",
    "syscalls:sys_exit_syncfs|",
    "syscalls:sys_enter_fsync|",
    "syscalls:sys_exit_fsync|",
    "syscalls:sys_enter_fdatasync|",
    "syscalls:sys_exit_fdatasync|",
    "syscalls:sys_enter_msync|",
    "syscalls:sys_exit_msync|",
    "syscalls:sys_enter_sync_file_range|",
    "syscalls:sys_exit_sync_file_range|",
    "block:block_bio_queue|",
});
constexpr auto kAllNeeds = joined(kNeeds, kFolioNeeds);

// Who writes to a disk matters, not the code.
constexpr auto kDiskParts =
    std::to_array<EventNarrowing>({{.event = "block:block_bio_queue",
                                    .filter = "rwbs ~ \"*W*\"",
                                    .stacks = EventNarrowing::Stacks::None}});
constexpr auto kParts = joined(joined(kDiskParts, kFolioParts), kWrittenFolioParts);

struct WriteCost {
  std::uint64_t dirtied = 0;
  std::uint64_t written = 0;
  std::uint64_t flushed = 0;
  std::uint64_t flushes = 0;
  std::uint64_t balances = 0;
  std::uint64_t throttles = 0;
  std::uint64_t paused_ns = 0;
  Largest longest_ns;
  std::uint64_t file_pageouts = 0;
  std::uint64_t swap_pageouts = 0;
};

// The first ones fit on a line of 100.
constexpr std::size_t kUsualFigures = 8;
constexpr auto kFigures = std::to_array<Figure<WriteCost>>({
    figure<&WriteCost::dirtied>("dirtied"),
    figure<&WriteCost::written>("written"),
    figure<&WriteCost::flushed>("flushed"),
    figure<&WriteCost::throttles>("throttles"),
    figure<&WriteCost::paused_ns>("paused_ns", Unit::Nanoseconds),
    figure<&WriteCost::longest_ns, &Largest::value>("max_pause_ns", Unit::Nanoseconds),
    figure<&WriteCost::file_pageouts>("file_pageouts"),
    figure<&WriteCost::swap_pageouts>("swap_pageouts"),
    figure<&WriteCost::flushes>("flushes"),
    figure<&WriteCost::balances>("balances"),
});
constexpr auto kOptions = std::to_array<ViewOption>(
    {show_option("show these columns instead of the default ones; memtrace help writeback"),
     kHistOption});

// The events that each column needs.
struct Source {
  std::string_view event;  // a part of its name
  std::span<const std::string_view> columns;
  std::string_view what;
};

// Linux 5.18 and later.
constexpr std::string_view kDirtyFolio = "writeback:writeback_dirty_folio";
constexpr std::string_view kCachedFolio = "filemap:mm_filemap_add_to_page_cache";
constexpr auto kDirtied = std::to_array<std::string_view>({"dirtied"});
constexpr auto kWritten = std::to_array<std::string_view>({"written"});
constexpr auto kFlushed = std::to_array<std::string_view>({"flushed", "flushes"});
constexpr auto kPauses =
    std::to_array<std::string_view>({"balances", "throttles", "paused_ns", "max_pause_ns"});
constexpr auto kPageouts = std::to_array<std::string_view>({"file_pageouts", "swap_pageouts"});
constexpr auto kSources = std::to_array<Source>({
    {"writeback_dirty_", kDirtied, "who made pages dirty"},
    {"writeback_single_inode", kWritten, "what was written of which file"},
    {"writeback_pages_written", kFlushed, "what flusher threads wrote"},
    {"balance_dirty_pages", kPauses, "who had to wait"},
    {"mm_vmscan_write", kPageouts, "what reclaim wrote"},
});

std::uint64_t device_word(const Event& event) {
  return event.label.value;
}

Cell device_cell(std::uint64_t word, const CellContext& context) {
  return text_of(context.world, StringId{static_cast<std::uint32_t>(word)});
}

std::uint64_t inode_word(const Event& event) {
  if (const auto* dirtied = std::get_if<PageDirtied>(&event.payload)) {
    return dirtied->inode;
  }
  const auto* written = std::get_if<InodeWritten>(&event.payload);
  return written == nullptr ? 0 : written->inode;
}

// No file system has an inode 0 that holds data; a device's own pages are those of an inode too.
Cell inode_cell(std::uint64_t word, const CellContext& /*context*/) {
  return unless_zero(word);
}

constexpr auto kOwnKeys =
    std::to_array<KeySpec>({{"device", Unit::Text, device_word, nullptr, device_cell},
                            {"inode", Unit::Number, inode_word, nullptr, inode_cell}});

class Writeback final : public View {
 public:
  Writeback(KeySet keys,
            KeySet device_keys,
            std::vector<Figure<WriteCost>> figures,
            const ViewOptions& options)
      : rows_(std::move(keys)),
        row_pauses_(options, rows_.keys().size(), "pauses", Unit::Nanoseconds),
        devices_(std::move(device_keys)),
        figures_(std::move(figures)) {}

  Result<> check(const std::deque<EventType>& types) override {
    for (const Source& source : kSources) {
      const bool is_there = std::ranges::any_of(types, [&](const EventType& type) {
        return type.name.find(source.event) != std::string::npos;
      });
      if (!is_there) {
        unknown_.insert(unknown_.end(), source.columns.begin(), source.columns.end());
        notes_.push_back(std::string(source.what) + " is not known: there are no events " +
                         std::string(source.event));
      }
    }
    if (has(types, kDirtyFolio) && !knows_orders(types)) {
      notes_.emplace_back(
          "dirtied counts each folio as one page: no event of the recording says how many pages a "
          "folio has");
    }
    return kDone;
  }

  void on(const Event& event, const World& /*world*/) override {
    flushes_.on(event);
    sync_calls_.on(event);
    files_.on(event);
    if (!is_cost(event.payload)) {
      return;
    }
    const WriteCost cost = cost_of(event);
    rows_.row(event) += cost;
    if (cost.throttles > 0) {
      row_pauses_.add(rows_.keys(), event, cost.longest_ns.value, event.weight);
    }
    if (event.label.valid()) {
      devices_.row(event) += cost;
    }
  }

  Report finish(const World& world, Span span) override;

 private:
  static bool is_cost(const EventPayload& payload) {
    return std::holds_alternative<PageDirtied>(payload) ||
           std::holds_alternative<InodeWritten>(payload) ||
           std::holds_alternative<PagesWritten>(payload) ||
           std::holds_alternative<DirtyBalance>(payload) ||
           std::holds_alternative<ReclaimWrite>(payload);
  }

  static bool has(const std::deque<EventType>& types, std::string_view name) {
    return std::ranges::find(types, name, &EventType::name) != types.end();
  }

  // Linux before 6.1 has no order in the event.
  static bool knows_orders(const std::deque<EventType>& types) {
    const auto cached = std::ranges::find(types, kCachedFolio, &EventType::name);
    return cached != types.end() && cached->format.find("order") != nullptr;
  }

  static WriteCost cost_of(const Event& event);
  void check_sums(const World& world, Report& report) const;
  std::vector<Total> totals() const;

  GroupBy<WriteCost> rows_;
  AskedHistograms row_pauses_;
  GroupBy<WriteCost> devices_;
  WrittenFiles files_;
  Flushes flushes_;
  SyncCalls sync_calls_;
  std::vector<std::string_view> unknown_;  // columns
  std::vector<std::string> notes_;
  std::vector<Figure<WriteCost>> figures_;
};

WriteCost Writeback::cost_of(const Event& event) {
  WriteCost cost;
  if (const auto* dirtied = std::get_if<PageDirtied>(&event.payload)) {
    cost.dirtied = dirtied->pages * event.weight;
  } else if (const auto* inode = std::get_if<InodeWritten>(&event.payload)) {
    cost.written = inode->pages * event.weight;
  } else if (const auto* work = std::get_if<PagesWritten>(&event.payload)) {
    cost.flushed = work->pages * event.weight;
    cost.flushes = event.weight;
  } else if (const auto* balance = std::get_if<DirtyBalance>(&event.payload)) {
    cost.balances = event.weight;
    cost.throttles = balance->pause_ns > 0 ? event.weight : 0;
    cost.paused_ns = balance->pause_ns * event.weight;
    cost.longest_ns = {balance->pause_ns};
  } else if (const auto* write = std::get_if<ReclaimWrite>(&event.payload)) {
    (write->of_file ? cost.file_pageouts : cost.swap_pageouts) = write->pages * event.weight;
  }
  return cost;
}

std::vector<Total> Writeback::totals() const {
  const WriteCost total = rows_.total();
  std::vector<Total> totals = {{"dirtied", Unit::Count, total.dirtied},
                               {"written", Unit::Count, total.written},
                               {"flushed", Unit::Count, total.flushed},
                               {"flushes", Unit::Count, total.flushes},
                               {"throttles", Unit::Count, total.throttles},
                               {"paused_ns", Unit::Nanoseconds, total.paused_ns},
                               {"file_pageouts", Unit::Count, total.file_pageouts},
                               {"swap_pageouts", Unit::Count, total.swap_pageouts}};
  std::erase_if(totals, [this](const Total& each) {
    return std::ranges::find(unknown_, each.name) != unknown_.end();
  });
  return totals;
}

void Writeback::check_sums(const World& world, Report& report) const {
  VmstatCheck check(world);
  check.add(dirtied_pages(rows_.total().dirtied));
  check.add_to(report);
}

Report Writeback::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  Report report{.view = "writeback", .title = "pages made dirty and written back"};
  report.totals = totals();
  report.inconclusive = unknown_.size() > kPageouts.size();  // made of events of other views
  for (const GroupBy<WriteCost>* rows : {&rows_, &devices_}) {
    Table& table = report.tables.emplace_back(rows->table(figures_, context));
    sort_by(table, "dirtied");
    blank(table, unknown_);
  }
  row_pauses_.move_into(report.tables.front(), rows_.keys(), context);
  if (flushes_.any()) {
    report.tables.push_back(flushes_.table());
  }
  if (sync_calls_.any()) {
    report.tables.push_back(sync_calls_.table(context));
  }
  if (files_.any()) {
    blank(report.tables.emplace_back(files_.table(world)), unknown_);
  }
  report.caveats.notes = notes_;
  check_sums(world, report);
  rows_.clear();
  devices_.clear();
  files_.clear();
  flushes_.clear();
  sync_calls_.clear();
  return report;
}

bool rests_on(const EventType& type) {
  return type.name.starts_with("writeback:") || type.name.ends_with(":mm_vmscan_write_folio") ||
         type.name.ends_with(":mm_vmscan_writepage") || type.name == "block:block_bio_queue" ||
         is_sync_call(type);
}

bool handles(const EventType& type) {
  return rests_on(type) || is_of_folios(type) || type.name == kPageAlloc;
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  const ViewOptions by_device{.by = {"device"}};
  return make_view<Writeback>(KeySet::choose(options, kKeys, kOwnKeys),
                              KeySet::choose(by_device, kKeys, kOwnKeys),
                              choose_figures(options, kFigures, kUsualFigures),
                              options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "dirty pages of files, their writeback, throttled writers, page-out",
    .needs = kAllNeeds,
    .keys = kKeys,
    .options = kOptions,
    .looks_at_stack_keys_only = true,
    .parts = kParts,
    .handles = handles,
    .rests_on = rests_on,
    .make = make,
};

}  // namespace memtrace::writeback_view
