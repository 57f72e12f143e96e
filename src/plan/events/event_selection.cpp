#include "plan/events/event_selection.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "decode/raw_call_types.h"
#include "decode/sample_filter.h"
#include "plan/events/comm_filter.h"
#include "plan/events/event_filter.h"
#include "plan/events/event_narrowing.h"
#include "plan/events/event_traits.h"
#include "plan/probes/sdt_event.h"
#include "plan/probes/uprobe_event.h"
#include "plan/probes/watchpoint_event.h"
#include "tracepoints/decode/alternatives.h"
#include "tracepoints/decode/software_events.h"
#include "tracepoints/format/tracefs.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

// tracefs is opened when the first tracepoint is needed: software events work without it.
class Selector {
 public:
  explicit Selector(const EventSelection& selection)
      : selection_(selection), heap_(selection.heap) {}

  Result<> add_view(const ViewSpec& view) {
    physical_addresses_ = view.needs_physical_addresses;
    parts_ = view.parts;
    TRY(add_needs(view.needs, view.needs_call_stacks));
    selected_.is_prompt = selected_.is_prompt || view.needs_promptness;
    selected_.resident_pages = selected_.resident_pages || view.needs_resident_pages;
    parts_ = {};
    if (!view.needs_memory_map) {
      return kDone;
    }
    selected_.data_mappings = true;
    TRY(add_needs(memory_map_needs()));
    // What happens while /proc is read must not be missed.
    for (EventRequest& request : selected_.requests) {
      request.with_tracking = request.with_tracking || changes_mappings(request.info.name);
    }
    return kDone;
  }

  Result<> add_needs(std::span<const std::string_view> all_needs, bool stacks_of_calls = false) {
    const auto needs = without_heap_needs(all_needs, heap_);
    if (needs.empty()) {
      return kDone;
    }
    Result<> opened = open_files();
    const bool is_blind = selection_.plan_only && !opened.ok();
    const auto exists = [this](std::string_view event) { return has_event(event); };
    auto chosen = choose_events(needs, exists);
    if (!opened.ok() && !chosen.ok() && !is_blind) {
      return opened;  // it cannot be done with software events alone
    }
    if (!chosen.ok()) {
      return chosen.take_error();
    }
    raw_calls_.note(needs, exists);
    for (const std::string& event : chosen.value()) {
      part_ = find_narrowing(parts_, event);
      may_be_missing_ = is_blind && may_be_missing(needs, event);
      TRY(add_event(event, {.stacks = has_stacks(event, stacks_of_calls)}));
    }
    may_be_missing_ = false;
    part_ = nullptr;
    return kDone;
  }

  // What a view lacks on this kernel is no reason to record nothing.
  Result<> add_defaults() {
    parts_ = default_parts();
    TRY(add_needs(default_needs()));
    parts_ = {};
    for (const std::string_view name : default_views()) {
      TRY(add_view_if_possible(find_view(name)->spec));
    }
    return kDone;
  }

  Result<> add_view_if_possible(const ViewSpec& view) {
    TRY(open_files().ok() || selection_.plan_only ? Result<>(kDone) : open_files());
    HeapNeeds heap = heap_;
    const auto exists = [this](std::string_view event) { return has_event(event); };
    const bool is_possible = choose_events(without_heap_needs(view.needs, heap), exists).ok();
    return is_possible ? add_view(view) : Result<>(kDone);
  }

  // Who wants an event, and how.
  struct Use {
    bool stacks = false;
    bool by_user = false;
  };

  Result<> add_event(const std::string& name, Use use) {
    if (is_uprobe_event(name) || is_sdt_event(name)) {
      return add_user_probe(name, use);
    }
    if (const auto software = find_software_event(name)) {
      add({.info = {.name = std::string(software->name),
                    .kind = EventKind::Software,
                    .config = software->config,
                    .period = selection_.period},
           .type = kTypeSoftware,
           .stacks = use.stacks && !physical_addresses_,
           .physical_address = physical_addresses_,
           .optional = physical_addresses_,
           .may_be_sampled = true});
      return kDone;
    }
    if (is_watchpoint_event(name)) {
      return add_all(watchpoint_request(name, selection_.period), use.stacks);
    }
    if (const Result<> opened = open_files(); !opened.ok()) {
      selected_.unseen = describe(opened.error()) + "; " + opened.error().hint;
      return selection_.plan_only ? add_unseen(name, use) : opened;
    }
    auto names = files_->list_events(name);
    if (!names.ok()) {
      return names.take_error();
    }
    raw_calls_.keep_whole(use.by_user ? name : "");
    const bool is_pattern = name.find_first_of("*?") != std::string::npos;
    for (const std::string& each : names.value()) {
      TRY(add_tracepoint(each, use, is_pattern));
    }
    return kDone;
  }

