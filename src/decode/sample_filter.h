// An event's filter tested on its samples here: kernels that do not hand it on to the events of
// child processes record all that those do.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perf/event/event_attr.h"
#include "perf/target/target.h"
#include "tracepoints/format/field.h"
#include "tracepoints/format/filter_expression.h"

namespace memtrace {

class SampleFilter {
 public:
  // Nothing when the expression compares anything but numbers of this format.
  static std::optional<SampleFilter> make(const std::string& expression, const EventFormat& format);
  // The same of an event with its filter and its format's text.
  static std::optional<SampleFilter> of(const EventRequest& request);

  bool accepts(std::span<const std::byte> raw) const;

 private:
  explicit SampleFilter(FilterExpression expression) : expression_(std::move(expression)) {}

  FilterExpression expression_;
  std::vector<Field> fields_;
  std::vector<bool> are_signed_;
};

// Asks that the filters of events that children inherit be tested here, where this kernel does not
// do it (EventRequest::filter_children). A note names those that cannot be.
void filter_children_here(const Target& target,
                          std::vector<EventRequest>& requests,
                          std::vector<std::string>& notes);

}  // namespace memtrace
