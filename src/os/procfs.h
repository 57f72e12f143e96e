// The formats of files in /proc (proc(5)): their lines, words and names. All readers of /proc use
// these functions. Text that is cut off, or of another format, gives nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

// "/proc/12", "/proc/12/maps".
std::string proc_path(std::uint32_t pid, std::string_view file = {});

// The whole file; "" when it cannot be read: the process has ended, for one.
std::string proc_text(std::uint32_t pid, std::string_view file);

// The processes of /proc, or the threads of /proc/PID/task, in the order of list_directory().
// Error: there is no such folder.
Result<std::vector<std::uint32_t>> process_ids(const std::string& folder = "/proc");

// The root directory of a process as this one sees it; "" when it cannot be read.
std::string root_directory(std::uint32_t pid);

// /proc/PID/maps, and the first line of each mapping in smaps. The texts borrow from the line.
struct MapsLine {
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::string_view permissions;  // "r-xp"
  std::uint64_t file_offset = 0;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint64_t inode = 0;
  // A newline in it is "\012" (fs/proc/task_mmu.c); "" for memory without a file.
  std::string_view path;

  bool executable() const { return permissions[2] == 'x'; }
};

std::optional<MapsLine> parse_maps_line(std::string_view line);

// A link to the file that is mapped there. It opens files of other mount namespaces, and files that
// were removed (since Linux 3.3, for root).
std::string map_files_path(std::uint32_t pid, std::uint64_t start, std::uint64_t limit);

// What the kernel appends to the path of a file that was removed, and of a cgroup (d_path()).
inline constexpr std::string_view kDeletedSuffix = " (deleted)";

std::string without_deleted(std::string_view path);

// /proc/PID/stat.
struct ProcStat {
  char state = 'X';
  std::uint32_t parent_pid = 0;
  std::uint64_t flags = 0;  // PF_* (include/linux/sched.h)

  // A zombie, or on its way to be one.
  bool has_ended() const { return state == 'Z' || state == 'X'; }
};

std::optional<ProcStat> parse_stat(std::string_view text);

// The name in the text of /proc/PID/comm: as the kernel has it, blanks included.
std::string_view parse_comm(std::string_view text);

// What stands behind "NAME:" in files of a line for each value (status, meminfo, smaps, cpuinfo),
// without the blanks around it; "" when there is no such line.
std::string_view proc_field(std::string_view text, std::string_view name);

// The first word of the field as a number, and what a field of kilobytes ("VmRSS:     1234 kB") is
// in bytes.
std::optional<std::uint64_t> proc_number(std::string_view text, std::string_view name);
std::optional<std::uint64_t> proc_bytes(std::string_view text, std::string_view name);

// What programs can take without swapping, by the text of /proc/meminfo. Before Linux 3.14 it has
// no MemAvailable: then free memory and the page cache without shared memory, which is more than
// that.
std::optional<std::uint64_t> available_bytes(std::string_view meminfo);

// The real, effective, saved and file system user of /proc/PID/status; none when it has no such
// line.
std::vector<std::uint32_t> status_uids(std::string_view status);

// The words of a table's line, whatever number of blanks fills its columns.
std::vector<std::string_view> proc_words(std::string_view line);

// "5:cpu,cpuacct:/a:b" of /proc/PID/cgroup (cgroups(7)).
struct CgroupLine {
  std::optional<std::uint64_t> hierarchy;     // 0: version 2
  std::vector<std::string_view> controllers;  // one empty name: version 2
  std::string_view path;

  bool has(std::string_view controller) const;
};

std::optional<CgroupLine> parse_cgroup_line(std::string_view line);

// "0.20 0.18 0.12" from the text of /proc/loadavg; "" when it has no three words.
std::string parse_load_averages(std::string_view loadavg);

// A kernel thread: it maps no file. Our own process where this PID namespace has no such thread.
std::uint32_t process_without_files();

// Whether a process is a thread of the kernel, or a zombie. False when nothing is known of it.
bool is_kernel_thread(std::uint32_t pid);
bool is_zombie(std::uint32_t pid);

}  // namespace memtrace
