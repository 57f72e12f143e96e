#include "views/fault/fault_resident.h"

namespace memtrace {
namespace {

// The kernel maps at once what it allocated as one: of anonymous memory (mm/memory.c,
// do_anonymous_page) and of shared memory (finish_fault). What it allocated for a file is read
// ahead, and mostly not mapped.
bool maps_whole_folio(const Fault& fault) {
  return fault.folio_bytes > 0 && fault.place.kind != PlaceKind::File;
}

// The first read of a page of anonymous memory maps the zero page, which all share and which is no
// part of RSS.
bool reads_zero_page(const Fault& fault) {
  return fault.place.is_anonymous() && !fault.is_write() && fault.end == FaultEnd::Minor;
}

}  // namespace

std::uint64_t resident_bytes(const Fault& ended, std::uint64_t page_size_bytes) {
  if (ended.end == FaultEnd::Open || !ended.entry.has_error_code ||
      ended.place.kind == PlaceKind::Hugetlb) {
    return 0;
  }
  if (ended.is_present() && !ended.of_zero_page) {
    return 0;  // a copy takes the place of what was mapped
  }
  if (maps_whole_folio(ended)) {
    return ended.folio_bytes;
  }
  return reads_zero_page(ended) ? 0 : page_size_bytes;
}

}  // namespace memtrace
