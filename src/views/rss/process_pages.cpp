#include "views/rss/process_pages.h"

#include <algorithm>
#include <array>
#include <utility>

#include "views/fault/fault_keys.h"

namespace memtrace {
namespace {

constexpr std::string_view kRssEvent = "kmem:rss_stat";
constexpr std::string_view kCacheAddEvent = "filemap:mm_filemap_add_to_page_cache";
constexpr std::string_view kCacheDeleteEvent = "filemap:mm_filemap_delete_from_page_cache";

// Events of RHEL 6 that kRssEvent replaced in later kernels.
constexpr auto kGivenBackEvents =
    std::to_array<std::string_view>({"kmem:mm_anon_userfree", "kmem:mm_filemap_userunmap"});
constexpr auto kCopyEvents =
    std::to_array<std::string_view>({"kmem:mm_anon_cow", "kmem:mm_filemap_cow"});

bool is_free_name(std::string_view name) {
  return name == "kmem:mm_page_free" || name == "kmem:mm_page_free_direct";
}

}  // namespace

bool is_page_free(const EventType& type) {
  return is_free_name(type.name) || type.name == "kmem:mm_pagevec_free";
}

bool is_page_cache_event(const EventType& type) {
  return type.name == kCacheAddEvent || type.name == kCacheDeleteEvent;
}

bool is_resident_event(const EventType& type) {
  return type.name == kRssEvent ||
         std::ranges::find(kGivenBackEvents, type.name) != kGivenBackEvents.end() ||
         std::ranges::find(kCopyEvents, type.name) != kCopyEvents.end();
}

ProcessPageCounter::ProcessPageCounter(const KeySet& keys, RssMember member, OnFault on_fault)
    : rows_(keys),
      member_(member),
      on_fault_(std::move(on_fault)),
      pairing_(keys, [this](const Fault& fault) { on_fault_(fault, rows_.row_at(fault.keys)); }) {}

void ProcessPageCounter::check(const std::deque<EventType>& types) {
  pairing_.check(types);
  for (const EventType& type : types) {
    events_.push_back(type.name);
  }
}

bool ProcessPageCounter::has(std::string_view event) const {
  return std::ranges::find(events_, event) != events_.end();
}

void ProcessPageCounter::on(const Event& event, const World& world) {
  if (pairing_.on(event, world)) {
    return;
  }
  if (const auto* alloc = std::get_if<PageAlloc>(&event.payload)) {
    rows_.row(event).alloc += alloc->failed ? 0 : event.weight << alloc->order;
  } else if (const auto* free = std::get_if<PageFree>(&event.payload)) {
    rows_.row(event).free += event.weight << free->order;
  } else if (const auto* stat = std::get_if<RssStat>(&event.payload)) {
    on_rss(event, *stat, world);
  } else if (const auto* page = std::get_if<ResidentPage>(&event.payload)) {
    on_page(event, *page);
  } else if (const auto* change = std::get_if<PageCacheChange>(&event.payload)) {
    ProcessPages& row = rows_.row(event);
    (change->added ? row.cache_added : row.cache_deleted) += event.weight << change->order;
  }
}

void ProcessPageCounter::on_rss(const Event& event, const RssStat& stat, const World& world) {
  const bool of_swap = member_ == RssMember::Anonymous && stat.member == RssMember::Swap;
  const auto change = stat.member == member_ || of_swap
                          ? rss_.apply(event.pid, stat, world.processes())
                          : std::nullopt;
  if (!change) {
    return;
  }
  Event of_owner = event;  // the task that unmapped it
  if (!change->by_owner) {
    of_owner.pid = change->pid;
    of_owner.tid = change->pid;
    of_owner.comm = world.processes().comm(change->pid, change->pid);
  }
  ProcessPages& row = rows_.row(of_owner);
  if (of_swap) {
    // A page becomes a swap entry right after it was unmapped (mm/rmap.c, try_to_unmap_one): a
    // process that reclaims its own memory has not given it back.
    const std::uint64_t pages = change->grown_bytes / world.page_size_bytes();
    const std::uint64_t moved = change->by_owner ? std::min(pages, row.user_unmapped) : 0;
    row.user_unmapped -= moved;
    row.kernel_unmapped += moved;
    return;
  }
  const std::uint64_t pages = change->shrunk_bytes / world.page_size_bytes();
  (change->by_owner ? row.user_unmapped : row.kernel_unmapped) += pages;
}

// If kRssEvent or an error code report the same, they do so for more pages.
void ProcessPageCounter::on_page(const Event& event, const ResidentPage& page) {
  if (page.change == ResidentChange::GivenBack) {
    if (page.member == member_ && !has(kRssEvent)) {
      rows_.row(event).user_unmapped += event.weight;
    }
  } else if (!pairing_.seen().error_codes) {
    // The copy of a file's page is anonymous memory, too.
    const bool counts = member_ == RssMember::Anonymous || page.member == member_;
    rows_.row(event).copied += counts ? event.weight : 0;
  }
}

ProcessPagesContext ProcessPageCounter::context(const World& world, View::Span span) const {
  ProcessPagesContext context{{.world = world, .span = span}};
  context.frees_seen = std::ranges::any_of(events_, is_free_name);
  context.error_codes_seen = pairing_.seen().error_codes;
  context.rss_seen = has(kRssEvent);
  context.given_back_seen = has(kGivenBackEvents[member_ == RssMember::Anonymous ? 0 : 1]);
  context.copies_seen =
      std::ranges::any_of(kCopyEvents, [this](std::string_view event) { return has(event); });
  context.cache_seen = has(kCacheAddEvent);
  return context;
}

// Notes on what only RHEL 6 reports: mm/memory.c, mm/huge_memory.c and mm/rmap.c there.
void ProcessPageCounter::add_resident_notes(std::vector<std::string>& notes) const {
  const bool of_anonymous = member_ == RssMember::Anonymous;
  if (!has(kGivenBackEvents[of_anonymous ? 0 : 1])) {
    notes.emplace_back(
        "unmapped pages are not known: the recording lacks kmem:rss_stat (Linux 5.5)");
  } else if (of_anonymous) {
    notes.emplace_back(
        "unmap is not known: kmem:mm_anon_unmap reports only pages that reclaim found locked; "
        "ufree does not include huge pages, which this kernel frees without an event");
  } else {
    notes.emplace_back(
        "kunmap is not known: kmem:mm_filemap_unmap does not report a page's last mapping");
  }
}

void ProcessPageCounter::add_notes(std::vector<std::string>& notes, const World& world) const {
  if (!has(kRssEvent)) {
    add_resident_notes(notes);
  }
  const FaultEvents& seen = pairing_.seen();
  const bool copies_seen = context(world, {}).copies_seen;
  if (seen.any() && !seen.error_codes) {
    notes.emplace_back(
        copies_seen
            ? "cow counts only copies of the zero page and of mapped pages of files: this kernel "
              "has no event for other copies, such as those of pages that a fork shared"
            : "cow is not known: only exceptions:page_fault_user distinguishes a copy from another "
              "fault");
  }
  if (member_ == RssMember::Anonymous && world.vmstat_growth().contains("pswpout")) {
    notes.emplace_back(kSwapCacheNote);
  }
  if (seen.sampled) {
    notes.emplace_back(
        "only one in N events was sampled: the entry and the end of a fault seldom meet, and what "
        "was unmapped between samples is put on one account");
  }
}

}  // namespace memtrace
