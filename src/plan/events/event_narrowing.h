// Events of which a view needs only a part: fewer samples, or samples without stacks.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perf/event/event_attr.h"
#include "views/view.h"

namespace memtrace {

// nullptr when all of the event is needed.
const EventNarrowing* find_narrowing(std::span<const EventNarrowing> parts, std::string_view event);

// The same for one that is to be recorded: of several parts, the first whose filter is on a field
// that the event has on this kernel.
const EventNarrowing* suitable_narrowing(std::span<const EventNarrowing> parts,
                                         const EventRequest& request);

// The event lacks the filter's field on this kernel, and the view has no use for it without.
bool is_useless(const EventRequest& request, const EventNarrowing& part);

void narrow(EventRequest& request, const EventNarrowing& part);

// `known` gives all that `other`, a request for the same event, asks for.
void widen(EventRequest& known, const EventRequest& other);

// By event: the filter, which views that the recording was not made for must know.
std::map<std::string, std::string> filters_of_parts(std::span<const EventRequest> requests);

// The names of the events that have a filter, by whatever option.
std::vector<std::string> filtered_events(std::span<const EventRequest> requests);

// True when a recording with this filter holds all of the event that the view needs.
bool covers(const ViewSpec& view, std::string_view event, std::string_view filter);

}  // namespace memtrace
