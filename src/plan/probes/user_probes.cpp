#include "plan/probes/user_probes.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "plan/probes/descriptor_limit.h"
#include "plan/probes/uprobe_event.h"
#include "programs/no_allocator.h"
#include "tracepoints/decode/heap.h"
#include "tracepoints/probe/stale_probes.h"
#include "views/heap/heap_events.h"

namespace memtrace {
namespace {

// Each probe's end waits for several grace periods of RCU, one probe after the other
// (kernel/trace/trace_event_perf.c, perf_trace_destroy, holds event_mutex during the wait).
constexpr std::size_t kManyPlaces = 100;

void tell_if_many(const std::string& event, std::size_t places) {
  if (places > kManyPlaces) {
    inform(fmt::format(
        "event '{}' has {} places: at the end the kernel takes about a tenth of a second "
        "to remove each",
        event,
        places));
  }
}

}  // namespace

UserProbes::UserProbes(Target target,
                       std::vector<TargetObject> objects,
                       ProbeDefiner heap_definer,
                       ProbeDefiner probes)
    : target_(std::move(target)),
      objects_(std::move(objects)),
      heap_definer_(std::move(heap_definer)),
      probes_(std::move(probes)) {}

Result<std::unique_ptr<UserProbes>> UserProbes::open(const Target& target) {
  const auto stale = remove_stale_probes();
  if (stale.ok() && stale.value() > 0) {
    inform("removed " + counted(stale.value(), "probe", "probes") +
           " that a killed memtrace had left");
  }
  auto heap_definer = ProbeDefiner::open(ProbeKind::Heap);
  auto probes = ProbeDefiner::open(ProbeKind::Events);
  if (!heap_definer.ok() || !probes.ok()) {
    return heap_definer.ok() ? probes.take_error() : heap_definer.take_error();
  }
  auto objects = objects_of(target);
  if (!objects.ok()) {
    return objects.take_error();
  }
  return std::unique_ptr<UserProbes>(
      new UserProbes(target, objects.take(), heap_definer.take(), probes.take()));
}

Result<std::unique_ptr<UserProbes>> UserProbes::plan(const Target& target) {
  auto objects = objects_of(target);
  if (!objects.ok()) {
    return objects.take_error();
  }
  return std::unique_ptr<UserProbes>(new UserProbes(target,
                                                    objects.take(),
                                                    ProbeDefiner::plan(ProbeKind::Heap),
                                                    ProbeDefiner::plan(ProbeKind::Events)));
}

std::vector<std::string> UserProbes::commands() const {
  std::vector<std::string> commands = heap_definer_.commands();
  commands.insert(commands.end(), probes_.commands().begin(), probes_.commands().end());
  return commands;
}

void UserProbes::remove() {
  for (ProbeDefiner* const definer : {&heap_definer_, &probes_}) {
    if (const auto removed = definer->remove(); !removed.ok()) {
      warn(describe(removed.error()) + "; " + removed.error().hint);
    }
  }
}

namespace {

// Error: Usage, when none of the probes is on the function.
Result<> check_found(const CustomFunction& custom,
                     const Result<std::vector<EventRequest>>& probes) {
  if (!probes.ok()) {
    return probes.error();
  }
  const auto is_of_it = [&custom](const EventRequest& request) {
    return heap_function(request.info.name) == probe_event_name(custom.name, {});
  };
  if (std::any_of(probes.value().begin(), probes.value().end(), is_of_it)) {
    return kDone;
  }
  return Error{"no function '" + custom.name + "' in the target's files",
               0,
               "--alloc and --free take functions that have symbols; name the file in front: "
               "libpool.so:FUNCTION",
               ErrorKind::Usage};
}

// Its file may be loaded later.
bool is_awaited(const CustomFunction& custom, const std::vector<TargetObject>& objects) {
  return !custom.path.empty() &&
         std::none_of(objects.begin(), objects.end(), [&custom](const TargetObject& object) {
           return object.mapped_path.ends_with(custom.path);
         });
}

}  // namespace

// A process in the midst of execve(2) has no libraries yet: its dynamic loader maps them within
// milliseconds.
Result<std::vector<EventRequest>> UserProbes::probe_allocators() {
  constexpr int kLooks = 10;
  constexpr std::chrono::milliseconds kPause(30);
  auto requests = heap_->add(objects_);
  for (int look = 1; look < kLooks && target_.kind == TargetKind::Processes && requests.ok() &&
                     requests.value().empty();
       ++look) {
    std::this_thread::sleep_for(kPause);
    auto objects = objects_of(target_);
    if (!objects.ok()) {
      break;
    }
    objects_ = objects.take();
    requests = heap_->add(objects_);
  }
  return requests;
}

Result<std::vector<EventRequest>> UserProbes::add_heap(const HeapNeeds& needs) {
  HeapNeeds possible = needs;
  if (needs.one_probe && !heap_definer_.fetches_memory()) {
    possible.one_probe = false;
    notes_.emplace_back(
        "--one-probe is not possible here: the uprobe PMU, which replaces tracefs, and "
        "uprobe_events before Linux 3.16 cannot read the sizes of glibc's chunks. Calls and "
        "returns are probed");
  }
  heap_.emplace(possible, heap_definer_);
  auto requests = probe_allocators();
  for (const TargetObject& object : objects_) {
    heap_files_.insert(object.path);
  }
  if (requests.ok() && !requests.value().empty()) {
    ProbedFiles probed{.paths = {}, .needs_frees = needs.returns};
    for (const EventRequest& request : requests.value()) {
      probed.paths.insert(request.probed_file);
    }
    auto unseen = unseen_heaps(target_, objects_, probed);
    std::ranges::move(unseen, std::back_inserter(notes_));
  }
  bool waits = false;
  for (const CustomFunction& custom : needs.custom) {
    if (is_awaited(custom, objects_)) {
      waits = true;
      notes_.push_back("no file of the target is " + custom.path + " yet: " + custom.name +
                       " is probed when one is loaded");
      continue;
    }
    TRY(check_found(custom, requests));
  }
  if (requests.ok() && requests.value().empty() && !waits) {
    return no_allocator(target_, objects_);
  }
  return requests;
}

Result<std::vector<EventRequest>> UserProbes::add_heap_of(const NewMapping& mapping) {
  const auto object = object_of_mapping(mapping);
  if (!heap_ || !object || !heap_files_.insert(object->path)) {
    return std::vector<EventRequest>();
  }
  return heap_->add({*object});
}

Result<std::vector<EventRequest>> UserProbes::add_event(const std::string& event,
                                                        std::uint64_t period) {
  return is_sdt_event(event) ? add_static(event, period) : add_functions(event, period);
}

Result<std::vector<EventRequest>> UserProbes::add_functions(const std::string& event,
                                                            std::uint64_t period) {
  const auto parsed = parse_uprobe_event(event);
  if (!parsed.ok()) {
    return parsed.error();
  }
  auto places = find_uprobe_places(parsed.value(), objects_);
  if (!places.ok()) {
    return places.take_error();
  }
  TRY(check_descriptors(event, places.value().size(), target_));
  tell_if_many(event, places.value().size());
  std::vector<EventRequest> requests;
  for (const ProbeDefinition& probe : places.value()) {
    auto defined = probes_.define(probe);
    if (!defined.ok()) {
      return defined.take_error();
    }
    defined.value().info.period = period;
    requests.push_back(defined.take());
  }
  return requests;
}

Result<std::vector<EventRequest>> UserProbes::add_static(const std::string& event,
                                                         std::uint64_t period) {
  const auto parsed = parse_sdt_event(event);
  if (!parsed.ok()) {
    return parsed.error();
  }
  const auto places = find_sdt_places(parsed.value(), objects_);
  if (!places.ok()) {
    return places.error();
  }
  TRY(check_descriptors(event, places.value().size(), target_));
  tell_if_many(event, places.value().size());
  std::vector<EventRequest> requests;
  for (const SdtPlace& place : places.value()) {
    auto defined = define_static(place);
    if (!defined.ok()) {
      return defined.take_error();
    }
    defined.value().info.period = period;
    requests.push_back(defined.take());
  }
  return requests;
}

// With as many of its arguments as this kernel fetches.
Result<EventRequest> UserProbes::define_static(const SdtPlace& place) {
  const ProbeDefinition& wanted = place.definition;
  if (!place.unfetched.empty()) {
    notes_.push_back(wanted.event + " is probed without its arguments " +
                     join(place.unfetched, " ") + ", which uprobes cannot fetch");
  }
  auto defined = probes_.define(wanted);
  for (const std::string& args : {place.register_args, std::string()}) {
    if (defined.ok() || wanted.args.empty() || args == wanted.args) {
      continue;
    }
    ProbeDefinition fewer = wanted;
    fewer.args = args;
    if (auto again = probes_.define(fewer); again.ok()) {
      notes_.push_back(wanted.event + " is probed without some of its arguments (" + wanted.args +
                       "), which this kernel does not fetch");
      return again;
    }
  }
  return defined;
}

bool UserProbes::has_static_probe(std::string_view event) const {
  const auto parsed = parse_sdt_event(event);
  return parsed.ok() && find_sdt_places(parsed.value(), objects_).ok();
}

std::vector<std::string_view> without_heap_needs(std::span<const std::string_view> needs,
                                                 HeapNeeds& heap) {
  std::vector<std::string_view> others;
  for (const std::string_view need : needs) {
    if (need == kHeapCalls) {
      heap.calls = true;
    } else if (need == kHeapReturns) {
      heap.returns = true;
    } else if (need == kHeapFrees) {
      heap.frees = true;
    } else {
      others.push_back(need);
    }
  }
  return others;
}

}  // namespace memtrace