  Result<SelectedEvents> finish() {
    TRY(heap_.any() ? add_heap_probes() : Result<>(kDone));
    if (selected_.probes) {
      const auto& notes = selected_.probes->notes();
      selected_.notes.insert(selected_.notes.end(), notes.begin(), notes.end());
    }
    raw_calls_.narrow(selected_.requests);
    selected_.filters = filters_of_parts(selected_.requests);
    TRY(selection_.filter.empty() ? Result<>(kDone) : filter_all());
    TRY(selection_.comms.empty() ? Result<>(kDone) : filter_comms());
    TRY(check_pmu_filters(selected_.requests));
    TRY(check_pmu_tasks(selected_.requests, selection_.target));
    if (!selection_.plan_only) {
      filter_children_here(selection_.target, selected_.requests, selected_.notes);
    }
    if (files_ || selected_.probes) {
      read_headers();
    }
    return std::move(selected_);
  }

 private:
  // The probes live as long as what has this function, by SelectedEvents' own rule.
  ChooseEvents choose_added() const {
    return [probes = selected_.probes.get(), filter = selection_.filter](
               const NewMapping& mapping) -> Result<std::vector<EventRequest>> {
      auto requests = probes->add_heap_of(mapping);
      if (requests.ok() && !requests.value().empty() && !filter.empty()) {
        (void)apply_filter(filter, requests.value()).ok();  // what has none of its fields goes free
      }
      return requests;
    };
  }

  Result<> add_user_probe(const std::string& name, Use use) {
    TRY(open_probes());
    return add_all(selected_.probes->add_event(name, selection_.period), use.stacks);
  }

  Result<> add_heap_probes() {
    TRY(open_probes());
    heap_.filter = selection_.filter;
    TRY(add_all(selected_.probes->add_heap(heap_), true));
    selected_.choose_added = selection_.plan_only ? ChooseEvents() : choose_added();
    if (heap_.sees_all_calls()) {
      ask_who_takes_memory(selected_.requests);
    }
    return kDone;
  }

  Result<> filter_all() {
    auto note = apply_filter(selection_.filter, selected_.requests);
    if (!note.ok()) {
      return note.take_error();
    }
    if (!note.value().empty()) {
      selected_.notes.push_back(note.take());
    }
    return kDone;
  }

  Result<> filter_comms() {
    const auto expression = comm_expression(selection_.comms);
    auto note = expression.ok() ? filter_by_comm(expression.value(), selected_.requests)
                                : Result<std::string>(expression.error());
    if (!note.ok()) {
      return note.take_error();
    }
    if (!note.value().empty()) {
      selected_.notes.push_back(note.take());
    }
    return kDone;
  }

  void read_headers() {
    auto page = files_ ? files_->header_page() : std::string(usual_header_page());
    auto event = files_ ? files_->header_event() : std::string();
    selected_.header_page = page.ok() ? page.take() : "";
    selected_.header_event = event.ok() ? event.take() : "";
  }

  Result<> open_probes() {
    (void)open_files().ok();  // there is a way for probes without tracefs
    if (!selected_.probes) {
      auto probes = selection_.plan_only ? UserProbes::plan(selection_.target)
                                         : UserProbes::open(selection_.target);
      if (!probes.ok()) {
        return probes.take_error();
      }
      selected_.probes = probes.take();
      selected_.remove_probes = [probes = selected_.probes.get()] { probes->remove(); };
    }
    return kDone;
  }

  // For static probes it is only known whether the target has them now.
  bool has_event(std::string_view event) {
    if (is_sdt_event(event)) {
      const auto [known, is_new] = static_probes_.try_emplace(std::string(event));
      if (is_new) {
        known->second = open_probes().ok() && selected_.probes->has_static_probe(event);
      }
      return known->second;
    }
    return files_ ? files_->has(event) : selection_.plan_only;
  }

