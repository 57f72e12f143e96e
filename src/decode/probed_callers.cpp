#include "decode/probed_callers.h"

#include <algorithm>

#include "perf/record/record.h"
#include "tracepoints/probe/kernel_functions.h"
#include "tracepoints/probe/uprobe_names.h"

namespace memtrace {

void ProbedCallers::learn(const EventType& type) {
  callers_.push_back(is_kernel_probe_name(type.name) ? type.format.find(kProbedCaller) : nullptr);
}

std::span<const std::uint64_t> ProbedCallers::complete(const EventType& type,
                                                       std::span<const std::uint64_t> chain,
                                                       std::span<const std::byte> raw) {
  const Field* field = callers_[type.index];
  if (field == nullptr) {
    return chain;  // nearly all samples: nothing is to be looked for
  }
  const std::uint64_t caller = field->number(raw);
  const auto kernel = std::ranges::find(chain, kContextKernel);
  if (caller == 0 || chain.end() - kernel < 2) {
    return chain;
  }
  const auto after_function = kernel + 2;
  if (after_function != chain.end() && *after_function == caller) {
    return chain;
  }
  completed_.assign(chain.begin(), after_function);
  completed_.push_back(caller);
  completed_.insert(completed_.end(), after_function, chain.end());
  return completed_;
}

}  // namespace memtrace
