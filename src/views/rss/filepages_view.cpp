// filepages: pages of files by process and by file: faults, copies, unmapping, the page cache.
#include <array>
#include <compare>
#include <map>
#include <string>
#include <utility>

#include "state/world/file_names.h"
#include "views/fault/fault_keys.h"
#include "views/fault/fault_needs.h"
#include "views/kit/make_view.h"
#include "views/kit/mapping_call_needs.h"
#include "views/kit/shmem_pages.h"
#include "views/rss/cached_pages.h"
#include "views/rss/process_pages.h"

namespace memtrace::filepages_view {
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
                                     "kmem:rss_stat|kmem:mm_filemap_userunmap|",
                                     "kmem:rss_stat|kmem:mm_filemap_cow|",
                                     "filemap:mm_filemap_add_to_page_cache|",
                                     "filemap:mm_filemap_delete_from_page_cache|"});

// The kernel's stack identifies the pages of tmpfs, which are added to the page cache without its
// event.
constexpr auto kParts =
    joined(std::to_array<EventNarrowing>(
               {{.event = "kmem:mm_page_alloc", .stacks = EventNarrowing::Stacks::Kernel}}),
           kProcessPageParts);

constexpr auto kFigures = std::to_array<PagesFigure>({
    figure<&ProcessPages::alloc>("alloc"),
    figure_if<&ProcessPagesContext::frees_seen, &ProcessPages::free>("free"),
    figure_if<&ProcessPagesContext::places_known, &ProcessPages::fault>("fault"),
    figure_if<&ProcessPagesContext::places_known, &ProcessPages::major>("major"),
    figure_if<&ProcessPagesContext::copies_known, &ProcessPages::copied>("cow"),
    figure_if<&ProcessPagesContext::rss_seen, &ProcessPages::kernel_unmapped>("kunmap"),
    figure_if<&ProcessPagesContext::given_back_known, &ProcessPages::user_unmapped>("uunmap"),
    figure_if<&ProcessPagesContext::cache_seen, &ProcessPages::cache_added>("cache_add"),
    figure_if<&ProcessPagesContext::cache_seen, &ProcessPages::cache_deleted>("cache_del"),
});

void add_fault(const Fault& fault, ProcessPages& row) {
  if (fault.place.kind != PlaceKind::File || fault.end == FaultEnd::Open) {
    return;
  }
  row.fault += fault.weight;
  row.major += fault.end == FaultEnd::Major ? fault.weight : 0;
  row.copied += fault.is_write() && fault.place.is_private ? fault.weight : 0;
}

// Before 3.16 the record of a mapping has no number of the file (PERF_RECORD_MMAP): then the path
// identifies the file; otherwise it is empty.
struct FileKey {
  FileId id;
  StringId path;

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
  friend auto operator<=>(const FileKey&, const FileKey&) = default;
};

// What happened to the pages of one file.
struct FileCost {
  std::uint64_t faults = 0;
  std::uint64_t major = 0;
  std::uint64_t added = 0;
  std::uint64_t deleted = 0;
  std::uint64_t refaults = 0;  // of `added`: pages that had been there before
};

struct FilePages {
  StringId name;  // of a mapping that a page fault was in
  FileCost cost;
  CachedPages cached;
};

// Some 40 MB, for pages of 16 MiB of a file each.
constexpr std::size_t kMaxPieces = 65'536;

class FilePagesView final : public View {
 public:
  FilePagesView(const KeySet& keys, Namer* namer)
      : namer_(namer),
        counter_(keys, RssMember::File, [this](const Fault& fault, ProcessPages& row) {
          add_fault(fault, row);
          count_file(fault);
        }) {
    counter_.pairing().ignore_zero_pages();
  }

  Result<> check(const std::deque<EventType>& types) override {
    counter_.check(types);
    return kDone;
  }

  void on(const Event& event, const World& world) override {
    counter_.on(event, world);
    if (const auto* change = std::get_if<PageCacheChange>(&event.payload)) {
      count_cache(event, *change);
    } else if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
      shmem_pages_.on(event, *alloc);
    }
  }

  Report finish(const World& world, Span span) override;

 private:
  FilePages& of_file(const FileKey& key);
  void count_file(const Fault& fault);
  void count_cache(const Event& event, const PageCacheChange& change);
  void join_by_path();
  Table file_table(const ProcessPagesContext& context) const;

  Namer* namer_ = nullptr;
  ProcessPageCounter counter_;
  ShmemPages shmem_pages_;
  std::map<FileKey, FilePages> files_;
  std::size_t pieces_ = 0;                                         // of all files' cached pages
  std::map<FileKey, FilePages>::value_type* last_file_ = nullptr;  // that a page fault was in
};

// Faults come in runs.
FilePages& FilePagesView::of_file(const FileKey& key) {
  if (last_file_ == nullptr || last_file_->first != key) {
    last_file_ = &*files_.try_emplace(key).first;
  }
  return last_file_->second;
}

