// anon: anonymous memory by process: pages touched for the first time, copied, read from swap,
// given back.
#include <array>
#include <set>
#include <utility>

#include "views/fault/fault_keys.h"
#include "views/fault/fault_needs.h"
#include "views/kit/make_view.h"
#include "views/rss/process_pages.h"
#include "views/rss/process_sizes.h"

namespace memtrace::anon_view {
namespace {

constexpr auto kDefaultBy = std::to_array<std::string_view>({"comm", "pid"});
constexpr auto kKeys = std::to_array<std::string_view>({"comm", "pid"});
constexpr auto kNeeds =
    std::to_array<std::string_view>({"exceptions:page_fault_user|page-faults",
                                     "exceptions:page_fault_kernel|",
                                     "minor-faults",
                                     "major-faults",
                                     "kmem:mm_page_alloc|",
                                     "kmem:mm_page_free|kmem:mm_page_free_direct|",
                                     "kmem:mm_pagevec_free|",
                                     "kmem:rss_stat|kmem:mm_anon_userfree|",
                                     "kmem:rss_stat|kmem:mm_anon_cow|",
                                     "kmem:rss_stat|kmem:mm_filemap_cow|"});

constexpr auto kFigures = std::to_array<PagesFigure>({
    figure<&ProcessPages::alloc>("alloc"),
    figure_if<&ProcessPagesContext::frees_seen, &ProcessPages::free>("free"),
    figure_if<&ProcessPagesContext::places_known, &ProcessPages::fault>("fault"),
    figure_if<&ProcessPagesContext::given_back_known, &ProcessPages::user_unmapped>("ufree"),
    figure_if<&ProcessPagesContext::places_known, &ProcessPages::major>("pgin"),
    figure_if<&ProcessPagesContext::copies_known, &ProcessPages::copied>("cow"),
    figure_if<&ProcessPagesContext::rss_seen, &ProcessPages::kernel_unmapped>("unmap"),
});

void add_fault(const Fault& fault, ProcessPages& row) {
  if (!fault.place.is_anonymous()) {
    // A copy of a file's page is anonymous memory, too.
    row.copied += class_of(fault) == FaultClass::CopyOnWrite ? fault.weight : 0;
    return;
  }
  switch (class_of(fault)) {
    case FaultClass::CopyOnWrite:
    case FaultClass::ZeroPageWrite:
      row.copied += fault.weight;
      break;
    case FaultClass::SwapIn:
      row.major += fault.weight;
      break;
    case FaultClass::Open:
    case FaultClass::Segv:
    case FaultClass::Bus:
    case FaultClass::OutOfMemory:
      break;
    default:
      row.fault += fault.weight;
  }
}

class Anonymous final : public View {
 public:
  explicit Anonymous(const KeySet& keys) : counter_(keys, RssMember::Anonymous, add_fault) {}

  Result<> check(const std::deque<EventType>& types) override {
    counter_.check(types);
    return kDone;
  }

  void on(const Event& event, const World& world) override {
    counter_.on(event, world);
    pids_.insert(event.pid);
  }

  Report finish(const World& world, Span span) override;

 private:
  ProcessPageCounter counter_;
  std::set<std::uint32_t> pids_;
};

Report Anonymous::finish(const World& world, Span span) {
  counter_.pairing().report_open();
  const FaultEvents& seen = counter_.pairing().seen();
  const ProcessPagesContext context = counter_.context(world, span);
  const ProcessPages total = counter_.rows().total();
  Report report{.view = "anon", .title = "anonymous memory by process"};
  report.totals = {{"alloc", Unit::Count, total.alloc}, {"fault", Unit::Count, total.fault}};
  Table& table = report.tables.emplace_back(counter_.rows().table(kFigures, context));
  table.sort = "alloc";
  table.weight = "fault";
  report.caveats.notes = place_notes(seen, world);
  counter_.add_notes(report.caveats.notes, world);
  report.inconclusive = !(context.rss_seen || context.given_back_seen) || !knows_places(world);
  counter_.rows().clear();
  if (Table sizes = process_size_table(world, pids_); !sizes.rows.empty() || !sizes.note.empty()) {
    report.tables.push_back(std::move(sizes));
  }
  pids_.clear();
  return report;
}

bool handles(const EventType& type) {
  return is_of_faults(type) || is_page_free(type) || is_resident_event(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<Anonymous>(KeySet::choose(options, kKeys));
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "anonymous memory by process: faults, copies, swap-ins, pages given back",
    .needs = kNeeds,
    .keys = kKeys,
    .default_by = kDefaultBy,
    .options = {},
    .needs_memory_map = true,
    .looks_at_stack_keys_only = true,
    .parts = kProcessPageParts,
    .handles = handles,
    .rests_on = is_fault_event,
    .make = make,
};

}  // namespace memtrace::anon_view
