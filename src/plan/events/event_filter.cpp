#include "plan/events/event_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/text.h"
#include "tracepoints/format/filter_expression.h"
#include "tracepoints/format/format.h"

namespace memtrace {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kNamesInNote = 8;

// Fields of every event that are in no format file (kernel/trace/trace_events.c,
// trace_define_generic_fields).
constexpr auto kGenericFields = std::to_array<std::string_view>({"cpu", "CPU", "comm", "COMM"});

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) {
    ++at;
  }
  return at;
}

// Only the left side of a comparison is a field: "comm == make && pid > 1" has no field "make".
bool begins_comparison(std::string_view rest) {
  constexpr auto kOperators = std::to_array<std::string_view>({"==", "!=", "<", ">", "~", "&"});
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return !rest.starts_with("&&") &&
         std::any_of(kOperators.begin(), kOperators.end(), [rest](std::string_view each) {
           return rest.starts_with(each);
         });
}

Names fields_of(const EventRequest& request) {
  Names names;
  const std::string_view group =
      std::string_view{request.info.name}.substr(0, request.info.name.find(':'));
  const auto format = parse_format(request.info.format, group);
  if (request.info.kind != EventKind::Tracepoint || !format.ok()) {
    return names;
  }
  names.assign(kGenericFields.begin(), kGenericFields.end());
  for (const Field& field : format.value().fields) {
    names.push_back(field.name);
  }
  return names;
}

Names missing_from(const Names& known, const Names& wanted) {
  Names missing;
  std::copy_if(
      wanted.begin(), wanted.end(), std::back_inserter(missing), [&known](const std::string& name) {
        return std::find(known.begin(), known.end(), name) == known.end();
      });
  return missing;
}

Error no_such_fields(const std::string& filter, const Names& fields, std::set<std::string> known) {
  const Names missing = missing_from({known.begin(), known.end()}, fields);
  std::erase_if(known, [](const std::string& name) { return name.starts_with("common_"); });
  const Names names(known.begin(), known.end());
  if (missing.empty() || names.empty()) {
    return {"filter '" + filter + "': no event that is recorded has " + join(fields, " and "),
            0,
            "name tracepoints that have all its fields with -e; they are listed in "
            "/sys/kernel/tracing/events/*/*/format, and software events have none",
            ErrorKind::Usage};
  }
  const Names near = nearest(missing.front(), names);
  return {
      "filter '" + filter + "': no event that is recorded has a field '" + missing.front() + "'",
      0,
      near.empty() ? "fields are " + join(names, ", ") : "did you mean " + join(near, " or ") + "?",
      ErrorKind::Usage};
}

std::string note_on(const std::string& filter, Names unfiltered) {
  const std::size_t shown = std::min(unfiltered.size(), kNamesInNote);
  const std::size_t others = unfiltered.size() - shown;
  unfiltered.resize(shown);
  return "recorded without the filter '" + filter +
         "', because they lack its fields: " + join(unfiltered, ", ") +
         (others == 0 ? "" : " and " + std::to_string(others) + " others");
}

}  // namespace

// tracefs_filter_string_verify() is no judge of what the kernel takes: it refuses "cpu", which
// every event has, and takes common_timestamp, which none has.
std::vector<std::string> fields_of_filter(std::string_view expression) {
  Names fields;
  for (std::size_t at = 0; at < expression.size();) {
    const char first = expression[at];
    if (first == '"' || first == '\'') {
      at = std::min(expression.find(first, at + 1), expression.size() - 1) + 1;
      continue;
    }
    const std::size_t word_end = end_of_word(expression, at);
    const std::string word(expression.substr(at, word_end - at));
    // name.ustring, name.function: since 6.0 and 6.4.
    const bool has_suffix = !word.empty() && expression.substr(word_end).starts_with('.');
    const std::size_t end = has_suffix ? end_of_word(expression, word_end + 1) : word_end;
    const bool is_name = end > at && std::isdigit(static_cast<unsigned char>(first)) == 0;
    if (is_name && begins_comparison(expression.substr(end)) &&
        std::find(fields.begin(), fields.end(), word) == fields.end()) {
      fields.push_back(word);
    }
    at = std::max(end, at + 1);
  }
  return fields;
}

Result<std::string> apply_filter(const std::string& filter, std::vector<EventRequest>& requests) {
  const Names fields = fields_of_filter(filter);
  std::set<std::string> known;
  Names unfiltered;
  for (EventRequest& request : requests) {
    const Names own = fields_of(request);
    known.insert(own.begin(), own.end());
    // An expression that we cannot read goes to all: the kernel says what is wrong with it.
    if (!own.empty() && missing_from(own, fields).empty()) {
      request.filter = both_filters(request.filter, filter);
    } else {
      unfiltered.push_back(request.info.name);
    }
  }
  if (unfiltered.size() == requests.size()) {
    return no_such_fields(filter, fields, std::move(known));
  }
  return unfiltered.empty() ? std::string() : note_on(filter, std::move(unfiltered));
}

Result<> check_pmu_filters(const std::vector<EventRequest>& requests) {
  for (const EventRequest& request : requests) {
    if (!request.pmu_probe || request.filter.empty()) {
      continue;
    }
    const auto filter = FilterExpression::parse(request.filter);
    TRY(filter.ok() ? Result<>(kDone) : filter.error());
  }
  return kDone;
}

// On 6.18 the last descriptor of such a probe takes some 70 ms to close
// (kernel/trace/trace_event_perf.c, perf_uprobe_destroy, waits for grace periods of RCU and holds
// event_mutex).
Result<> check_pmu_tasks(const std::vector<EventRequest>& requests, const Target& target) {
  constexpr std::size_t kMaxTasks = 16;
  const auto probes = static_cast<std::size_t>(std::ranges::count_if(requests, is_of_uprobe_pmu));
  const bool has_tasks = target.kind == TargetKind::Processes || target.kind == TargetKind::Threads;
  if (probes == 0 || !has_tasks) {
    return kDone;
  }
  const auto tasks = tasks_of(target);
  if (!tasks.ok() || tasks.value().size() <= kMaxTasks) {
    return tasks.ok() ? Result<>(kDone) : tasks.error();
  }
  return Error{
      fmt::format("without tracefs each of {} threads needs {} probes of its own on each CPU, "
                  "and the kernel takes a tenth of a second to remove each",
                  tasks.value().size(),
                  probes),
      0,
      "mount tracefs on /sys/kernel/tracing, or name some of the threads with -t TID",
      ErrorKind::Usage};
}

}  // namespace memtrace
