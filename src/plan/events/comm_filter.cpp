#include "plan/events/comm_filter.h"

#include <algorithm>

#include "base/text.h"
#include "tracepoints/decode/catalogue.h"

namespace memtrace {
namespace {

constexpr std::size_t kLongestComm = 15;

// Of blocks, perhaps of another thread's.
bool is_of_all_threads(const EventRequest& request) {
  return request.on_user_code || role_of(request.info.name) == EventRole::Free;
}

}  // namespace

Result<std::string> comm_expression(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    if (name.empty() || name.find_first_of("\"\\") != std::string::npos) {
      return Error{"--comm " + name,
                   0,
                   "takes names of threads, with * and ? for any letters: 'php*'",
                   ErrorKind::Usage};
    }
    const bool is_pattern = name.find_first_of("*?[") != std::string::npos;
    const std::string text = is_pattern ? name : name.substr(0, kLongestComm);
    parts.push_back(std::string("comm ") + (is_pattern ? "~" : "==") + " \"" + text + "\"");
  }
  return join(parts, " || ");
}

Result<std::string> filter_by_comm(const std::string& expression,
                                   std::vector<EventRequest>& requests) {
  std::vector<std::string> others;
  bool is_taken = false;
  for (EventRequest& request : requests) {
    if (is_of_all_threads(request)) {
      continue;
    }
    if (request.info.kind == EventKind::Tracepoint) {
      request.filter = both_filters(request.filter, expression);
      is_taken = true;
    } else {
      others.push_back(request.info.name);
    }
  }
  if (!is_taken) {
    return Error{"--comm: none of the events is a tracepoint of the kernel, which tests names",
                 0,
                 "record all threads, and give --comm to memtrace report",
                 ErrorKind::Usage};
  }
  return others.empty() ? std::string()
                        : "recorded of all threads: " + join(others, ", ") +
                              "; memtrace report --comm leaves out those of other threads";
}

}  // namespace memtrace
