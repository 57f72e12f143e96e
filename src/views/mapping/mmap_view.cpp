// mmap: who maps memory and files, how much, with what protection, and what of it is still mapped.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "state/mapping/map_flags.h"
#include "views/kit/cells.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/mapping/call_keys.h"
#include "views/mapping/call_names.h"
#include "views/mapping/call_trace.h"
#include "views/mapping/mapped_files.h"
#include "views/mapping/mapped_ranges.h"
#include "views/mapping/memory_map_table.h"

namespace memtrace::mmap_view {
namespace {

constexpr auto kNeeds = std::to_array<std::string_view>({
    "syscalls:sys_enter_mmap",
    "syscalls:sys_exit_mmap",
    "syscalls:sys_enter_munmap",
    "syscalls:sys_exit_munmap",
    "syscalls:sys_enter_mremap",
    "syscalls:sys_exit_mremap",
});
constexpr auto kCalls = std::to_array<std::string_view>({"mmap", "munmap", "mremap"});

const SystemCallDone& done_of(const Event& event) {
  return std::get<SystemCallDone>(event.payload);
}

constexpr std::uint64_t kNoWord = ~std::uint64_t{0};

// Only for mmap: mremap(2) keeps what there is.
std::uint64_t protection_word(const Event& event) {
  const SystemCallDone& done = done_of(event);
  return done.call == SystemCall::Mmap ? done.arguments[2] : kNoWord;
}

std::uint64_t flags_word(const Event& event) {
  const SystemCallDone& done = done_of(event);
  return done.call == SystemCall::Mmap ? done.arguments[3] : kNoWord;
}

Cell protection_cell(std::uint64_t word, const CellContext& /*context*/) {
  return when(word != kNoWord, protection_name(word));
}

Cell flags_cell(std::uint64_t word, const CellContext& /*context*/) {
  return when(word != kNoWord, map_flag_names(word));
}

// The world knows the file: the view puts it in.
std::uint64_t no_file(const Event& /*event*/) {
  return 0;
}

constexpr auto kOwnKeys = std::to_array<KeySpec>({
    {"protection", Unit::Text, protection_word, nullptr, protection_cell},
    {"flags", Unit::Text, flags_word, nullptr, flags_cell},
    {"file", Unit::Text, no_file, nullptr, mapped_file_cell},
    kCallKey,
    kCallErrorKey,
});
constexpr auto kKeys = std::to_array<std::string_view>(
    {"stack", "comm", "pid", "tid", "file", "protection", "flags", "call", "error", "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({
    kTraceOption,
    kHistOption,
    {"maps", "", "also list all mappings of each process as they are at the end"},
});

struct MapCost {
  std::uint64_t count = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t live = 0;
  std::uint64_t at_exit = 0;
};

constexpr auto kFigures = std::to_array<Figure<MapCost>>({
    figure<&MapCost::count>("count"),
    figure<&MapCost::failed>("failed"),
    figure<&MapCost::bytes>("bytes", Unit::Bytes),
    figure<&MapCost::live>("live", Unit::Bytes),
    figure<&MapCost::at_exit>("at_exit", Unit::Bytes),
});

class MmapView final : public View {
 public:
  MmapView(KeySet keys, const ViewOptions& options)
      : rows_(std::move(keys)),
        row_sizes_(options, rows_.keys().size(), "sizes", Unit::Bytes),
        file_index_(rows_.keys().index_of("file")),
        page_size_bytes_(options.page_size_bytes),
        tasks_(options.tasks),
        has_trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")),
        has_maps_(options.own.contains("maps")) {}

  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;
  Table take_lines(const World& world, Span span, Namer& namer) override;

 private:
  struct Step : CallStep {
    std::uint64_t file = 0;  // as mapped_file_word() has it
  };

  void map(const Event& event, const SystemCallDone& done, const KeyWords& row);
  void remap(const Event& event, const SystemCallDone& done, const KeyWords& row);
  MappedRanges::Range range_of(std::uint64_t start, std::uint64_t bytes) const;

