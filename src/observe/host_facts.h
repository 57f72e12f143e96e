// Facts about this machine that a recording carries along.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "perf/record/recording.h"

namespace memtrace {

// Host name, kernel, CPUs, memory, page size. No events.
Recording read_host_facts();

// Names of the page allocator's migrate types by number, from /proc/pagetypeinfo (root only): the
// kernel numbers them differently from version to version. Empty when it cannot be read.
std::vector<std::string> migratetype_names();

// The same from the text of the file.
std::vector<std::string> parse_migratetypes(std::string_view pagetypeinfo);

// The NUMA node of each CPU, from /sys/devices/system/node.
std::vector<std::uint32_t> cpu_nodes();

// Bytes of an object by slab cache, from /proc/slabinfo (root only). Empty when it cannot be read.
std::map<std::string, std::uint64_t> slab_caches();

// The same from the text of the file.
std::map<std::string, std::uint64_t> parse_slabinfo(std::string_view slabinfo);

using VmstatCounters = std::map<std::string, std::uint64_t>;

// All figures of /proc/vmstat. Empty when it cannot be read. A recording has no events of memtrace
// itself, so nr_dirtied is without the pages that this process dirtied, and pgfault and pgmajfault
// are without its faults. "hugepages-64kB/anon_fault_alloc" and the like are the kernel's figures
// of large folios (/sys/kernel/mm/transparent_hugepage/hugepages-64kB/stats).
VmstatCounters vmstat_counters();

// All figures of the text of /proc/vmstat, as they are.
VmstatCounters parse_vmstat(std::string_view vmstat);

// Adds the figures of the folders hugepages-*kB of `folder`, which Linux has from 6.10 on.
void add_folio_counters(const std::string& folder, VmstatCounters& counters);

// Takes off what a /proc/PID/io says that the process dirtied: write_bytes, which the kernel counts
// together with nr_dirtied (mm/page-writeback.c, folio_account_dirtied).
void take_off_dirtied(std::string_view io, std::uint64_t page_bytes, VmstatCounters& counters);

// Takes off faults of a process, as getrusage(2) counts them. pgfault has the major ones, too.
void take_off_faults(std::uint64_t minor, std::uint64_t major, VmstatCounters& counters);

// Those that are larger now, and by how much.
VmstatCounters growth_of(const VmstatCounters& before, const VmstatCounters& now);

}  // namespace memtrace
