#include "cli/options/foreign_options.h"

#include <algorithm>
#include <array>
#include <utility>

namespace memtrace {
namespace {

struct ForeignOption {
  std::string_view command;  // alias, view or command before it; "" matches any
  std::string_view option;
  std::string_view hint;
};

// Options of bcc's memleak, drsnoop, shmsnoop, compactsnoop, slabratetop, of heaptrack, and of
// perf. The first match is taken.
constexpr auto kOptions = std::to_array<ForeignOption>({
    {"memleak", "-o", "memleak's -o is --older here, with a unit: --older 500ms"},
    {"memleak",
     "--show-allocs",
     "memtrace kleaks --addresses lists the kernel's blocks; with -p PID, -a lists those of a "
     "process"},
    {"memleak", "-s", "memleak's -s is --period N here: one event in N"},
    {"memleak", "--sample-rate", "--period N records one event in N"},
    {"memleak", "--command", "put the command after --: memtrace memleak -- COMMAND"},
    {"memleak", "-T", "memleak's -T is --top N here"},
    {"memleak", "-z", "memleak's -z is --min-bytes BYTES here"},
    {"memleak", "--min-size", "memleak's --min-size is --min-bytes BYTES here"},
    {"memleak", "-Z", "memleak's -Z is --max-bytes BYTES here"},
    {"memleak", "--max-size", "memleak's --max-size is --max-bytes BYTES here"},
    {"memleak",
     "-O",
     "memtrace finds allocators in all files of a process; name others with --alloc and --free"},
    {"memleak",
     "--obj",
     "memtrace finds allocators in all files of a process; name others with --alloc and --free"},
    {"memleak", "--combined-only", "figures are added up by stack; --show-allocs lists each block"},
    {"memleak", "--wa-missing-free", "a block at an address that is used again counts as freed"},
    {"memleak", "--percpu", "the kernel's memory is in the views kleaks and slab"},
    {"memleak", "--kernel-trace", "leaks of the kernel's memory are in the view kleaks"},
    {"drsnoop", "-U", "each line has the uid"},
    {"drsnoop", "--print-uid", "each line has the uid"},
    {"drsnoop", "-u", "drsnoop's -u is --uid UID here"},
    {"drsnoop", "-n", "drsnoop's -n is --comm NAME here; * matches anything"},
    {"drsnoop", "--name", "drsnoop's --name is --comm NAME here; * matches anything"},
    {"drsnoop", "-e", "each line has the free memory, but no figures of zones"},
    {"drsnoop", "--extended", "each line has the free memory, but no figures of zones"},
    {"compactsnoop", "-K", "--by stack prints the kernel's stack below each line"},
    {"compactsnoop", "--kernel-stack", "--by stack prints the kernel's stack below each line"},
    {"compactsnoop", "-e", "each line has its zone's watermarks and fragmentation"},
    {"compactsnoop", "--extended", "each line has its zone's watermarks and fragmentation"},
    {"shmsnoop", "-n", "shmsnoop's -n is --comm NAME here; * matches anything"},
    {"shmsnoop", "--name", "shmsnoop's --name is --comm NAME here"},
    {"slabratetop", "-C", "tables follow each other unless --clear is given"},
    {"slabratetop", "--noclear", "tables follow each other unless --clear is given"},
    {"slabratetop", "-r", "slabratetop's -r is --top N here"},
    {"slabratetop", "--maxrows", "slabratetop's --maxrows is --top N here"},
    {"heaptrack", "-o", "to keep a recording: memtrace record --for heap -o FILE -- COMMAND"},
    {"heaptrack", "-r", "to keep a recording: memtrace record --for heap -- COMMAND"},
    {"heaptrack", "--record-only", "to keep a recording: memtrace record --for heap -- COMMAND"},
    {"heaptrack", "-a", "memtrace report heap -i FILE shows a recording"},
    {"heaptrack", "--analyze", "memtrace report heap -i FILE shows a recording"},
    {"heaptrack",
     "-d",
     "memtrace does not run in a debugger; --duration SECONDS stops after a time"},
    {"heaptrack", "--debug", "memtrace does not run in a debugger"},
    {"record",
     "-F",
     "memtrace records every event, not at a frequency; --period N records one in N"},
    {"record",
     "--freq",
     "memtrace records every event, not at a frequency; --period N records one in N"},
    {"record", "-c", "perf's -c is --period N here; put a command after --"},
    {"record", "--count", "perf's --count is --period N here"},
    {"record", "-g", "stacks are recorded unless --call-graph none is given"},
    {"record", "-u", "perf's -u is --uid UID here"},
    {"record", "-G", "perf's -G is --cgroup TEXT here"},
    {"record", "--overwrite", "--max-time TIME --keep 1 keeps the newest part only"},
    {"record", "--user-regs", "the registers that unwinding needs are recorded"},
    {"record", "--intr-regs", "the registers that unwinding needs are recorded"},
    {"record", "-C", "all CPUs are recorded; the view count has --by cpu"},
    {"record", "--cpu", "all CPUs are recorded; the view count has --by cpu"},
    {"record", "-i", "children are always watched; report with --pid PID for one process"},
    {"record",
     "--no-inherit",
     "children are always watched; report with --pid PID for one process"},
    {"record", "-D", "report with --time START, to leave out the beginning"},
    {"record", "--delay", "report with --time START, to leave out the beginning"},
    {"record", "--mmap-pages", "perf's --mmap-pages is --ring-size here, in bytes: 16M"},
    {"record",
     "--switch-output",
     "perf's --switch-output is --max-size SIZE, --max-time TIME or SIGUSR2 here"},
    {"record", "--switch-max-files", "perf's --switch-max-files is --keep N here"},
    {"record", "--by", "grouping is an option of report: memtrace report VIEW --by KEY"},
    {"record", "--top", "this is an option of report: memtrace report VIEW --top N"},
    {"report", "--stdio", "reports are text unless --format says otherwise"},
    {"report", "--tui", "reports are text unless --format says otherwise"},
    {"report", "-s", "perf's -s is --by KEY,... here"},
    {"report", "-F", "the view determines the columns; --by KEY,... groups its rows"},
    {"report", "--fields", "the view determines the columns; --by KEY,... groups its rows"},
    {"report", "-g", "--tree shows calls as a tree, --by stack stacks as a list"},
    {"report", "--call-graph", "--tree or --tree=callee shows calls as a tree"},
    {"report", "-G", "perf's -G is --tree here"},
    {"report", "--inverted", "perf's --inverted is --tree here"},
    {"report", "-n", "counts are always shown; -n N shows N rows"},
    {"report", "--children", "--tree shows for each function what comes through it, and its own"},
    {"report", "--no-children", "--tree shows for each function what is its own"},
    {"report", "--hierarchy", "--by KEY,... makes a row for each combination of keys"},
    {"report", "-U", "--by stack shows stacks; --user shows only their user part"},
    {"report",
     "--dsos",
     "--exclude REGEX leaves functions out; grep the output of --format folded"},
    {"report", "--symbols", "--exclude REGEX leaves functions out; -n N limits the rows"},
    {"report", "--cpu", "--by cpu has a row for each CPU"},
    {"report", "--symfs", "names are in the recording, unless record --no-symbols made it"},
    {"report", "--kallsyms", "names are in the recording, unless record --no-symbols made it"},
    {"report", "--vmlinux", "names are in the recording, unless record --no-symbols made it"},
    {"report", "-k", "names are in the recording, unless record --no-symbols made it"},
    {"report", "--tasks", "--by comm,pid shows processes"},
    {"report", "--stats", "memtrace report --all shows how many events there are"},
    {"report", "-q", "nothing but the report and what is missing in it is printed"},
    {"report", "--quiet", "nothing but the report and what is missing in it is printed"},
    {"report", "-T", "--by tid shows threads"},
    {"report", "--threads", "--by tid shows threads"},
    {"report", "-c", "perf's -c is --comm NAME here"},
    {"report", "--comms", "perf's --comms is --comm NAME here"},
    {"report", "-S", "--exclude REGEX leaves functions out; grep the output of --format folded"},
    {"report", "-d", "the duration is an option of record; --time START,STOP reports a part"},
    {"report",
     "--percent-limit",
     "--min N leaves out rows with a lower count, --top N all after N"},
    {"report", "-D", "perf script -i FILE prints each event"},
    {"report", "--header", "memtrace report without a view shows what the file holds"},
    {"report", "-f", "everyone who can read the file can report on it"},
    {"record", "-r", "memtrace reads its rings at real-time priority where it may"},
    {"record", "--realtime", "memtrace reads its rings at real-time priority where it may"},
    {"record", "--all-user", "perf's --all-user is --user here"},
    {"record", "--all-kernel", "perf's --all-kernel is --kernel here"},
    {"record", "-k", "times are of CLOCK_MONOTONIC"},
    {"record", "--clockid", "times are of CLOCK_MONOTONIC"},
    {"record", "-q", "memtrace prints one line at the end; 2>/dev/null drops it"},
    {"record", "--quiet", "memtrace prints one line at the end; 2>/dev/null drops it"},
    {"record", "-R", "raw fields of tracepoints are always recorded"},
    {"record", "--raw-samples", "raw fields of tracepoints are always recorded"},
    {"record", "-b", "branches are not recorded: memtrace is about memory"},
    {"record", "-S", "--max-time TIME --keep 1 keeps the newest part only"},
    {"record", "--snapshot", "--max-time TIME --keep 1 keeps the newest part only"},
    {"record", "-n", "-n N limits the rows of a report"},
    {"record", "-f", "an old file of that name is replaced"},
    {"record", "--tree", "this is an option of report: memtrace report VIEW --tree"},
    {"record", "--json", "this is an option of report: memtrace report VIEW --json"},
    {"record", "--csv", "this is an option of report: memtrace report VIEW --csv"},
    {"record", "--format", "this is an option of report: memtrace report VIEW --format json"},
    {"", "--max-stack", "--depth N shows the N innermost frames"},
    {"", "--perf-max-stack-depth", "stacks have no limit here; --depth N shows N frames"},
    {"", "--stack-storage-size", "stacks have no limit here"},
    {"", "-l", "memtrace list shows views, events and keys"},
    {"", "-T", "with --trace each row has its time; --top N shows N rows"},
    {"", "--timestamp", "with --trace each row has its time"},
    {"", "-o", "--output FILE writes the report; memtrace record --for VIEW -o FILE records"},
    {"", "-s", "--sort COLUMN sorts by a column, --by KEY groups by a key"},
    {"", "-c", "put a command after --; --comm NAME selects threads by name"},
    {"", "-n", "--comm NAME selects threads by name; --top N limits the rows"},
    {"", "-u", "--uid UID selects the processes of a user"},
    {"", "-g", "--by stack shows stacks"},
    {"", "-K", "--by stack shows stacks; --kernel shows only their kernel part"},
    {"", "-U", "--by stack shows stacks; --user shows only their user part"},
    {"", "-F", "memtrace counts every event, not at a frequency; --period N records one in N"},
    {"", "-C", "all CPUs are watched"},
    {"", "-i", "report reads files: memtrace report VIEW -i FILE"},
    {"", "--input", "report reads files: memtrace report VIEW -i FILE"},
    {"", "-x", "-p PID watches a process"},
    {"",
     "-v",
     "record --dry-run --for VIEW lists the events; memtrace doctor says what works here"},
    {"",
     "--verbose",
     "record --dry-run --for VIEW lists the events; memtrace doctor says what works here"},
});

constexpr auto kCommands = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"script", "perf script -i FILE prints the events of a recording"},
    {"stat", "memtrace count -e EVENT counts; memtrace VIEW -- COMMAND shows a view at its end"},
    {"trace", "views such as mmap, faults and shm have --trace: a row for each event"},
    {"mem", "perf mem samples loads and stores; memtrace help lists views"},
    {"annotate", "perf annotate -i FILE reads a recording"},
    {"stackcount", "memtrace count -e EVENT --by stack counts stacks"},
    {"funccount", "memtrace calls -e 'uprobe:FILE:FUNCTION' counts calls"},
    {"argdist", "memtrace count -e EVENT --hist FIELD makes a histogram"},
    {"heaptrack_print", "memtrace report heap -i FILE shows a recording"},
    {"cachestat", "reads from the page cache have no event; filepages shows what enters it"},
});

