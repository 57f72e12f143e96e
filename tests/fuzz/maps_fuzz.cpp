// Texts of /proc, and names that a JIT compiler left in /tmp/perf-PID.map.
#include "base/text.h"
#include "fuzz/fuzz_target.h"
#include "identity/identity_watch.h"
#include "identity/memory_cgroup.h"
#include "observe/files/mounts.h"
#include "observe/host_facts.h"
#include "os/kallsyms.h"
#include "os/procfs.h"
#include "os/system.h"
#include "perf/cost/cpu_times.h"
#include "perf/target/proc_snapshot.h"
#include "symbolize/names/kernel_symbols.h"
#include "symbolize/names/perf_map.h"

namespace memtrace::fuzz {
namespace {

// Where the names may be: at the numbers that the text itself has.
template <typename Symbols>
void find_all(const Symbols& symbols, std::string_view text) {
  constexpr int kHexadecimal = 16;
  constexpr std::size_t kEnough = 1000;
  std::size_t looked_up = 0;
  for (const std::string_view line : split(text, '\n')) {
    const auto address = parse_number(line.substr(0, line.find(' ')), kHexadecimal);
    if (address && ++looked_up < kEnough) {
      static_cast<void>(symbols.find(*address));
      static_cast<void>(symbols.find(*address + 1));
      static_cast<void>(symbols.find(*address - 1));
    }
  }
}

void read_lines(std::string_view text) {
  RecordBuilder records(1);
  for (const std::string_view line : split(text, '\n')) {
    if (const auto mapping = parse_maps_line(line)) {
      static_cast<void>(mapping->executable());
      records.mmap(record_of(*mapping));
    }
    if (const auto cgroup = parse_cgroup_line(line)) {
      static_cast<void>(cgroup->has("memory"));
    }
    static_cast<void>(parse_kallsyms_line(line));
    static_cast<void>(parse_stat(line));
    static_cast<void>(without_deleted(line));
    static_cast<void>(proc_words(line));
    static_cast<void>(parse_cpu_list(line));
    static_cast<void>(parse_load_averages(line));
    static_cast<void>(mount_of_descriptor(line));
  }
}

void read_whole(std::string_view text) {
  static_cast<void>(find_kallsyms_line(text, "_text"));
  static_cast<void>(parse_comm(text));
  static_cast<void>(proc_bytes(text, "VmRSS"));
  static_cast<void>(status_uids(text));
  static_cast<void>(find_memory_cgroup(text));
  static_cast<void>(parse_process(text, text));
  static_cast<void>(parse_passwd(text));
  static_cast<void>(parse_migratetypes(text));
  static_cast<void>(parse_slabinfo(text));
  static_cast<void>(parse_vmstat(text));
  static_cast<void>(parse_machine_times(text));
  for (const Mount& mount : parse_mounts(text)) {
    static_cast<void>(overlay_layers(mount));
  }
}

}  // namespace

void fuzz_maps(Input input) {
  const std::string_view text = text_of(input);
  find_all(PerfMap::parse(text), text);
  const KernelSymbols kernel = KernelSymbols::parse(std::string(text));
  static_cast<void>(kernel.is_hidden());
  find_all(kernel, text);
  read_lines(text);
  read_whole(text);
}

}  // namespace memtrace::fuzz
