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

// All figures of /proc/vmstat. Empty when it cannot be read.
VmstatCounters vmstat_counters();

// The same from the text of the file.
VmstatCounters parse_vmstat(std::string_view vmstat);

// Those that are larger now, and by how much.
VmstatCounters growth_of(const VmstatCounters& before, const VmstatCounters& now);

}  // namespace memtrace
