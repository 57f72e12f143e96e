// How much memory a page fault made resident.
#pragma once

#include <cstdint>

#include "views/fault/fault_pairing.h"

namespace memtrace {

// What it added to the RSS of its process, in bytes. Of a page of a file, or of shared memory that
// was there before, it is a lower bound: the kernel may map up to 64 KiB around the address that
// are in memory already (mm/memory.c, do_fault_around), and no event says how much. 0 for hugetlb,
// which is no part of RSS (mm/hugetlb.c counts it on its own).
std::uint64_t resident_bytes(const Fault& ended, std::uint64_t page_size_bytes);

}  // namespace memtrace
