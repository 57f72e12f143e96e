// Pages by process: what the tables of anon and filepages have in common.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "views/fault/fault_pairing.h"
#include "views/kit/group_by.h"
#include "views/rss/rss_tracker.h"

namespace memtrace {

// All in pages, faults excepted.
struct ProcessPages {
  std::uint64_t alloc = 0;
  std::uint64_t free = 0;
  std::uint64_t fault = 0;
  std::uint64_t major = 0;
  std::uint64_t copied = 0;
  std::uint64_t user_unmapped = 0;    // by the process itself
  std::uint64_t kernel_unmapped = 0;  // by others
  std::uint64_t cache_added = 0;
  std::uint64_t cache_deleted = 0;
};

// What the recording has: a column is blank where it lacks the event that the column is made of.
struct ProcessPagesContext : CellContext {
  bool frees_seen = false;
  bool error_codes_seen = false;  // how faults accessed memory
  bool rss_seen = false;          // what is resident
  bool given_back_seen = false;   // or at least what tasks gave back themselves
  bool copies_seen = false;       // copied pages, one by one
  bool cache_seen = false;        // pages in the page cache

  bool places_known() const { return knows_places(world); }

  bool given_back_known() const { return given_back_seen || rss_seen; }

  // A fault's copy counts where its place is known, a copy's own event needs none.
  bool copies_known() const { return error_codes_seen ? places_known() : copies_seen; }
};

using PagesFigure = Figure<ProcessPages, ProcessPagesContext>;

// Feeds rows with what does not depend on the kind of memory, and with one member of what is
// resident.
class ProcessPageCounter {
 public:
  // on_fault adds to the row of its fault.
  using OnFault = std::function<void(const Fault& fault, ProcessPages& row)>;

  ProcessPageCounter(const KeySet& keys, RssMember member, OnFault on_fault);
  // What it pairs calls it back where it is.
  ProcessPageCounter(const ProcessPageCounter&) = delete;
  ProcessPageCounter& operator=(const ProcessPageCounter&) = delete;
  ProcessPageCounter(ProcessPageCounter&&) = delete;
  ProcessPageCounter& operator=(ProcessPageCounter&&) = delete;
  ~ProcessPageCounter() = default;

  void check(const std::deque<EventType>& types);
  void on(const Event& event, const World& world);

  GroupBy<ProcessPages>& rows() { return rows_; }

  FaultPairing& pairing() { return pairing_; }

  ProcessPagesContext context(const World& world, View::Span span) const;
  // Sentences for columns that are blank.
  void add_notes(std::vector<std::string>& notes, const World& world) const;

 private:
  // Whether the recording has an event, though it may not have happened.
  bool has(std::string_view event) const;
  void on_rss(const Event& event, const RssStat& stat, const World& world);
  void on_page(const Event& event, const ResidentPage& page);
  void add_resident_notes(std::vector<std::string>& notes) const;

  GroupBy<ProcessPages> rows_;
  RssMember member_;
  OnFault on_fault_;
  FaultPairing pairing_;
  RssTracker rss_;
  std::vector<std::string> events_;
};

bool is_page_free(const EventType& type);
bool is_page_cache_event(const EventType& type);
bool is_resident_event(const EventType& type);

// Nothing is shown by stack.
inline constexpr auto kProcessPageParts = std::to_array<EventNarrowing>({
    {.event = "exceptions:page_fault_user", .stacks = EventNarrowing::Stacks::None},
    {.event = "exceptions:page_fault_kernel", .stacks = EventNarrowing::Stacks::None},
    {.event = "page-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "minor-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "major-faults", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_page_alloc", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:rss_stat", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_anon_userfree", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_anon_cow", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_filemap_userunmap", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:mm_filemap_cow", .stacks = EventNarrowing::Stacks::None},
    {.event = "filemap:mm_filemap_add_to_page_cache", .stacks = EventNarrowing::Stacks::None},
    {.event = "filemap:mm_filemap_delete_from_page_cache", .stacks = EventNarrowing::Stacks::None},
});

}  // namespace memtrace
