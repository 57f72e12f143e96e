#include "plan/events/event_narrowing.h"

#include <algorithm>
#include <string>

namespace memtrace {
namespace {

bool has_field_of_filter(const EventRequest& request, const EventNarrowing& part) {
  const std::string field(part.filter.substr(0, part.filter.find(' ')));
  return request.info.format.find(" " + field + ";") != std::string::npos;
}

}  // namespace

const EventNarrowing* find_narrowing(std::span<const EventNarrowing> parts,
                                     std::string_view event) {
  const auto found = std::ranges::find(parts, event, &EventNarrowing::event);
  return found == parts.end() ? nullptr : &*found;
}

const EventNarrowing* suitable_narrowing(std::span<const EventNarrowing> parts,
                                         const EventRequest& request) {
  const auto is_suitable = [&request](const EventNarrowing& part) {
    return part.event == request.info.name && has_field_of_filter(request, part);
  };
  const auto found = std::ranges::find_if(parts, is_suitable);
  return found == parts.end() ? find_narrowing(parts, request.info.name) : &*found;
}

bool is_useless(const EventRequest& request, const EventNarrowing& part) {
  return part.needs_field && !request.info.format.empty() && !has_field_of_filter(request, part);
}

void narrow(EventRequest& request, const EventNarrowing& part) {
  request.filter = part.filter;
  request.stacks = request.stacks && part.stacks != EventNarrowing::Stacks::None;
  request.user_stack = request.user_stack && part.stacks == EventNarrowing::Stacks::All;
}

void widen(EventRequest& known, const EventRequest& other) {
  known.optional = known.optional && other.optional;
  known.filter = known.filter == other.filter ? known.filter : "";
  known.user_stack = (known.stacks && known.user_stack) || (other.stacks && other.user_stack);
  known.stacks = known.stacks || other.stacks;
  known.physical_address = known.physical_address || other.physical_address;
}

std::map<std::string, std::string> filters_of_parts(std::span<const EventRequest> requests) {
  std::map<std::string, std::string> filters;
  for (const EventRequest& request : requests) {
    if (!request.filter.empty() && !request.on_user_code) {
      filters.emplace(request.info.name, request.filter);
    }
  }
  return filters;
}

std::vector<std::string> filtered_events(std::span<const EventRequest> requests) {
  std::vector<std::string> names;
  for (const EventRequest& request : requests) {
    if (!request.filter.empty()) {
      names.push_back(request.info.name);
    }
  }
  return names;
}

bool covers(const ViewSpec& view, std::string_view event, std::string_view filter) {
  return std::ranges::any_of(view.parts, [&](const EventNarrowing& part) {
    return part.event == event && part.filter == filter;
  });
}

}  // namespace memtrace
