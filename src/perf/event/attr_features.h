// Parts of perf_event_open(2) that older kernels lack, and what memtrace does without them. Found
// by trying, each by itself: distributions put parts of newer kernels into older ones.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/event/perf_calls.h"
#include "perf/record/record_builder.h"

namespace memtrace {

struct AttrFeatures {
  bool format_lost = true;       // PERF_FORMAT_LOST
  bool physical_address = true;  // PERF_SAMPLE_PHYS_ADDR
  bool clock_id = true;          // use_clockid: CLOCK_MONOTONIC
  bool comm_exec = true;         // exec and a new name can be distinguished
  bool mmap2 = true;             // PERF_RECORD_MMAP2
  bool cloexec = true;           // PERF_FLAG_FD_CLOEXEC
  bool identifier = true;        // PERF_SAMPLE_IDENTIFIER
  bool dummy = true;             // PERF_COUNT_SW_DUMMY
  bool user_stack = true;        // PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER
  bool callchain_parts = true;   // exclude_callchain_kernel and _user
  bool data_mappings = true;     // mmap_data
  bool sample_id_all = true;     // time and id in all records
  // perf_event_attr::size: never more than this kernel's own, whose perf refuses to read it back.
  std::uint32_t attr_bytes = PERF_ATTR_SIZE_VER5;  // 112: what perf of RHEL 7 and later reads
};

struct AttrFeature {
  bool AttrFeatures::*is_there;
  std::string_view name;
  std::string_view since;    // of the kernel.org kernel; distributions' may have it earlier
  std::string_view instead;  // what memtrace does without
  // If not "": what is not known without the feature. Every recording has it as a note.
  std::string_view consequence;
  // Asks for it and for nothing else; what it returns are flags of perf_event_open(2).
  unsigned long (*ask)(perf_event_attr& attr);
};

// Newest first.
std::span<const AttrFeature> attr_features();

// Tried with an event on this very task. Error: perf_event_open(2) cannot be used at all.
Result<AttrFeatures> probe_features(const PerfCalls& calls = system_perf_calls());

// How records end that the kernel writes for an event with these features.
TrailerShape trailer_shape(const AttrFeatures& features);

// The notes on missing features.
std::vector<std::string> feature_notes(const AttrFeatures& features);

// The size of perf_event_attr that this kernel was built with, which shows its age; 0 when
// perf_event_open(2) may not be called.
std::uint32_t kernel_attr_bytes(const PerfCalls& calls = system_perf_calls());

}  // namespace memtrace
