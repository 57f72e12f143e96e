// shm: calls about shared memory, with their arguments in words, and what of it is left behind.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "state/mapping/map_flags.h"
#include "views/kit/cells.h"
#include "views/kit/group_by.h"
#include "views/kit/keyed_histograms.h"
#include "views/kit/make_view.h"
#include "views/kit/shmem_pages.h"
#include "views/mapping/call_keys.h"
#include "views/mapping/call_names.h"
#include "views/mapping/call_trace.h"
#include "views/mapping/memory_map_table.h"
#include "views/mapping/shm_arguments.h"
#include "views/mapping/shm_objects.h"

namespace memtrace::shm_view {
namespace {

constexpr auto kNeeds = std::to_array<std::string_view>({
    "syscalls:sys_enter_shmget",
    "syscalls:sys_exit_shmget",
    "syscalls:sys_enter_shmat",
    "syscalls:sys_exit_shmat",
    "syscalls:sys_enter_shmdt",
    "syscalls:sys_exit_shmdt",
    "syscalls:sys_enter_shmctl",
    "syscalls:sys_exit_shmctl",
    "syscalls:sys_enter_memfd_create|",
    "syscalls:sys_exit_memfd_create|",
    "syscalls:sys_enter_ftruncate|",
    "syscalls:sys_exit_ftruncate|",
    "syscalls:sys_enter_mmap|",
    "syscalls:sys_exit_mmap|",
    kShmemNeed,
});
constexpr auto kParts = std::to_array<EventNarrowing>(
    {{.event = "kmem:mm_page_alloc", .stacks = EventNarrowing::Stacks::Kernel}});
constexpr auto kCalls = std::to_array<std::string_view>(
    {"shmget", "shmat", "shmdt", "shmctl", "memfd_create", "ftruncate", "mmap"});

constexpr auto kOwnKeys = std::to_array<KeySpec>({
    kCallKey,
    kCallErrorKey,
});
constexpr auto kKeys =
    std::to_array<std::string_view>({"call", "comm", "pid", "tid", "error", "stack", "cpu"});
constexpr auto kOptions = std::to_array<ViewOption>({kTraceOption, kHistOption});

struct ShmCost {
  std::uint64_t count = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t timed = 0;  // calls of which it is known how long they took
  std::uint64_t took_ns = 0;
  Largest longest_ns;
};

constexpr auto kFigures = std::to_array<Figure<ShmCost>>({
    figure<&ShmCost::count>("count"),
    figure<&ShmCost::failed>("failed"),
    figure<&ShmCost::bytes>("bytes", Unit::Bytes),
    mean_figure<&ShmCost::took_ns, &ShmCost::timed>("avg_ns", Unit::Nanoseconds),
    figure_unless_zero<&ShmCost::longest_ns, &Largest::value>("max_ns", Unit::Nanoseconds),
});

class ShmView final : public View {
 public:
  ShmView(KeySet keys, const ViewOptions& options)
      : rows_(std::move(keys)),
        row_latency_(options, rows_.keys().size(), "latency", Unit::Nanoseconds),
        has_trace_(options.wants_lines()),
        has_stacks_(options.asks_for("stack")),
        namer_(options.namer) {}

  // mmap alone says little of shared memory.
  Result<> check(const std::deque<EventType>& types) override {
    has_segment_calls_ = std::ranges::find(types, kNeeds[1], &EventType::name) != types.end();
    return kDone;
  }

  void on(const Event& event, const World& world) override;
  Report finish(const World& world, Span span) override;
  Table take_lines(const World& world, Span span, Namer& namer) override;

 private:
  // A descriptor of a process. Only a mapping shows its file: until then what ftruncate(2) did to
  // it waits.
  using Descriptor = std::pair<std::uint32_t, int>;

  struct Truncation {
    Event event;
    std::uint64_t bytes = 0;
  };

  void count(const Event& event, const SystemCallDone& done, std::uint64_t bytes);
  void on_truncate(const Event& event, const SystemCallDone& done);
  void on_mmap(const Event& event, const SystemCallDone& done, const World& world);

