// Reads /proc when an event happens whose report will ask what the machine was like at that moment.
// A reader is a file src/observe/NAME_reader.cpp and a line in the table of proc_observer.cpp: it
// says by the payload which events it is for.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "observe/files/file_watch.h"
#include "observe/files/tmpfs_files.h"
#include "observe/kernel_log.h"
#include "observe/resident_pages.h"
#include "observe/slab_counts.h"
#include "state/world/observations.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// Where a reader reads; another folder in tests.
struct ProcFolder {
  std::string path = "/proc";
  std::string (*kernel_log)() = end_of_kernel_log;

  // Empty when the file cannot be read: the process has ended, for one.
  std::string read(const std::string& name) const;
};

struct ObservationReader {
  std::string_view name;  // Observation::reader
  bool (*wants)(const Event& event) = nullptr;
  // Fills in facts and rows. With `at_end` it is called once, when the recording or an interval of
  // a live view ends, if an event that it wants has been seen; the event is empty then.
  void (*read)(const Event& event, const ProcFolder& proc, Observation& observation) = nullptr;
  bool at_end = false;
  bool always = false;  // rare events that no burst of others may keep from being looked at
};

class ProcObserver {
 public:
  explicit ProcObserver(ProcFolder proc = {});

  // Before the first event, of a recording that shows how shared memory grows.
  void begin_tmpfs() { tmpfs_.begin(); }

  // The same of one that has the kernel's allocations of objects.
  void begin_slabs() { slabs_.begin(); }

  // The same of one that shows what is resident: what these processes have by now.
  void begin_resident(const std::set<std::uint32_t>& pids, Observations& observations);

  // The recording ends soon: what is resident by now is what at_end() adds.
  void read_resident() { resident_.read_ahead(); }

  // An event that has just come from the kernel. `cgroup` is where its process was known to be, for
  // those that have ended by now: the kernel says "/" of them.
  void on(const Event& event, Observations& observations, std::string_view cgroup = {});

  // The recording, or an interval, ends now.
  void at_end(std::uint64_t time_ns, Observations& observations);

 private:
  bool may_read(std::uint64_t time_ns);

  ProcFolder proc_;
  FileWatch files_;
  TmpfsFiles tmpfs_;
  ResidentPages resident_;
  SlabCounts slabs_;
  std::set<std::string_view> wanted_at_end_;  // readers' names
  std::uint64_t second_ = 0;
  std::uint64_t read_in_second_ = 0;
};

// "VmRSS:     1234 kB" in a file like /proc/PID/status and /proc/meminfo, in bytes; adds nothing
// when it is not there.
void add_kilobytes(std::string_view text, std::string_view key, const char* name, Facts& facts);

// The real user id of a /proc/PID/status.
void add_uid(std::string_view status, const char* name, Facts& facts);

}  // namespace memtrace
