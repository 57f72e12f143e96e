#include "cli/options/shared_options.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "base/units.h"
#include "cli/options/call_graph_option.h"
#include "cli/options/overhead_option.h"
#include "os/own/own_memory.h"
#include "os/system.h"
#include "perf/event/ring_size.h"
#include "perf/live/live_source.h"
#include "plan/events/event_selection.h"
#include "plan/probes/custom_allocator.h"
#include "render/all/all_renderers.h"
#include "report/call_tree.h"
#include "session/session_options.h"

namespace memtrace {
namespace {

constexpr auto kHelp = std::to_array<Option>({{"help", 'h', "", "show this"}});

constexpr auto kEvents = std::to_array<Option>({
    {"event",
     'e',
     "EVENT,...",
     "record these events: group:event, patterns as in 'vmscan:*', page-faults, minor-faults, "
     "major-faults, uprobe:FILE:FUNCTION, sdt:PATH:PROVIDER:NAME, mem:ADDRESS, and with "
     "--kprobes kprobe:FUNCTION"},
    {"filter",
     0,
     "EXPR",
     "only events for which this is true, tested in the kernel: 'bytes_req > 4096'"},
    {"alloc",
     0,
     "FUNCTION,...",
     "functions of an allocator that memtrace does not know: 'pool_take(size=arg2)'"},
    {"free", 0, "FUNCTION,...", "functions that free its blocks: 'pool_give(ptr=arg1)'"},
    {"one-probe",
     0,
     "",
     "probe glibc's allocator at its returns only: fewer events, rounded-up sizes"},
    {"kprobes",
     0,
     "",
     "probe kernel functions where tracepoints are missing; allows -e "
     "'kprobe:FUNCTION(name=arg1)'"},
    {"period", 0, "N", "record one in N events; reports scale the figures by N"},
    {"max-overhead",
     0,
     "PERCENT",
     "record as many of the events as cost the watched programs no more than this share of their "
     "CPU time: 3%"},
    {"call-graph",
     0,
     "fp|dwarf[,BYTES]|none",
     "user stacks by frame pointers, or unwound from BYTES copied of each stack (the default, "
     "except for the kernel's own work, such as kmem:), or no stacks"},
    {"ring-size",
     'm',
     "SIZE",
     "memory for each CPU's ring (default up to 64 MiB, 256 MiB for copied stacks)"},
    {"max-memory",
     0,
     "SIZE",
     "memory for events that wait to be sorted (default a twelfth of all, at most 2 GiB)"},
});

constexpr auto kMemory = std::to_array<Option>({
    {"max-memory",
     0,
     "SIZE",
     "stop reading where the report's tables have this size (default half of what is free)"},
});

constexpr auto kStacks = std::to_array<Option>({
    {"user", 0, "", "only the user part of stacks"},
    {"kernel", 0, "", "only the kernel part of stacks"},
});

constexpr auto kReport = std::to_array<Option>({
    {"by", 0, "KEY,...", "group by these keys; memtrace help VIEW lists them"},
    {"sort", 0, "COLUMN", "sort by this column, largest first"},
    {"top", 0, "N", "show N rows (default 20); 0 shows all"},
    {"depth",
     0,
     "N",
     "only the N innermost frames of stacks: what differs further out is added up"},
    {"min", 0, "N", "leave out rows with a count below N"},
    {"limit", 'n', "N", "the same as --top", "top"},
    {"tree",
     0,
     "[=caller|callee]",
     "stacks as a tree of calls: from callers to callees, or the other way round"},
    {"exclude", 0, "REGEX,...", "leave out rows if one of these matches in their stack or names"},
    {"suppressions", 0, "FILE", "leave out the stacks that FILE lists, in LeakSanitizer's format"},
    {"comm", 0, "NAME,...", "only threads with these names"},
    {"uid", 0, "UID|NAME,...", "only processes of these users"},
    {"cgroup",
     0,
     "TEXT,...",
     "only processes whose cgroup or container contains one of these texts"},
    {"clock",
     0,
     "wall|mono|offset",
     "when things happened: time of day, records' clock, or since the start"},
    {"format",
     0,
     "FORMAT",
     "text, json, csv, ndjson, openmetrics, folded, html, svg, pprof, speedscope, firefox, massif, "
     "heaptrack"},
    {"width", 0, "N", "text of N columns; a table that is wider has a block of lines for each row"},
    {"wide", 0, "", "text as wide as it needs to be"},
    {"color", 0, "WHEN", "colours in text: auto (on a terminal, the default), always, never"},
    {"json", 0, "", "the same as --format json", "format", "json"},
    {"csv", 0, "", "the same as --format csv", "format", "csv"},
});

constexpr std::uint64_t kDefaultTop = 20;
constexpr std::size_t kShownBytes = 80;  // of what an error is about

// A file, what a shell's <(...) writes, or /dev/null for none.
Result<std::string> read_suppressions(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;
  auto text = read_file(path, kMaxBytes + 1);
  if (text.ok() && text.value().size() > kMaxBytes) {
    return Error{path + " is not a list of suppressions: it is larger than 16 MiB",
                 0,
                 "give a file with lines such as leak:FUNCTION"};
  }
  return text;
}

Result<std::vector<NamePattern>> read_excludes(const ParsedOptions& parsed) {
  std::vector<NamePattern> patterns;
  for (const std::string& text : parsed.list("exclude")) {
    auto pattern = NamePattern::parse(text);
    if (!pattern.ok()) {
      const std::string shown =
          text.size() > kShownBytes ? text.substr(0, kShownBytes) + "..." : text;
      return Error{"--exclude " + shown, 0, pattern.error().message, ErrorKind::Usage};
    }
    patterns.push_back(pattern.take());
  }
  return patterns;
}

// 0: the default, queue_limit_bytes().
Result<std::size_t> read_max_memory(const ParsedOptions& parsed) {
  auto bytes = parsed.bytes("max-memory", 0);
  if (bytes.ok() && bytes.value() < kSmallestQueueBytes && parsed.has("max-memory")) {
    return Error{"--max-memory " + parsed.text("max-memory"),
                 0,
                 "the least is " + print_bytes(kSmallestQueueBytes),
                 ErrorKind::Usage};
  }
  return bytes;
}

constexpr std::uint64_t kLeastTables = std::uint64_t{16} << 20U;
// The least tables, and 24 MiB for the program itself, names and the text of the report.
constexpr std::uint64_t kLeastFree = std::uint64_t{40} << 20U;

Result<> read_custom_functions(const std::vector<std::string>& texts, HeapOp op, HeapNeeds& needs) {
  for (const std::string& text : texts) {
    auto custom = parse_custom_function(text, op);
    if (!custom.ok()) {
      return custom.take_error();
    }
    needs.custom.push_back(custom.take());
  }
  return kDone;
}

Result<Suppressions> parse_suppressions(const std::string& path) {
  const auto text = read_suppressions(path);
  return text.ok() ? Suppressions::parse(text.value(), path) : Result<Suppressions>(text.error());
}

}  // namespace

std::span<const Option> help_option() {
  return kHelp;
}

std::span<const Option> event_options() {
  return kEvents;
}

std::span<const Option> stack_options() {
  return kStacks;
}

std::span<const Option> memory_options() {
  return kMemory;
}

std::span<const Option> report_options() {
  return kReport;
}

std::vector<Option> view_own_options(const ViewSpec& spec) {
  std::vector<Option> options;
  for (const ViewOption& own : spec.options) {
    options.push_back({own.name, 0, own.argument, own.help});
  }
  return options;
}

std::vector<Option> with_report_options(std::span<const Option> own, const ViewSpec* view) {
  auto all = joined({own, report_options(), stack_options(), help_option()});
  if (view != nullptr) {
    const auto of_view = view_own_options(*view);
    all.insert(all.end(), of_view.begin(), of_view.end());
  }
  return all;
}

Result<LiveSetup> read_live_setup(const ParsedOptions& parsed) {
  auto duration = parsed.duration_ns("duration", 0);
  auto ring = parsed.bytes("ring-size", 0);
  auto call_graph = read_call_graph(parsed);
  if (!duration.ok()) {
    return duration.take_error();
  }
  if (ring.ok() && ring.value() != 0 && ring.value() < page_size_bytes()) {
    return Error{"--ring-size " + parsed.text("ring-size"),
                 0,
                 "takes bytes, not pages as perf's -m: 16M",
                 ErrorKind::Usage};
  }
  if (!ring.ok() || !call_graph.ok()) {
    return ring.ok() ? call_graph.take_error() : ring.take_error();
  }
  const auto queue = read_max_memory(parsed);
  if (!queue.ok()) {
    return queue.error();
  }
  const auto overhead = read_max_overhead(parsed);
  if (!overhead.ok()) {
    return overhead.error();
  }
  return LiveSetup{.call_graph = call_graph.value(),
                   .ring_bytes = ring.value(),
                   .queue_bytes = queue.value(),
                   .max_overhead = overhead.value(),
                   .duration_ns = duration.value()};
}

Result<std::uint64_t> read_memory_bound(const ParsedOptions& parsed) {
  const auto free = free_memory_bytes();
  const auto bytes = parsed.bytes("max-memory", std::max(free.value_or(0) / 2, kLeastTables));
  if (bytes.ok() && bytes.value() < kLeastTables) {
    return Error{"--max-memory " + parsed.text("max-memory"),
                 0,
                 "the least is " + print_bytes(kLeastTables),
                 ErrorKind::Usage};
  }
  if (free && *free < kLeastFree) {
    return Error{"memory is short: " + print_bytes(*free) +
                     " is free, and a report needs at least " + print_bytes(kLeastFree),
                 ENOMEM,
                 "copy the recording to a machine or a cgroup (memory.max) with more memory"};
  }
  if (free) {
    limit_own_memory(*free - *free / 16);
  }
  return bytes.ok() && !free && !parsed.has("max-memory") ? Result<std::uint64_t>(0) : bytes;
}

Result<HeapNeeds> read_heap_needs(const ParsedOptions& parsed) {
  HeapNeeds needs{.one_probe = parsed.has("one-probe")};
  auto min = parsed.bytes("min-bytes", needs.min_bytes);
  auto max = parsed.bytes("max-bytes", needs.max_bytes);
  if (!min.ok() || !max.ok()) {
    return min.ok() ? max.take_error() : min.take_error();
  }
  needs.min_bytes = min.value();
  needs.max_bytes = max.value();
  TRY(read_custom_functions(parsed.list("alloc"), HeapOp::Alloc, needs));
  TRY(read_custom_functions(parsed.list("free"), HeapOp::Free, needs));
  return needs;
}

Result<EventSelection> read_selection(const ParsedOptions& parsed) {
  auto period = parsed.number("period", 1);
  // The kernel takes no period with the highest bit set (kernel/events/core.c, perf_event_open).
  if (!period.ok() || period.value() == 0 || period.value() >> 63U != 0) {
    return Error{"--period " + parsed.text("period"),
                 0,
                 "takes a whole number from 1 to 9223372036854775807",
                 ErrorKind::Usage};
  }
  auto heap = read_heap_needs(parsed);
  if (!heap.ok()) {
    return heap.take_error();
  }
  heap.value().period = period.value();
  return EventSelection{.events = parsed.list("event"),
                        .filter = parsed.text("filter"),
                        .period = period.value(),
                        .heap = heap.take(),
                        .kprobes = parsed.has("kprobes")};
}

// Names are those of the recording, which may be another machine's.
Result<> read_users(const ParsedOptions& parsed, TaskFilter& tasks) {
  for (const std::string& text : parsed.list("uid")) {
    const auto uid = parse_number(text);
    const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
    if (text.empty() || (is_number && (!uid || *uid > 0xffffffffU))) {
      return Error{"--uid " + text, 0, "takes user ids or names: 1000, root", ErrorKind::Usage};
    }
    if (is_number) {
      tasks.uids.push_back(static_cast<std::uint32_t>(*uid));
    } else {
      tasks.users.push_back(text);
    }
  }
  return kDone;
}

Result<ClockKind> read_clock(const ParsedOptions& parsed) {
  constexpr auto kKinds = std::to_array<std::pair<std::string_view, ClockKind>>(
      {{"wall", ClockKind::Wall}, {"mono", ClockKind::Mono}, {"offset", ClockKind::Offset}});
  const std::string name = parsed.text("clock", "wall");
  const auto* const found = std::ranges::find(kKinds, name, &decltype(kKinds)::value_type::first);
  if (found == kKinds.end()) {
    return Error{"--clock " + name, 0, "takes wall, mono or offset", ErrorKind::Usage};
  }
  return found->second;
}

std::uint64_t default_top(const std::string& format) {
  const NamedRenderer* renderer = find_renderer(format);
  return renderer != nullptr && renderer->wants_all_rows ? 0 : kDefaultTop;
}

// Of the suppressions' patterns, any may match further out.
Result<> read_depth(const ParsedOptions& parsed, SessionOptions& session) {
  const auto depth = parsed.number("depth", 0);
  if (!depth.ok()) {
    return depth.error();
  }
  session.view_options.stack_depth = depth.value();
  if (depth.value() != 0 && parsed.has("suppressions")) {
    return Error{"--depth beside --suppressions",
                 0,
                 "suppressions look at whole stacks: give one of the two",
                 ErrorKind::Usage};
  }
  return kDone;
}

Result<> read_tree(const ParsedOptions& parsed, SessionOptions& session) {
  if (!parsed.has("tree")) {
    return kDone;
  }
  const std::string word = parsed.text("tree");
  const bool is_left_out = word == "1";
  session.arrange.tree = is_left_out ? TreeOrder::Caller : tree_order_of(word);
  if (!session.arrange.tree) {
    return Error{"--tree=" + word, 0, "takes caller or callee", ErrorKind::Usage};
  }
  if (parsed.text("format") == "folded") {
    return Error{"--tree prints no folded",
                 0,
                 "folded stacks are all that a tree is made of: leave --tree out",
                 ErrorKind::Usage};
  }
  return kDone;
}

// Who asks for a tree of stacks, or for their depth, need not ask for them.
Result<> read_stack_options(const ParsedOptions& parsed, SessionOptions& session) {
  TRY(read_depth(parsed, session));
  TRY(read_tree(parsed, session));
  if (parsed.has("user") != parsed.has("kernel")) {
    session.part = parsed.has("user") ? StackPart::User : StackPart::Kernel;
  }
  std::vector<std::string>& by = session.view_options.by;
  const bool wants_depth = session.view_options.stack_depth != 0;
  if (by.empty() && (wants_depth || session.arrange.tree)) {
    by = {"stack"};
  }
  if (wants_depth && std::ranges::find(by, "stack") == by.end()) {
    return Error{
        "--depth: stacks are not among the keys", 0, "group by them: --by stack", ErrorKind::Usage};
  }
  return kDone;
}

Result<SessionOptions> read_session(const ParsedOptions& parsed) {
  SessionOptions session;
  session.view_options.by = parsed.list("by");
  auto clock = read_clock(parsed);
  if (!clock.ok()) {
    return clock.take_error();
  }
  session.clock = clock.value();
  session.view_options.tasks.comms = parsed.list("comm");
  session.view_options.tasks.cgroups = parsed.list("cgroup");
  TRY(read_users(parsed, session.view_options.tasks));
  TRY(read_stack_options(parsed, session));
  if (parsed.has("suppressions")) {
    auto suppressions = parse_suppressions(parsed.text("suppressions"));
    if (!suppressions.ok()) {
      return suppressions.take_error();
    }
    session.suppressions = suppressions.take();
  }
  ArrangeOptions& arrange = session.arrange;
  auto top = parsed.number("top", default_top(parsed.text("format")));
  auto min = parsed.number("min", 0);
  auto excludes = read_excludes(parsed);
  if (!top.ok() || !min.ok()) {
    return top.ok() ? min.take_error() : top.take_error();
  }
  if (!excludes.ok()) {
    return excludes.take_error();
  }
  arrange.sort = parsed.text("sort");
  arrange.top = top.value();
  arrange.min_count = min.value();
  arrange.exclude = excludes.take();
  arrange.closing_figures = parsed.has("min") || parsed.has("exclude");
  return session;
}

void read_own_options(const ParsedOptions& parsed, const ViewSpec& spec, ViewOptions& options) {
  for (const ViewOption& own : spec.options) {
    if (parsed.has(own.name)) {
      options.own[std::string(own.name)] = parsed.text(own.name);
    }
  }
}

}  // namespace memtrace