  GroupBy<ShmCost> rows_;
  AskedHistograms row_latency_;
  bool has_trace_ = false;
  bool has_stacks_ = false;  // of the lines
  bool has_segment_calls_ = false;
  ShmSegments segments_;
  ShmFiles files_;
  std::map<Descriptor, bool> memfds_;
  std::map<Descriptor, Truncation> truncations_;
  std::map<Descriptor, std::uint64_t> sizes_;
  EventList<CallStep> trace_;  // a truncation is known to be of shared memory only later
  ShmemPages pages_;
  Namer* namer_ = nullptr;
};

int descriptor_in(std::uint64_t argument) {
  return static_cast<int>(static_cast<std::uint32_t>(argument));
}

void ShmView::count(const Event& event, const SystemCallDone& done, std::uint64_t bytes) {
  ShmCost cost{.count = event.weight,
               .failed = done.failed() ? event.weight : 0,
               .bytes = event.weight * bytes,
               .timed = done.duration_ns > 0 ? event.weight : 0,
               .took_ns = event.weight * done.duration_ns,
               .longest_ns = {done.duration_ns}};
  rows_.row(event) += cost;
  if (done.duration_ns > 0) {
    row_latency_.add(rows_.keys(), event, done.duration_ns, event.weight);
  }
  if (has_trace_) {
    trace_.add(call_step(event, done));
  }
}

void ShmView::on(const Event& event, const World& world) {
  if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
    pages_.on(event, *alloc);
    return;
  }
  const auto* done = std::get_if<SystemCallDone>(&event.payload);
  if (done == nullptr) {
    return;
  }
  if (done->call == SystemCall::Ftruncate) {
    on_truncate(event, *done);
    return;
  }
  if (done->call == SystemCall::Mmap) {
    on_mmap(event, *done, world);
    return;
  }
  if (done->call == SystemCall::MemfdCreate && !done->failed()) {
    memfds_[{event.pid, descriptor_in(static_cast<std::uint64_t>(done->result))}] = true;
  }
  const bool is_created = !done->failed() && segments_.apply(event, *done);
  count(event, *done, is_created ? done->arguments[1] : 0);
}

// Most files that are truncated are none of ours.
void ShmView::on_truncate(const Event& event, const SystemCallDone& done) {
  const Descriptor descriptor{event.pid, descriptor_in(done.arguments[0])};
  if (memfds_.contains(descriptor)) {
    count(event, done, done.failed() ? 0 : done.arguments[1]);
    if (!done.failed()) {
      sizes_[descriptor] = done.arguments[1];
    }
  } else if (!done.failed()) {
    truncations_[descriptor] = {without_borrowed(event), done.arguments[1]};
  }
}

void ShmView::on_mmap(const Event& event, const SystemCallDone& done, const World& world) {
  const bool is_shared = (done.arguments[3] & kMapShared) != 0;
  const bool has_file = (done.arguments[3] & kMapAnonymous) == 0;
  if (done.failed() || !is_shared || !has_file) {
    return;
  }
  const auto found = world.find(event.pid, static_cast<std::uint64_t>(done.result));
  if (!found || !found->area.path.valid() || !found->area.has_offset() ||
      found->area.kind == AreaKind::File) {
    return;
  }
  const Descriptor descriptor{event.pid, descriptor_in(done.arguments[4])};
  if (const auto waiting = truncations_.find(descriptor); waiting != truncations_.end()) {
    const Event& truncate = waiting->second.event;
    sizes_[descriptor] = waiting->second.bytes;
    count(truncate, std::get<SystemCallDone>(truncate.payload), waiting->second.bytes);
    truncations_.erase(waiting);
  }
  count(event, done, done.arguments[1]);
  ShmFiles::File& file = files_.file(found->area);
  if (file.mappings++ == 0) {
    file.pid = event.pid;
    file.comm = event.comm;
  }
  file.mapped_bytes += done.arguments[1];
  if (const auto size = sizes_.find(descriptor); size != sizes_.end()) {
    file.bytes = size->second;
    sizes_.erase(size);
  }
}

Table ShmView::take_lines(const World& world, Span span, Namer& /*namer*/) {
  const auto arguments = [](const CallStep& step, const CellContext&) {
    return Cell(shm_arguments(step.done));
  };
  const auto result = [](const CallStep& step, const CellContext&) {
    return result_cell(step.done);
  };
  const ListColumns<CallStep> own = {{"result", Unit::Text, result},
                                     {"took_ns", Unit::Nanoseconds, duration_cell},
                                     {"arguments", Unit::Text, arguments}};
  return trace_.take(call_columns(own, has_stacks_), CellContext{.world = world, .span = span});
}

Report ShmView::finish(const World& world, Span span) {
  const CellContext context{.world = world, .span = span};
  const Observation* at_end = world.observations().last("segments");
  const ShmCost total = rows_.total();
  const ShmSegments::Left left = segments_.left(at_end);
  Report report{.view = "shm", .title = "shared memory"};
  report.inconclusive = !has_segment_calls_;
  report.totals = {{"count", Unit::Count, total.count},
                   {"failed", Unit::Count, total.failed},
                   {"left", Unit::Count, left.count},
                   {"left_bytes", Unit::Bytes, left.bytes}};
  Table& table = report.tables.emplace_back(rows_.table(kFigures, context));
  sort_by(table, "count");
  row_latency_.move_into(table, rows_.keys(), context);
  report.tables.push_back(segments_.table(context, at_end));
  if (!files_.empty()) {
    report.tables.push_back(files_.table(context));
  }
  if (has_segment_calls_) {
    pages_.report(world, namer_, report);
  }
  add_clock_note(report, total.count - total.timed);
  rows_.clear();
  return report;
}

bool is_call(const EventType& type) {
  return is_exit_of(type, kCalls);
}

bool handles(const EventType& type) {
  return is_call(type) || type.name == "kmem:mm_page_alloc";
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<ShmView>(KeySet::choose(options, kKeys, kOwnKeys), options);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "shared memory: System V, memfd and /dev/shm; arguments, latency, what is left",
    .needs = kNeeds,
    .keys = kKeys,
    .options = kOptions,
    .needs_memory_map = true,
    .needs_call_stacks = true,
    .judges_kernel_stacks = true,
    .parts = kParts,
    .handles = handles,
    .rests_on = is_call,
    .make = make,
};

}  // namespace memtrace::shm_view
