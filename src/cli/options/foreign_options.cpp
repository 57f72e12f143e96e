#include "cli/options/foreign_options.h"

#include <algorithm>
#include <array>
#include <utility>

namespace memtrace {
namespace {

struct ForeignOption {
  std::string_view command;  // alias, view or command that is followed by it; "" stands for any
  std::string_view option;
  std::string_view hint;
};

// Of bcc's memleak, drsnoop, shmsnoop, compactsnoop, slabratetop, of heaptrack, and of perf. The
// first that fits is taken.
constexpr auto kOptions = std::to_array<ForeignOption>({
    {"memleak", "-o", "memleak's -o is --older here, with a unit: --older 500ms"},
    {"memleak",
     "-t",
     "memleak's -t prints each call; here: memtrace count -p PID -e "
     "'uprobe:libc:malloc(size=arg1)' "
     "--last 100; --tid TID watches a thread"},
    {"memleak",
     "--trace",
     "to list calls: memtrace count -p PID -e 'uprobe:libc:malloc(size=arg1)' --last 100"},
    {"memleak",
     "--show-allocs",
     "the kernel's blocks are not listed by address; those of a process are, with -p PID"},
    {"memleak", "-s", "memleak's -s is --period N here: one event in N"},
    {"memleak", "--sample-rate", "--period N records one event in N"},
    {"memleak", "-c", "a command stands behind --, as in: memtrace memleak -- COMMAND"},
    {"memleak", "--command", "a command stands behind --, as in: memtrace memleak -- COMMAND"},
    {"memleak", "-T", "memleak's -T is --top N here"},
    {"memleak", "-z", "memleak's -z is --min-bytes BYTES here"},
    {"memleak", "--min-size", "memleak's --min-size is --min-bytes BYTES here"},
    {"memleak", "-Z", "memleak's -Z is --max-bytes BYTES here"},
    {"memleak", "--max-size", "memleak's --max-size is --max-bytes BYTES here"},
    {"memleak",
     "-O",
     "allocators are found in whatever a process has loaded; name others with --alloc and --free"},
    {"memleak",
     "--obj",
     "allocators are found in whatever a process has loaded; name others with --alloc and --free"},
    {"memleak", "--combined-only", "figures are added up by stack; --show-allocs lists each block"},
    {"memleak", "--wa-missing-free", "a block at an address that is used again counts as freed"},
    {"memleak", "--percpu", "the kernel's memory is in the views kleaks and slab"},
    {"memleak", "--kernel-trace", "leaks of the kernel's memory are in the view kleaks"},
    {"drsnoop", "-U", "each row of the list has the uid"},
    {"drsnoop", "--print-uid", "each row of the list has the uid"},
    {"drsnoop", "-u", "drsnoop's -u is --uid UID here"},
    {"drsnoop", "-n", "drsnoop's -n is --comm NAME here, in which * stands for anything"},
    {"drsnoop", "--name", "drsnoop's --name is --comm NAME here, in which * stands for anything"},
    {"drsnoop", "-e", "each row of the list has the free memory; zones' figures it has not"},
    {"drsnoop",
     "--extended",
     "each row of the list has the free memory; zones' figures it has not"},
    {"compactsnoop",
     "-K",
     "kernel stacks are a key: --by stack adds up by stack, the list has none"},
    {"compactsnoop",
     "--kernel-stack",
     "kernel stacks are a key: --by stack adds up by stack, the list has none"},
    {"compactsnoop", "-e", "the zones' marks and fragmentation are in the table below the list"},
    {"compactsnoop",
     "--extended",
     "the zones' marks and fragmentation are in the table below the list"},
    {"shmsnoop", "-n", "shmsnoop's -n is --comm NAME here, in which * stands for anything"},
    {"shmsnoop", "--name", "shmsnoop's --name is --comm NAME here"},
    {"slabratetop", "-C", "tables are printed below each other here, the screen is not cleared"},
    {"slabratetop", "--noclear", "the screen is not cleared here"},
    {"slabratetop", "-r", "slabratetop's -r is --top N here"},
    {"slabratetop", "--maxrows", "slabratetop's --maxrows is --top N here"},
    {"heaptrack", "-o", "to keep a recording: memtrace record --for heap -o FILE -- COMMAND"},
    {"heaptrack", "--output", "to keep a recording: memtrace record --for heap -o FILE -- COMMAND"},
    {"heaptrack", "-r", "to keep a recording: memtrace record --for heap -- COMMAND"},
    {"heaptrack", "--record-only", "to keep a recording: memtrace record --for heap -- COMMAND"},
    {"heaptrack", "-a", "memtrace report heap -i FILE shows a recording"},
    {"heaptrack", "--analyze", "memtrace report heap -i FILE shows a recording"},
    {"heaptrack", "-d", "memtrace runs in no debugger; --duration SECONDS stops after a time"},
    {"heaptrack", "--debug", "memtrace runs in no debugger"},
    {"record", "-F", "every event is recorded, at no frequency; --period N records one in N"},
    {"record", "--freq", "every event is recorded, at no frequency; --period N records one in N"},
    {"record", "-c", "perf's -c is --period N here; a command stands behind --"},
    {"record", "--count", "perf's --count is --period N here"},
    {"record", "-g", "stacks are recorded unless --call-graph none is given"},
    {"record", "-u", "record with -a, and report with --uid USER"},
    {"record", "--uid", "record with -a, and report with --uid USER"},
    {"record", "-G", "record with -a, and report with --cgroup TEXT"},
    {"record", "--cgroup", "record with -a, and report with --cgroup TEXT"},
    {"record", "--comm", "record with -a, and report with --comm NAME"},
    {"record", "-C", "all CPUs are recorded; the view count has --by cpu"},
    {"record", "--cpu", "all CPUs are recorded; the view count has --by cpu"},
    {"record", "-i", "children are followed; report with --pid PID for one process alone"},
    {"record", "--no-inherit", "children are followed; report with --pid PID for one process"},
    {"record", "-D", "report with --time START, to leave out the beginning"},
    {"record", "--delay", "report with --time START, to leave out the beginning"},
    {"record", "--mmap-pages", "perf's --mmap-pages is --ring-size here, in bytes: 16M"},
    {"record", "--by", "how it is grouped is said to the report: memtrace report VIEW --by KEY"},
    {"record", "--top", "that is said to the report: memtrace report VIEW --top N"},
    {"report", "--stdio", "reports are text unless --format says otherwise"},
    {"report", "--tui", "reports are text unless --format says otherwise"},
    {"report", "-s", "perf's -s is --by KEY,... here"},
    {"report", "-F", "columns are those of the view; --by KEY,... groups its rows"},
    {"report", "--fields", "columns are those of the view; --by KEY,... groups its rows"},
    {"report", "-g", "stacks are shown with --by stack"},
    {"report", "--call-graph", "stacks are shown with --by stack"},
    {"report", "-G", "stacks are shown with --by stack, innermost function first"},
    {"report", "-n", "counts are always shown"},
    {"report", "--children", "stacks are whole: --format folded is for flame graphs"},
    {"report", "--no-children", "stacks are whole: --format folded is for flame graphs"},
    {"report", "-c", "perf's -c is --comm NAME here"},
    {"report", "--comms", "perf's --comms is --comm NAME here"},
    {"report", "-S", "--exclude REGEX leaves functions out; grep the output of --format folded"},
    {"report", "-d", "a duration is said to record; --time START,STOP reports a part"},
    {"report",
     "--percent-limit",
     "--min N leaves out rows with a lower count, --top N all after N"},
    {"report", "-D", "perf script -i FILE prints each event"},
    {"report", "--header", "memtrace report without a view tells what the file holds"},
    {"report", "-f", "whoever may read the file can report on it"},
    {"report", "-o", "reports go to standard output: > FILE"},
    {"", "-T", "with --trace the time stands in each row; --top N shows N rows"},
    {"", "--timestamp", "with --trace the time stands in each row"},
    {"", "-o", "a live view keeps no file; memtrace record --for VIEW -o FILE does"},
    {"", "-s", "by which column is --sort COLUMN, by which key --by KEY"},
    {"", "-c", "a command stands behind --; --comm NAME is for threads of that name"},
    {"", "-n", "only threads of a name: --comm NAME; only so many rows: --top N"},
    {"", "-u", "only processes of a user: --uid UID"},
    {"", "-g", "stacks are shown with --by stack"},
    {"", "-K", "stacks are shown with --by stack, their kernel part alone with --kernel"},
    {"", "-U", "stacks are shown with --by stack, their user part alone with --user"},
    {"", "-F", "every event is counted, at no frequency; --period N records one in N"},
    {"", "-C", "all CPUs are watched"},
    {"", "-i", "a file is for the report: memtrace report VIEW -i FILE"},
    {"", "--input", "a file is for the report: memtrace report VIEW -i FILE"},
    {"", "-x", "a process is watched with -p PID"},
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
    {"top", "memtrace VIEW -a 1 shows a view of the whole machine each second"},
    {"list", "memtrace help lists views; events are in /sys/kernel/tracing/available_events"},
    {"trace", "views such as mmap, faults and shm have --trace: a row for each event"},
    {"mem", "processors' samples of loads and stores are perf mem's; memtrace help lists views"},
    {"diff", "--format csv or json of two reports can be compared"},
    {"annotate", "perf annotate -i FILE reads a recording"},
    {"stackcount", "memtrace count -e EVENT --by stack counts stacks"},
    {"funccount", "memtrace calls -e 'uprobe:FILE:FUNCTION' counts calls"},
    {"argdist", "memtrace count -e EVENT --hist FIELD makes a histogram"},
    {"heaptrack_print", "memtrace report heap -i FILE shows a recording"},
    {"cachestat", "what is read from the page cache has no event; filepages shows what enters it"},
    {"version", "memtrace --version"},
});

// "-o" of "unrecognised option '-o'"; "--tid" of "the required argument for option '--tid' is
// missing", which is what another tool's "-t" comes to.
std::string_view quoted_option(std::string_view message) {
  const std::size_t start = message.find("'-");
  const std::size_t end = start == std::string_view::npos ? start : message.find('\'', start + 1);
  return end == std::string_view::npos ? "" : message.substr(start + 1, end - start - 1);
}

// "-r20" is "-r".
bool is_option(std::string_view given, std::string_view option) {
  return option.starts_with("--") ? given == option : given.starts_with(option);
}

}  // namespace

Error with_own_spelling(std::string_view command, Error error) {
  if (error.kind != ErrorKind::Usage) {
    return error;
  }
  std::string_view given = quoted_option(error.message);
  const bool is_unknown = error.message.starts_with("unrecognised option");
  const bool lacks_argument = error.message.starts_with("the required argument for option");
  if (lacks_argument && given == "--tid") {
    given = "-t";
  }
  const auto fits = [&](const ForeignOption& foreign) {
    return (foreign.command.empty() || foreign.command == command) &&
           is_option(given, foreign.option);
  };
  const auto found = std::ranges::find_if(kOptions, fits);
  if ((is_unknown || lacks_argument) && found != kOptions.end()) {
    error.hint = found->hint;
  }
  return error;
}

std::string_view instead_of_command(std::string_view name) {
  const auto found =
      std::ranges::find(kCommands, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kCommands.end() ? "" : found->second;
}

}  // namespace memtrace