void FilePagesView::count_file(const Fault& fault) {
  if (fault.place.kind != PlaceKind::File || fault.end == FaultEnd::Open) {
    return;
  }
  const FileId& id = fault.place.file_id;
  FilePages& file = of_file({id, id == FileId() ? fault.place.file : StringId()});
  file.cost.faults += fault.weight;
  file.cost.major += fault.end == FaultEnd::Major ? fault.weight : 0;
  file.name = fault.place.file;
}

void FilePagesView::count_cache(const Event& event, const PageCacheChange& change) {
  const FileId id{change.device_major, change.device_minor, change.inode};
  FilePages& file = files_[{id, {}}];
  const std::uint64_t pages = std::uint64_t{1} << change.order;
  if (!change.added) {
    file.cost.deleted += event.weight * pages;
    return;
  }
  file.cost.added += event.weight * pages;
  const std::size_t before = file.cached.piece_count();
  file.cost.refaults += event.weight * file.cached.add(change.index, pages, pieces_ < kMaxPieces);
  pieces_ += file.cached.piece_count() - before;
}

// A file that is known by its path may be known by its number too: /proc/PID/maps has both.
void FilePagesView::join_by_path() {
  std::map<StringId, FilePages*> numbered;
  last_file_ = nullptr;  // files may be taken away
  for (auto& [key, file] : files_) {
    if (!key.path.valid() && file.name.valid()) {
      numbered[file.name] = &file;
    }
  }
  for (auto at = files_.begin(); at != files_.end();) {
    const auto same = at->first.path.valid() ? numbered.find(at->first.path) : numbered.end();
    if (same == numbered.end()) {
      ++at;
      continue;
    }
    same->second->cost += at->second.cost;
    at = files_.erase(at);
  }
}

// How often each page was read on the way, on average; blank where that is not known.
Cell times_read(const FilePages& file) {
  const std::uint64_t distinct = file.cached.distinct();
  return when(distinct > 0 && file.cached.is_complete(),
              distinct == 0 ? 0 : (file.cost.added + distinct / 2) / distinct);
}

Table FilePagesView::file_table(const ProcessPagesContext& context) const {
  Table table{.title = "by file",
              .columns = {{"file", Unit::Text},
                          {"fault", Unit::Count},
                          {"major", Unit::Count},
                          {"cache_add", Unit::Count},
                          {"cache_del", Unit::Count},
                          {"refaults", Unit::Count},
                          {"times", Unit::Number}},
              .key_count = 1,
              .sort = "cache_add"};
  const FileNames names(context.world);
  for (const auto& [key, file] : files_) {
    table.rows.push_back(
        {file.name.valid() ? std::string(context.world.strings().at(file.name)) : names.of(key.id),
         when(context.places_known(), file.cost.faults),
         when(context.places_known(), file.cost.major),
         when(context.cache_seen, file.cost.added),
         when(context.cache_seen, file.cost.deleted),
         when(context.cache_seen, file.cost.refaults),
         times_read(file)});
  }
  return table;
}

Report FilePagesView::finish(const World& world, Span span) {
  counter_.pairing().report_open();
  const ProcessPagesContext context = counter_.context(world, span);
  const ProcessPages total = counter_.rows().total();
  Report report{.view = "filepages", .title = "pages of files by process"};
  report.totals = {{"fault", Unit::Count, total.fault}};
  if (context.cache_seen) {
    report.totals.push_back({"cache_add", Unit::Count, total.cache_added});
    report.totals.push_back({"cache_del", Unit::Count, total.cache_deleted});
  }
  sort_by(report.tables.emplace_back(counter_.rows().table(kFigures, context)), "fault");
  join_by_path();
  report.tables.push_back(file_table(context));
  report.caveats.notes = place_notes(counter_.pairing().seen(), world);
  counter_.add_notes(report.caveats.notes, world);
  if (context.cache_seen) {
    shmem_pages_.report(world, namer_, report);
  }
  if (!context.cache_seen) {
    report.caveats.notes.emplace_back(
        "pages that entered the page cache are not known: the recording lacks "
        "filemap:mm_filemap_add_to_page_cache (Linux 3.10)");
  }
  report.inconclusive = !context.cache_seen;
  counter_.rows().clear();
  files_.clear();
  pieces_ = 0;
  last_file_ = nullptr;
  return report;
}

bool rests_on(const EventType& type) {
  return is_fault_event(type) || is_page_cache_event(type);
}

bool handles(const EventType& type) {
  return is_of_faults(type) || is_page_free(type) || is_page_cache_event(type) ||
         is_resident_event(type);
}

Result<std::unique_ptr<View>> make(const ViewOptions& options) {
  return make_view<FilePagesView>(KeySet::choose(options, kKeys), options.namer);
}

}  // namespace

extern const ViewSpec spec;
constinit const ViewSpec spec{
    .summary = "pages of files by process and file: faults, copies, page cache",
    .needs = kNeeds,
    .keys = kKeys,
    .default_by = kDefaultBy,
    .options = {},
    .needs_memory_map = true,
    .judges_kernel_stacks = true,
    .parts = kParts,
    .handles = handles,
    .rests_on = rests_on,
    .make = make,
};

}  // namespace memtrace::filepages_view
