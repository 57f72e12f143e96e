// hold_probe PATH FUNCTION entry|place|free|return: puts a probe on a function of a file, prints
// its name and where it is ("memtrace_12:malloc +9"), and keeps it until its input ends. `place` is
// the cheapest place, `free` the same without calls that return at once. Says first how many probes
// of dead processes it removed.
#include <unistd.h>

#include <string_view>

#include "symbolize/code/function_table.h"
#include "symbolize/code/probe_place.h"
#include "tests/live/puppets/puppet.h"
#include "tracepoints/probe/stale_probes.h"
#include "tracepoints/probe/uprobe_events.h"

namespace {

template <typename T>
T taken(memtrace::Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr,
                 "hold_probe: %s\nhint: %s\n",
                 memtrace::describe(result.error()).c_str(),
                 result.error().hint.c_str());
    std::exit(1);
  }
  return result.take();
}

std::uint64_t place_of(const memtrace::FunctionTable& table,
                       const memtrace::Function& function,
                       const std::string& path,
                       std::string_view where) {
  const auto code = taken(memtrace::code_bytes(path, function.file_offset, function.size_bytes));
  return memtrace::find_probe_place({code, table.machine()},
                                    {.needed = memtrace::mask_of(memtrace::X86Register::Di),
                                     .allow_early_return = where == "free"})
      .offset_bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s PATH FUNCTION entry|place|free|return\n", argv[0]);
    return 2;
  }
  const std::string path = argv[1];
  const std::string_view where = argv[3];
  const std::size_t removed = taken(memtrace::remove_stale_probes());
  const auto table = taken(memtrace::FunctionTable::load(path));
  const memtrace::Function function = taken(table.find(argv[2])).front();
  const bool is_placed = where == "place" || where == "free";
  const std::uint64_t place = is_placed ? place_of(table, function, path, where) : 0;
  auto group = taken(memtrace::ProbeGroup::create(memtrace::ProbeKind::Heap));
  const auto probe = taken(group.define({.event = argv[2],
                                         .path = path,
                                         .file_offset = function.file_offset + place,
                                         .is_return = where == "return",
                                         .args = where == "return" ? "" : "first=%di:u64"}));
  std::printf(
      "%zu stale\n%s +%lu\n", removed, probe.name.c_str(), static_cast<unsigned long>(place));
  std::fflush(stdout);
  char ignored = 0;
  while (::read(STDIN_FILENO, &ignored, 1) > 0) {
  }
  taken(group.remove());
  return 0;
}
