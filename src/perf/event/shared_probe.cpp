// Probes of ours that are one event of the kernel's.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "perf/event/event_set.h"

namespace memtrace {
namespace {

// Above all that the kernel gives out, which counts from 1 (kernel/events/core.c, perf_event_id).
constexpr std::uint64_t kFirstMadeUpId = std::uint64_t{1} << 62U;

constexpr std::uint64_t kFirstIdOfWindows = kFirstMadeUpId + (std::uint64_t{1} << 61U);

constexpr std::string_view kOr = " || ";

bool is_same_event(const OpenedEvent& a, const OpenedEvent& b) {
  return a.request.shared && b.request.shared &&
         a.request.shared->tracepoint_id == b.request.shared->tracepoint_id;
}

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

std::string in_kernels_names(const std::string& filter,
                             const std::map<std::string, std::string>& fields) {
  std::string renamed;
  for (std::size_t at = 0; at < filter.size();) {
    std::size_t end = at;
    while (end < filter.size() && is_word(filter[end])) {
      ++end;
    }
    const std::string word = filter.substr(at, end - at);
    const auto field = fields.find(word);
    renamed += field == fields.end() ? word : field->second;
    if (end < filter.size()) {
      renamed += filter[end++];
    }
    at = end;
  }
  return renamed;
}

std::string shared_filter_part(const SharedProbe& shared, const std::string& filter) {
  const std::string is_it = fmt::format("{} == {}", kSharedNumberField, shared.number);
  return filter.empty() ? is_it
                        : "(" + is_it + " && (" + in_kernels_names(filter, shared.fields) + "))";
}

}  // namespace

void mark_shared(std::span<OpenedEvent> events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    OpenedEvent& event = events[i];
    if (!event.request.shared) {
      continue;
    }
    event.ids = {kFirstMadeUpId + event.request.info.config};
    event.is_opened_by_other = std::ranges::any_of(
        events.first(i),
        [&event](const OpenedEvent& other) { return is_same_event(event, other); });
  }
}

void mark_windows(std::span<OpenedEvent> events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].request.is_of_windows()) {
      events[i].ids = {kFirstIdOfWindows + i};
      events[i].is_opened_by_other = true;
    }
  }
}

std::string shared_filter(const OpenedEvent& first, std::span<const OpenedEvent> events) {
  bool any = false;
  std::vector<std::string> parts;
  for (const OpenedEvent& event : events) {
    if (!is_same_event(first, event)) {
      continue;
    }
    any = any || !event.request.filter.empty();
    parts.push_back(shared_filter_part(*event.request.shared, event.request.filter));
  }
  return any ? join(parts, kOr) : "";
}

// A probe by the PMU has no fields that the kernel could test: decode/probe_samples.h does it.
std::string filter_of(const OpenedEvent& event, std::span<const OpenedEvent> events) {
  if (event.request.pmu_probe) {
    return "";
  }
  return event.request.shared ? shared_filter(event, events) : event.request.filter;
}

std::size_t shared_filter_part_bytes(const SharedProbe& shared, const std::string& filter) {
  return kOr.size() + shared_filter_part(shared, filter).size();
}

// Of the probes that share the first one's event, which is `first_number` in the parser.
SharedNumbers shared_numbers(std::span<const OpenedEvent> events, std::uint32_t first_number) {
  SharedNumbers numbers{.offset = events.front().request.shared->number_offset};
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_same_event(events.front(), events[i])) {
      numbers.events[events[i].request.shared->number] =
          first_number + static_cast<std::uint32_t>(i);
    }
  }
  return numbers;
}

void add_to_parser(std::span<const OpenedEvent> events, RecordParser& parser) {
  const auto first_number = static_cast<std::uint32_t>(parser.event_count());
  for (const OpenedEvent& event : events) {
    parser.add_event(SampleLayout::of(event.attr), event.ids);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kernel_ids.empty()) {
      continue;
    }
    const std::uint32_t number = first_number + static_cast<std::uint32_t>(i);
    parser.share(number, events[i].kernel_ids, shared_numbers(events.subspan(i), number));
  }
}

}  // namespace memtrace
