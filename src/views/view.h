// Spine 6: one way of looking at a recording. One file in this folder is one view; its name is the
// file's name and CMake writes the table of all views.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/namer.h"
#include "report/report.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/task_filter.h"

namespace memtrace {

// What the user asked of a view. The shared options that act on a finished report (--top, --min,
// --sort, --exclude) are not here: report/arrange.h does them.
struct ViewOptions {
  std::vector<std::string> by = {};             // keys; empty: the view's default
  std::map<std::string, std::string> own = {};  // the view's own options, by name; flags hold "1"
  TaskFilter tasks = {};  // on() only gets their events, but World::live() holds all blocks
  bool without_percentiles = false;  // rows of page faults keep sums alone: less memory
  std::size_t stack_depth = 0;       // frames of the key stack, innermost first; 0: all
  std::uint64_t page_size_bytes = 4096;
  std::vector<std::string> migratetypes = {};             // names by number; empty when not known
  std::map<std::string, std::uint64_t> slab_caches = {};  // bytes of an object, by cache
  std::vector<std::uint32_t> cpu_nodes = {};              // NUMA node by CPU; empty: not known
  // Whether a frame is the page allocator's own and no caller of it. Empty: nothing is known.
  std::function<bool(LocationId)> is_page_allocator = {};
  // Whether it only passes on its caller's wish for memory. Empty: nothing is known.
  std::function<bool(LocationId)> is_allocation_wrapper = {};
  // The first place that was asked for in the same function, as reports name it: a function calls
  // from many places. Empty: nothing is known.
  std::function<LocationId(LocationId)> function_of = {};

  // --trace: a line for each event is wanted, and not the report.
  bool wants_lines() const { return own.contains("trace"); }

  // The user named the key, or the view's default_by does.
  bool asks_for(std::string_view key) const { return std::ranges::find(by, key) != by.end(); }

  // A key or filter needs to know of users and cgroups.
  bool asks_identity() const;
  bool has_user_key() const;
  bool has_cgroup_key() const;
  // Names for stacks, to be asked in finish() and not for each event; outlives the view. Null where
  // there are none.
  Namer* namer = nullptr;
};

// No I/O, no clock, no globals.
class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  View(View&&) = delete;
  View& operator=(View&&) = delete;
  virtual ~View() = default;

  // Once, before the first event, when it is known which events there may be. Error: Usage, an
  // option that suits none of them.
  virtual Result<> check(const std::deque<EventType>& /*types*/) { return kDone; }

  virtual void on(const Event& event, const World& world) = 0;

  // What was seen since the last call (a live view is asked each interval); what is outstanding at
  // this moment stays. start_ns and end_ns of the report, its view name and the caveats about loss
  // are filled in by the session. end_ns is the time up to which events were seen.
  struct Span {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
  };

  virtual Report finish(const World& world, Span span) = 0;

  // What has happened since the last call, if ViewOptions::wants_lines(): a row each, in the order
  // in which it was over. The columns are the same in all calls, at_ns the first of them; a view
  // that has no lines has no columns. Asked often while events come, and once more after finish().
  virtual Table take_lines(const World& /*world*/, Span /*span*/, Namer& /*namer*/) { return {}; }

  // Right after finish(): adds what only the names of functions on stacks show.
  virtual void complete(Report& /*report*/, Namer& /*namer*/) {}
};

// An option of one view, as data: cli/ makes it a command-line option. All values are text, checked
// in `make`; an option without `argument` is a flag.
struct ViewOption {
  std::string_view name;      // "older"
  std::string_view argument;  // "SECONDS", "" for a flag
  std::string_view help;
};

// What suffices of an event that a view needs, as long as nobody else wants more of it: the rest
// would cost the traced program time for nothing.
struct EventNarrowing {
  std::string_view event;
  std::string_view filter = {};  // the kernel passes on only what it is true for
  enum class Stacks : std::uint8_t { All, Kernel, None } stacks = Stacks::All;
  bool needs_field = false;  // an event without the filter's field is of no use to the view
};

// What NAME_view.cpp exports: memtrace::NAME_view::spec.
struct ViewSpec {
  // What figures of a report are of, when the view is asked more than once.
  enum class ReportOf : std::uint8_t {
    SinceLast,   // what has happened since the report before
    Moment,      // what is there now
    SinceBegin,  // what has happened since the first event
  };

  std::string_view summary;  // for --help and the man page's NAME line
  // Events to open for `record --for` this view, each group an ordered list of alternatives
  // separated by '|': the first that the kernel has is taken ("kmem:kmalloc_node|"): a group that
  // ends in '|' may be missing altogether.
  std::span<const std::string_view> needs;
  std::span<const std::string_view> keys;             // what --by takes
  std::span<const std::string_view> default_by = {};  // empty: the first key
  std::span<const ViewOption> options;
  ReportOf report_of = ReportOf::SinceLast;
  bool needs_live_blocks = false;  // World::live() is kept
  // World::find() knows all mappings: records of data mappings and the system calls that the kernel
  // announces by no record are recorded too.
  bool needs_memory_map = false;
  // World::first_touches() is kept, and what /proc says is resident is read at the begin and the
  // end.
  bool needs_resident_pages = false;
  bool needs_physical_addresses = false;  // of the pages of its software page faults, no stacks
  bool needs_call_stacks = false;         // entries of system calls carry stacks
  // What /proc says at its events is read (observe/proc_observer.h): they must arrive within
  // milliseconds, because what /proc says changes.
  bool needs_promptness = false;
  // Without a stack key (has_stack_key) the view reads no stacks, except for the lists of --trace.
  bool looks_at_stack_keys_only = false;
  bool needs_identities = false;  // it shows users or cgroups though no key asks for them
  // Null, or whether a report with these options needs no more of an event than its name, its CPU
  // and how often it happened, which the kernel counts without making samples.
  bool (*counts_suffice)(const ViewOptions& options) = nullptr;
  // It uses the kernel's functions on stacks even if stacks are not a key.
  bool judges_kernel_stacks = false;
  // Its report shows stacks whatever the keys are.
  bool always_shows_stacks = false;
  // It is of what programs do, by probes on their code: live it is to be said which.
  bool of_programs = false;
  // The lines of --trace show what this other view needs, too; "": nothing more.
  std::string_view lines_as = {};
  std::span<const EventNarrowing> parts = {};  // of needs that are not needed whole
  // Whether the view makes something of this event. Null: of those among its needs.
  bool (*handles)(const EventType& type) = nullptr;
  // Null, or which of these events it has nothing to say without.
  bool (*rests_on)(const EventType& type) = nullptr;
  // Error: Usage, for an unknown key or a bad option value.
  Result<std::unique_ptr<View>> (*make)(const ViewOptions& options) = nullptr;
};

// Asked once for each event of a recording.
bool handles(const ViewSpec& spec, const EventType& type);

// Whether a report by these keys, or by the view's first ones, shows stacks or a part of them.
bool has_stack_key(const ViewSpec& spec, const std::vector<std::string>& by);

// Whether what is asked for shows stacks: lines do only if the user named the key.
bool shows_stacks(const ViewSpec& spec, const ViewOptions& options);

// Whether it reads the stacks of events at all.
bool needs_stacks(const ViewSpec& spec, const ViewOptions& options);

// Error: Usage, as of ViewSpec::make.
Result<std::unique_ptr<View>> make_view(const ViewSpec& spec, const ViewOptions& options);

}  // namespace memtrace
