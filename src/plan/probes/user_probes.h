// All probes of a run on user code: on allocators, and those that were named with -e.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/event/event_attr.h"
#include "perf/target/target.h"
#include "plan/probes/heap_probes.h"
#include "plan/probes/probe_definer.h"
#include "plan/probes/sdt_event.h"
#include "programs/target_objects.h"
#include "tracepoints/probe/uprobe_events.h"

namespace memtrace {

class UserProbes {
 public:
  // Removes what killed runs left behind. Error: as objects_of.
  static Result<std::unique_ptr<UserProbes>> open(const Target& target);

  // For who only wants to know what they would be: defines and removes nothing.
  static Result<std::unique_ptr<UserProbes>> plan(const Target& target);

  // The lines of a plan for uprobe_events.
  std::vector<std::string> commands() const;

  // Error: Failed, the target has no allocator.
  Result<std::vector<EventRequest>> add_heap(const HeapNeeds& needs);

  // After add_heap(), for a file that is mapped later: the probes that its allocators need, if it
  // has some and was not looked at before.
  Result<std::vector<EventRequest>> add_heap_of(const NewMapping& mapping);

  // "uprobe:PATH:FUNCTION(...)", "sdt:PATH:PROVIDER:NAME". Error: Usage.
  Result<std::vector<EventRequest>> add_event(const std::string& event, std::uint64_t period);

  // Whether a file of the target has the static probe of "sdt:PATH:PROVIDER:NAME".
  bool has_static_probe(std::string_view event) const;

  // Removes all definitions once their events are closed; a warning says what could not be removed.
  void remove();

  // What of the probes is not as one might think.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  UserProbes(Target target,
             std::vector<TargetObject> objects,
             ProbeDefiner heap_definer,
             ProbeDefiner probes);

  Result<std::vector<EventRequest>> probe_allocators();
  Result<std::vector<EventRequest>> add_static(const std::string& event, std::uint64_t period);
  Result<EventRequest> define_static(const SdtPlace& place);
  Result<std::vector<EventRequest>> add_functions(const std::string& event, std::uint64_t period);

  Target target_;
  std::vector<TargetObject> objects_;
  ProbeDefiner heap_definer_;
  ProbeDefiner probes_;
  std::optional<HeapProbes> heap_;
  FileSet heap_files_;  // those that heap_ has looked at
  std::vector<std::string> notes_;
};

// Takes "heap:calls" and the like out of a view's needs and notes them in `heap`.
std::vector<std::string_view> without_heap_needs(std::span<const std::string_view> needs,
                                                 HeapNeeds& heap);

}  // namespace memtrace