// "-o" of "unrecognised option '-o'"; "--tid" of "the required argument for option '--tid' is
// missing", which is what another tool's "-t" comes to.
std::string_view quoted_option(std::string_view message) {
  const std::size_t start = message.find("'-");
  const std::size_t end = start == std::string_view::npos ? start : message.find('\'', start + 1);
  return end == std::string_view::npos ? "" : message.substr(start + 1, end - start - 1);
}

// "-r20" is "-r", and "--freq=99" is "--freq".
bool is_option(std::string_view given, std::string_view option) {
  return option.starts_with("--") ? given.substr(0, given.find('=')) == option
                                  : given.starts_with(option);
}

}  // namespace

Error with_own_spelling(std::string_view command, Error error) {
  if (error.kind != ErrorKind::Usage) {
    return error;
  }
  std::string_view given = quoted_option(error.message);
  const bool is_unknown = error.message.starts_with("unrecognised option");
  const bool lacks_argument = error.message.starts_with("the required argument for option");
  // Letters that are flags to others, and have an argument here.
  constexpr auto kLetters = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"--tid", "-t"}, {"--limit", "-n"}});
  for (const auto& [name, letter] : kLetters) {
    given = lacks_argument && given == name ? letter : given;
  }
  const auto fits = [&](const ForeignOption& foreign) {
    return (foreign.command.empty() || foreign.command == command) &&
           is_option(given, foreign.option);
  };
  const auto* found = std::ranges::find_if(kOptions, fits);
  if ((is_unknown || lacks_argument) && found != kOptions.end()) {
    error.hint = found->hint;
  }
  return error;
}

std::string_view instead_of_command(std::string_view name) {
  const auto* found =
      std::ranges::find(kCommands, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kCommands.end() ? "" : found->second;
}

}  // namespace memtrace