  Result<> add_all(Result<std::vector<EventRequest>> requests, bool stacks) {
    if (!requests.ok()) {
      return requests.take_error();
    }
    for (EventRequest& request : requests.value()) {
      request.stacks = request.stacks && stacks;
      add(std::move(request));
    }
    return kDone;
  }

  Result<> open_files() {
    if (!files_) {
      auto files =
          selection_.plan_only ? TracepointFiles::open_as_it_is() : TracepointFiles::open();
      if (!files.ok()) {
        return files.take_error();
      }
      files_.emplace(files.take());
    }
    return kDone;
  }

  // Under the name that kernels of today give it.
  Result<> add_unseen(const std::string& name, Use use) {
    if (name.find(':') == std::string::npos) {
      return Error{
          "unknown event '" + name + "'", 0, "events are written group:event", ErrorKind::Usage};
    }
    add({.info = {.name = name,
                  .kind = EventKind::Tracepoint,
                  .period = is_paired(name) && !use.by_user ? 1 : selection_.period},
         .type = kTypeTracepoint,
         .stacks = use.stacks,
         .optional = may_be_missing_});
    return kDone;
  }

  Result<> add_tracepoint(const std::string& name, Use use, bool optional) {
    auto id = files_->event_id(name);
    auto text = files_->event_format_text(name);
    if (!id.ok() || !text.ok()) {
      return id.ok() ? text.take_error() : id.take_error();
    }
    add({.info = {.name = name,
                  .kind = EventKind::Tracepoint,
                  .config = id.value(),
                  .period = is_paired(name) && !use.by_user ? 1 : selection_.period,
                  .format = text.take()},
         .type = kTypeTracepoint,
         .stacks = use.stacks,
         .optional = optional,
         .may_be_sampled = !is_paired(name)});
    return kDone;
  }

  void add(EventRequest request) {
    if (part_ != nullptr) {
      const EventNarrowing& part = *suitable_narrowing(parts_, request);
      if (is_useless(request, part)) {
        return;
      }
      narrow(request, part);
    }
    const auto name_of = [](const EventRequest& other) { return other.info.name; };
    auto& requests = selected_.requests;
    const auto known = std::ranges::find(requests, request.info.name, name_of);
    note_origin(request);
    if (known == requests.end()) {
      requests.push_back(std::move(request));
    } else {
      widen(*known, request);
    }
  }

  const EventSelection& selection_;
  HeapNeeds heap_;
  RawCallFilter raw_calls_;
  std::optional<TracepointFiles> files_;
  std::map<std::string, bool> static_probes_;  // those asked for: all files are read for each
  bool physical_addresses_ = false;        // the view that is being added wants those of its faults
  std::span<const EventNarrowing> parts_;  // of the view that is being added
  const EventNarrowing* part_ = nullptr;   // of the event
  bool may_be_missing_ = false;            // of a plan: the event, by its need
  SelectedEvents selected_;
};

Result<> add_views(const std::vector<std::string>& names, Selector& selector) {
  for (const std::string& name : names) {
    const NamedView* view = find_view(name);
    if (view == nullptr) {
      return unknown_view(name);
    }
    TRY(selector.add_view(view->spec));
  }
  return kDone;
}

}  // namespace

Result<SelectedEvents> select_events(const EventSelection& selection) {
  Selector selector(selection);
  if (selection.events.empty() && selection.views.empty() && selection.views_if_possible.empty()) {
    TRY(selector.add_defaults());
  }
  // What the user named comes first: it has stacks even where a view would do without.
  for (const std::string& name : selection.events) {
    TRY(is_kprobe_event(name) ? Result<>(kDone)
                              : selector.add_event(name, {.stacks = true, .by_user = true}));
  }
  TRY(add_views(selection.views, selector));
  for (const std::string& name : selection.views_if_possible) {
    TRY(selector.add_view_if_possible(find_view(name)->spec));
  }
  auto selected = selector.finish();
  if (!selected.ok()) {
    return selected.take_error();
  }
  TRY(add_kernel_probes(selection, selected.value()));
  return selected;
}

}  // namespace memtrace
