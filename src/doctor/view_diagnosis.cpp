// The doctor's findings about one view: what stands in for the events that this kernel lacks, and
// what a reader of the view does without.
#include <algorithm>
#include <array>
#include <utility>

#include "doctor/doctor.h"
#include "tracepoints/decode/alternatives.h"
#include "tracepoints/decode/software_events.h"
#include "tracepoints/decode/system_calls.h"

namespace memtrace {
namespace {

constexpr std::string_view kHeapNeed = "heap:";
constexpr std::string_view kStaticProbe = "sdt:";

struct Consequence {
  std::string_view event;
  std::string_view meaning;  // of its absence, whatever there is in its place
};

constexpr auto kConsequences = std::to_array<Consequence>({
    {"exceptions:page_fault_user", "whether memory was read or written is not known"},
    {"kmem:rss_stat", "columns that it alone tells stay blank"},
    {"oom:mark_victim",
     "kills are found by their signal and the kernel's stack, the victim's memory is what /proc "
     "said a moment later"},
    {"vmscan:mm_vmscan_lru_shrink_inactive", "how many pages a pass reclaimed is not known"},
    {"vmscan:mm_vmscan_memcg_reclaim_begin", "reclaim for a cgroup is not seen"},
    {"vmscan:mm_vmscan_node_reclaim_begin", "a node's own reclaim is not seen"},
    {"vmscan:mm_vmscan_throttled", "how long threads that reclaim were made to wait is not seen"},
    {"vmscan:mm_shrink_slab_start", "the shrinking of slab caches is not seen"},
    {"compaction:mm_compaction_begin", "how long compaction took and how it ended is not known"},
    {"huge_memory:mm_khugepaged_scan_pmd", "the making of huge pages is not seen"},
    {"migrate:mm_migrate_pages_start", "how long migrations took is not known"},
    {"filemap:mm_filemap_add_to_page_cache", "what comes into the page cache is not seen"},
    {"writeback:writeback_dirty_folio", "who changes pages of files is not seen"},
    {"writeback:writeback_single_inode", "what was written of each file is not known"},
    {"writeback:balance_dirty_pages", "waits of threads that change pages are not seen"},
    {"writeback:writeback_start", "why flusher threads write is not known"},
    {"block:block_bio_queue", "how much fsync(2) and its like write is not known"},
    {"percpu:percpu_alloc_percpu", "memory that each CPU has for itself is not seen"},
    {"signal:signal_generate", "faults that fail are not told apart by their signal"},
});

// What an event tells only in some kernels.
struct FieldConsequence {
  std::string_view event;
  std::string_view field;
  std::string_view meaning;
};

constexpr auto kFieldConsequences = std::to_array<FieldConsequence>({
    {"oom:mark_victim", "anon_rss", "the victim's memory is what /proc said a moment later"},
    {"vmscan:mm_shrink_slab_end", "nid", "how many objects a shrinker freed is not known"},
    {"kmem:kmem_cache_free",
     "name",
     "caches have names as far as the sizes of their objects, in /proc/slabinfo, tell them"},
});

// "group:name" without its group: events that moved, and those that were renamed, tell the same.
std::string_view without_group(std::string_view event) {
  return event.substr(event.find(':') + 1);
}

struct Renamed {
  std::string_view event;
  std::string_view older;
};

constexpr auto kRenamed = std::to_array<Renamed>({
    {"vmscan:mm_vmscan_write_folio", "mm_vmscan_writepage"},
    {"writeback:writeback_dirty_folio", "writeback_dirty_page"},
    {"kmem:mm_page_free", "mm_page_free_direct"},
});

bool tells_the_same(std::string_view chosen, std::string_view wanted) {
  return without_group(chosen) == without_group(wanted) ||
         std::ranges::any_of(kRenamed, [&](const Renamed& one) {
           return one.event == wanted && one.older == without_group(chosen);
         });
}

std::string_view meaning_of(std::string_view event) {
  const auto* const found = std::ranges::find(kConsequences, event, &Consequence::event);
  return found == kConsequences.end() ? std::string_view() : found->meaning;
}

class Findings {
 public:
  explicit Findings(ViewDiagnosis& diagnosis, std::string reason = "")
      : diagnosis_(diagnosis), reason_(std::move(reason)) {}

