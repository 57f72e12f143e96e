// Options that mean the same in several commands: stated once, read once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"

namespace memtrace {

// Who reads these options includes what they become: commands that take none of them are compiled
// four times as fast.
struct EventSelection;  // plan/events/event_selection.h
struct LiveSetup;       // perf/live/live_source.h
struct SessionOptions;  // session/session_options.h
struct Target;          // perf/target/target.h
struct ViewOptions;     // views/view.h
struct ViewSpec;

std::span<const Option> help_option();     // --help
std::span<const Option> target_options();  // -a -p -t -d --keep-aslr
std::span<const Option> event_options();   // -e --filter --period --call-graph --ring-size
std::span<const Option> stack_options();   // --user --kernel
std::span<const Option> report_options();  // --by --sort --top --min --exclude --comm --format
std::vector<Option> view_own_options(const ViewSpec& spec);
// A command's own options, those of all reports, and those of the view unless it is null.
std::vector<Option> with_report_options(std::span<const Option> own, const ViewSpec* view);

// "12,34" of --pid or --tid. Error: Usage, not ids.
Result<std::vector<std::uint32_t>> read_ids(const ParsedOptions& parsed, std::string_view name);

// Whether it is said whom to watch.
bool has_target(const ParsedOptions& parsed);

// Error: Usage, more than one target or none of them makes sense.
Result<Target> read_target(const ParsedOptions& parsed);

// "the whole machine", "process 12, 13", "gcc -c x.c".
std::string describe_target(const Target& target);

// Duration, ring size, call graph; target and events are filled in by the caller.
Result<LiveSetup> read_live_setup(const ParsedOptions& parsed);

Result<EventSelection> read_selection(const ParsedOptions& parsed);

// Everything but the views.
Result<SessionOptions> read_session(const ParsedOptions& parsed);

// --max-memory of what reads recordings, and its default: half of what is free. Also holds this
// process to what is free, so that it ends with a sentence before the kernel kills something.
// Error: Usage.
std::span<const Option> memory_options();
Result<std::uint64_t> read_memory_bound(const ParsedOptions& parsed);

// The view's own options as given.
void read_own_options(const ParsedOptions& parsed, const ViewSpec& spec, ViewOptions& options);

}  // namespace memtrace
