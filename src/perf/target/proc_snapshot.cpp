#include "perf/target/proc_snapshot.h"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/text.h"
#include "os/system.h"
#include "perf/target/huge_mappings.h"
#include "perf/target/target.h"

namespace memtrace {
namespace {

std::string_view next_word(std::string_view& line) {
  line = trim(line);
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(word.size());
  return word;
}

// "55d0c000-55d0e000": two hexadecimal numbers around a separator.
std::optional<std::array<std::uint64_t, 2>> hex_pair(std::string_view word, char separator) {
  const auto parts = split(word, separator);
  if (parts.size() != 2) {
    return std::nullopt;
  }
  const auto first = parse_number(parts[0], 16);
  const auto second = parse_number(parts[1], 16);
  if (!first || !second) {
    return std::nullopt;
  }
  return std::array{*first, *second};
}

std::uint32_t prot_of(std::string_view permissions) {
  return (permissions[0] == 'r' ? PROT_READ : 0U) | (permissions[1] == 'w' ? PROT_WRITE : 0U) |
         (permissions[2] == 'x' ? PROT_EXEC : 0U);
}

void snapshot_maps(std::uint32_t pid, RecordBuilder& records, KeptMaps kept, HugeMappings& huge) {
  const auto maps = read_file("/proc/" + std::to_string(pid) + "/maps");
  if (!maps.ok()) {
    return;
  }
  for (const std::string_view line : split(maps.value(), '\n')) {
    auto mapping = parse_maps_line(line);
    if (mapping && (mapping->executable || kept == KeptMaps::All)) {
      mapping->pid = pid;
      mapping->tid = pid;
      if (kept == KeptMaps::All && huge.contains(*mapping)) {
        mapping->flags |= MAP_HUGETLB;
      }
      records.mmap(*mapping);
    }
  }
}

void snapshot_one(std::uint32_t pid, RecordBuilder& records, KeptMaps kept, HugeMappings& huge) {
  const auto tids = threads_of(pid);
  if (!tids.ok()) {
    return;
  }
  for (const std::uint32_t tid : tids.value()) {
    const auto name =
        read_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/comm");
    if (name.ok()) {
      records.comm(pid, tid, trim(name.value()));
    }
  }
  snapshot_maps(pid, records, kept, huge);
}

}  // namespace

std::optional<Mmap> parse_maps_line(std::string_view line) {
  Mmap mapping;
  const auto range = hex_pair(next_word(line), '-');
  const std::string_view permissions = next_word(line);
  const auto offset = parse_number(next_word(line), 16);
  const auto device = hex_pair(next_word(line), ':');
  const auto inode = parse_number(next_word(line));
  if (!range || permissions.size() != 4 || !offset || !device || !inode) {
    return std::nullopt;
  }
  mapping.start = (*range)[0];
  mapping.length_bytes = (*range)[1] - (*range)[0];
  mapping.file_offset = *offset;
  mapping.major = static_cast<std::uint32_t>((*device)[0]);
  mapping.minor = static_cast<std::uint32_t>((*device)[1]);
  mapping.inode = *inode;
  mapping.prot = prot_of(permissions);
  mapping.executable = (mapping.prot & PROT_EXEC) != 0;
  mapping.flags = permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  mapping.mode = CpuMode::User;
  const std::string_view path = trim(line);
  mapping.path = path.empty() ? "//anon" : path;  // as the kernel names it in its own records
  return mapping;
}

void snapshot_process(std::uint32_t pid, RecordBuilder& records, KeptMaps kept) {
  HugeMappings huge;
  snapshot_one(pid, records, kept, huge);
}

Result<> snapshot_all_processes(RecordBuilder& records, KeptMaps kept) {
  auto names = list_directory("/proc");
  if (!names.ok()) {
    return names.take_error();
  }
  HugeMappings huge;
  for (const std::string& name : names.value()) {
    if (const auto pid = parse_number(name)) {
      snapshot_one(static_cast<std::uint32_t>(*pid), records, kept, huge);
    }
  }
  return kDone;
}

void snapshot_kernel(RecordBuilder& records) {
  const auto symbols = read_file("/proc/kallsyms");
  if (!symbols.ok()) {
    return;
  }
  std::uint64_t text = 0;
  std::uint64_t end = 0;
  for (const std::string_view line : split(symbols.value(), '\n')) {
    if (line.ends_with(" _text") || line.ends_with(" _etext")) {
      (line.ends_with(" _text") ? text : end) =
          parse_number(line.substr(0, line.find(' ')), 16).value_or(0);
    }
  }
  if (text == 0 || end <= text) {
    return;
  }
  // perf wants the name of the symbol that it shall check the relocation with, and its address in
  // place of the file offset (tools/perf/util/machine.c).
  records.mmap({.pid = kKernelPid,
                .start = text,
                .length_bytes = end - text,
                .file_offset = text,
                .mode = CpuMode::Kernel,
                .path = "[kernel.kallsyms]_text"});
}

Result<std::uint32_t> process_of(std::uint32_t tid) {
  const auto status = read_file("/proc/" + std::to_string(tid) + "/status");
  if (status.ok()) {
    for (std::string_view line : split(status.value(), '\n')) {
      if (line.starts_with("Tgid:")) {
        return static_cast<std::uint32_t>(parse_number(trim(line.substr(5))).value_or(tid));
      }
    }
  }
  return Error{
      "thread " + std::to_string(tid), ESRCH, "no thread has this id; ps -eL lists those that run"};
}

}  // namespace memtrace