  void note(std::string finding, ViewState state) {
    finding += reason_.empty() ? "" : " (" + reason_ + ")";
    diagnosis_.state = std::max(diagnosis_.state, state);
    if (std::ranges::find(diagnosis_.findings, finding) == diagnosis_.findings.end()) {
      diagnosis_.findings.push_back(std::move(finding));
    }
  }

 private:
  ViewDiagnosis& diagnosis_;
  std::string reason_;  // of what is missing
};

void note_substitute(const NeedState& need, Findings& findings) {
  const std::string_view meaning = meaning_of(need.wanted);
  if (is_raw_call_event(need.chosen)) {
    findings.note(need.chosen.substr(0, need.chosen.find(':') + 1) +
                      "sys_enter and sys_exit in place of one event for each system call: what "
                      "32-bit programs call is told wrong",
                  ViewState::WorksInPart);
  } else if (need.chosen.empty()) {
    if (!meaning.empty()) {
      findings.note("no " + need.wanted + ": " + std::string(meaning), ViewState::WorksInPart);
    }
  } else if (tells_the_same(need.chosen, need.wanted)) {
    findings.note(need.chosen + " in place of " + need.wanted, ViewState::Works);
  } else {
    findings.note(need.chosen + " in place of " + need.wanted +
                      (meaning.empty() ? "" : ": " + std::string(meaning)),
                  ViewState::WorksInPart);
  }
}

void diagnose_need(const NeedState& need, const WhyNot& why_not, ViewDiagnosis& diagnosis) {
  const bool is_missing = need.chosen != need.wanted;
  Findings findings(diagnosis, is_missing && why_not ? why_not(need.wanted) : "");
  const bool is_static_probe = need.wanted.starts_with(kStaticProbe);
  if (need.chosen.empty() && !need.may_be_missing) {
    if (need.wanted.starts_with(kHeapNeed)) {
      findings.note("user probes cannot be had: see there", ViewState::Cannot);
    } else if (is_static_probe) {
      findings.note("only of programs whose libc has static probes", ViewState::WorksInPart);
    } else {
      findings.note(need.wanted + " cannot be had, and nothing in its place", ViewState::Cannot);
    }
    return;
  }
  if (!need.chosen.empty()) {
    diagnosis.events.push_back(need.chosen);
  }
  const auto software = find_software_event(need.wanted);
  const bool is_first = need.chosen == need.wanted || (software && need.chosen == software->name);
  // Whether there are static probes the target decides, not the machine.
  if (!is_first && (!is_static_probe || is_raw_call_event(need.chosen))) {
    note_substitute(need, findings);
  }
}

void diagnose_fields(const HasField& has_field, ViewDiagnosis& diagnosis) {
  Findings findings(diagnosis);
  for (const FieldConsequence& one : kFieldConsequences) {
    const bool is_chosen = std::ranges::find(diagnosis.events, one.event) != diagnosis.events.end();
    if (is_chosen && !has_field(one.event, one.field)) {
      findings.note("no field '" + std::string(one.field) + "' in " + std::string(one.event) +
                        ": " + std::string(one.meaning),
                    ViewState::WorksInPart);
    }
  }
}

}  // namespace

ViewDiagnosis diagnose(const NamedView& view,
                       const CanOpen& can_open,
                       const HasField& has_field,
                       const WhyNot& why_not) {
  ViewDiagnosis diagnosis{.view = view.name};
  for (NeedState& need : examine_needs(view.spec.needs, can_open)) {
    // Every kernel has the software events, but not everybody may open them.
    if (find_software_event(need.chosen) && !can_open(need.chosen)) {
      need.chosen.clear();
    }
    diagnose_need(need, why_not, diagnosis);
  }
  if (diagnosis.state == ViewState::Cannot) {
    std::erase_if(diagnosis.findings, [](const std::string& finding) {
      return finding.find("cannot be had") == std::string::npos;
    });
  } else if (has_field) {
    diagnose_fields(has_field, diagnosis);
  }
  return diagnosis;
}

}  // namespace memtrace