  GroupBy<MapCost> rows_;
  AskedHistograms row_sizes_;  // of what mmap(2) mapped
  std::optional<std::size_t> file_index_;
  std::uint64_t page_size_bytes_ = 0;
  TaskFilter tasks_;
  bool has_trace_ = false;
  bool has_stacks_ = false;  // of the lines
  bool has_maps_ = false;
  MappedRanges ranges_;
  MappedRanges::Owner owner_;  // of the event at hand
  EventList<Step> trace_;
  std::uint64_t unmaps_ = 0;  // of this interval
};

MappedRanges::Range MmapView::range_of(std::uint64_t start, std::uint64_t bytes) const {
  return {start, start + (bytes + page_size_bytes_ - 1) / page_size_bytes_ * page_size_bytes_};
}

void MmapView::on(const Event& event, const World& world) {
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  if (done == nullptr) {
    return;
  }
  const Process* process = world.processes().find(event.pid);
  owner_ = {.pid = event.pid, .serial = process == nullptr ? 0 : process->serial};
  std::uint64_t file = 0;
  if (!done->failed() && done->call != SystemCall::Munmap) {
    const auto found = world.find(event.pid, static_cast<std::uint64_t>(done->result));
    file = found ? mapped_file_word(found->area) : 0;
  }
  if (has_trace_) {
    trace_.add({call_step(event, *done), file});
  }
  if (done->call == SystemCall::Munmap) {
    ++unmaps_;
    if (!done->failed()) {
      ranges_.unmap(owner_,
                    range_of(done->arguments[0], done->arguments[1]),
                    event.time_ns - done->duration_ns);
    }
    return;
  }
  KeyWords row = rows_.keys().of(event);
  if (file_index_) {
    row.words[*file_index_] = file;
  }
  MapCost& cost = rows_.row_at(row);
  cost.count += event.weight;
  cost.failed += done->failed() ? event.weight : 0;
  if (!done->failed()) {
    done->call == SystemCall::Mmap ? map(event, *done, row) : remap(event, *done, row);
  }
}

void MmapView::map(const Event& event, const SystemCallDone& done, const KeyWords& row) {
  const auto range = range_of(static_cast<std::uint64_t>(done.result), done.arguments[1]);
  rows_.row_at(row).bytes += event.weight * (range.limit - range.start);
  row_sizes_.add_at(row, range.limit - range.start, event.weight);
  ranges_.map(owner_, range, row, event.time_ns);
}

void MmapView::remap(const Event& event, const SystemCallDone& done, const KeyWords& row) {
  MappedRanges::Move move{
      .from = range_of(done.arguments[0], done.arguments[1]),
      .to = range_of(static_cast<std::uint64_t>(done.result), done.arguments[2]),
      .begun_ns = event.time_ns - done.duration_ns,
      .time_ns = event.time_ns};
  const std::uint64_t old_bytes = move.from.limit - move.from.start;
  const std::uint64_t new_bytes = move.to.limit - move.to.start;
  // An old size of 0 maps shared pages a second time (mremap(2)).
  move.keep_old = old_bytes == 0 || (done.arguments[3] & kRemapKeepOld) != 0;
  const std::uint64_t more_bytes =
      move.keep_old ? new_bytes : new_bytes - std::min(new_bytes, old_bytes);
  rows_.row_at(row).bytes += event.weight * more_bytes;
  ranges_.move(owner_, move, row);
}

bool is_call(const CallStep& step, SystemCall call) {
  return step.done.call == call;
}

Cell listed_offset(const CallStep& step, const CellContext& /*context*/) {
  const SystemCallArguments& argument = step.done.arguments;
  return when(is_call(step, SystemCall::Mmap) && (argument[3] & kMapAnonymous) == 0, argument[5]);
}

Cell listed_address(const CallStep& step, const CellContext& /*context*/) {
  const bool is_unmap = is_call(step, SystemCall::Munmap) && !step.done.failed();
  return is_unmap ? Cell(step.done.arguments[0]) : address_cell(step.done);
}

Table MmapView::take_lines(const World& world, Span span, Namer& /*namer*/) {
  const auto protection = [](const Step& step, const CellContext&) {
    return when(is_call(step, SystemCall::Mmap), protection_name(step.done.arguments[2]));
  };
  const auto flags = [](const Step& step, const CellContext&) {
    return when(is_call(step, SystemCall::Mmap), map_flag_names(step.done.arguments[3]));
  };
  const auto bytes = [](const Step& step, const CellContext&) {
    return Cell(step.done.arguments[is_call(step, SystemCall::Mremap) ? 2 : 1]);
  };
  const auto file = [](const Step& step, const CellContext& shown) {
    return mapped_file_cell(step.file, shown);
  };
  const ListColumns<Step> own = {{"prot", Unit::Text, protection},
                                 {"flags", Unit::Text, flags},
                                 {"offset", Unit::Bytes, listed_offset},
                                 {"bytes", Unit::Bytes, bytes},
                                 {"result", Unit::Address, listed_address},
                                 {"took_ns", Unit::Nanoseconds, duration_cell},
                                 {"file", Unit::Text, file}};
  return trace_.take(call_columns(own, has_stacks_), CellContext{.world = world, .span = span});
}

Report MmapView::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  ranges_.tell(world.processes(), [this](const KeyWords& row, std::uint64_t bytes, bool has_ended) {
    (has_ended ? rows_.row_at(row).at_exit : rows_.row_at(row).live) += bytes;
  });
  const MapCost total = rows_.total();
  Report report{.view = "mmap", .title = "memory and files mapped"};
  report.totals = {{"count", Unit::Count, total.count},
                   {"failed", Unit::Count, total.failed},
                   {"unmaps", Unit::Count, unmaps_},
                   {"bytes", Unit::Bytes, total.bytes},
                   {"live", Unit::Bytes, total.live},
                   {"at_exit", Unit::Bytes, total.at_exit}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "bytes");
  row_sizes_.move_into(table, rows_.keys(), context);
  if (has_maps_) {
    report.tables.push_back(memory_map_table(context, tasks_));
  }
  if (!world.memory_maps().has_data()) {
    report.inconclusive = true;
    report.caveats.notes.emplace_back(kNoDataMappingsNote);
  }
  rows_.clear();
  unmaps_ = 0;
  return report;
}

bool handles(const EventType& type) {
  return is_exit_of(type, kCalls);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<MmapView>(KeySet::choose(options, kKeys, kOwnKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "memory and files mapped, and what is still mapped: by stack, file, protection",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_memory_map = true,
    .needs_call_stacks = true,
    .handles = handles,
    .make = make,
};

}  // namespace memtrace::mmap_view
