#include "perf/target/proc_snapshot.h"

#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "base/text.h"
#include "os/kallsyms.h"
#include "os/procfs.h"
#include "os/system.h"
#include "perf/target/huge_mappings.h"
#include "perf/target/target.h"

namespace memtrace {
namespace {

std::uint32_t prot_of(std::string_view permissions) {
  return (permissions[0] == 'r' ? PROT_READ : 0U) | (permissions[1] == 'w' ? PROT_WRITE : 0U) |
         (permissions[2] == 'x' ? PROT_EXEC : 0U);
}

void snapshot_maps(std::uint32_t pid, RecordBuilder& records, KeptMaps kept, HugeMappings& huge) {
  const std::string maps = proc_text(pid, "maps");
  for (const std::string_view text : split(maps, '\n')) {
    const auto line = parse_maps_line(text);
    if (!line || (!line->executable() && kept != KeptMaps::All)) {
      continue;
    }
    Mmap mapping = record_of(*line);
    mapping.pid = pid;
    mapping.tid = pid;
    if (kept == KeptMaps::All && huge.contains(mapping)) {
      mapping.flags |= MAP_HUGETLB;
    }
    records.mmap(mapping);
  }
}

void snapshot_one(std::uint32_t pid, RecordBuilder& records, KeptMaps kept, HugeMappings& huge) {
  const auto tids = threads_of(pid);
  if (!tids.ok()) {
    return;
  }
  for (const std::uint32_t tid : tids.value()) {
    const auto name = read_file(proc_path(pid, "task/" + std::to_string(tid) + "/comm"));
    if (name.ok()) {
      records.comm(pid, tid, parse_comm(name.value()));
    }
  }
  snapshot_maps(pid, records, kept, huge);
}

}  // namespace

Mmap record_of(const MapsLine& line) {
  Mmap mapping;
  mapping.start = line.start;
  mapping.length_bytes = line.limit - line.start;
  mapping.file_offset = line.file_offset;
  mapping.major = line.major;
  mapping.minor = line.minor;
  mapping.inode = line.inode;
  mapping.prot = prot_of(line.permissions);
  mapping.executable = line.executable();
  mapping.flags = line.permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  mapping.mode = CpuMode::User;
  mapping.path = line.path.empty() ? "//anon" : line.path;  // as the kernel names it in its records
  return mapping;
}

void snapshot_process(std::uint32_t pid, RecordBuilder& records, KeptMaps kept) {
  HugeMappings huge;
  snapshot_one(pid, records, kept, huge);
}

Result<> snapshot_all_processes(RecordBuilder& records, KeptMaps kept) {
  const auto pids = process_ids();
  if (!pids.ok()) {
    return pids.error();
  }
  HugeMappings huge;
  for (const std::uint32_t pid : pids.value()) {
    snapshot_one(pid, records, kept, huge);
  }
  return kDone;
}

std::optional<Mmap> kernel_mapping() {
  const auto symbols = read_file("/proc/kallsyms");
  if (!symbols.ok()) {
    return std::nullopt;
  }
  const auto text = find_kallsyms_line(symbols.value(), "_text");
  const auto end = find_kallsyms_line(symbols.value(), "_etext");
  if (!text || !end || text->address == 0 || end->address <= text->address) {
    return std::nullopt;
  }
  // perf wants the name of the symbol that it shall check the relocation with, and its address in
  // place of the file offset (tools/perf/util/machine.c).
  return Mmap{.pid = kKernelPid,
              .start = text->address,
              .length_bytes = end->address - text->address,
              .file_offset = text->address,
              .mode = CpuMode::Kernel,
              .path = "[kernel.kallsyms]_text"};
}

void snapshot_kernel(RecordBuilder& records) {
  if (const auto kernel = kernel_mapping()) {
    records.mmap(*kernel);
  }
}

Result<std::uint32_t> process_of(std::uint32_t tid) {
  const std::string status = proc_text(tid, "status");
  if (const auto pid = proc_number(status, "Tgid")) {
    return static_cast<std::uint32_t>(*pid);
  }
  return Error{
      "thread " + std::to_string(tid), ESRCH, "no thread has this id; ps -eL lists those that run"};
}

std::vector<std::uint32_t> processes_of(const Target& target) {
  if (target.kind == TargetKind::System) {
    auto all = process_ids();
    return all.ok() ? all.take() : std::vector<std::uint32_t>();
  }
  std::vector<std::uint32_t> pids;
  for (const std::uint32_t id : target.ids) {
    if (const auto pid = process_of(id); pid.ok()) {
      pids.push_back(pid.value());
    }
  }
  return pids;
}

}  // namespace memtrace
