// Samples of probes that are hit in all processes, of the watched processes alone; samples of the
// uprobe PMU as tracefs's probes would have given them, with their arguments in the raw data; and
// no samples of children that a filter would have kept out.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "decode/sample_filter.h"
#include "perf/event/event_set.h"
#include "perf/record/record.h"
#include "tracepoints/format/filter_expression.h"
#include "tracepoints/probe/uprobe_pmu.h"

namespace memtrace {

class ProbeSamples {
 public:
  // The position in `events` is Sample::event. They outlive this, and may grow.
  explicit ProbeSamples(const std::vector<OpenedEvent>& events) : events_(events) { learn(); }

  // The record, changed if it is a sample of the PMU; nothing when it is of a process that is not
  // watched. To be given all records in order. Valid until the next call.
  std::optional<Record> complete(const Record& record);

 private:
  struct Probe {
    bool by_pmu = false;
    bool for_all_tasks = false;
    bool has_user_stack = false;
    std::uint16_t id = 0;
    std::size_t place_count = 1;  // ips that the raw data begins with
    std::vector<RegisterArgument> arguments;
    std::optional<FilterExpression> filter;
    std::optional<SampleFilter> filter_of_children;
  };

  void learn();
  void note_process(const Record& record);
  std::optional<Record> with_arguments(const Record& record, const Probe& probe);

  const std::vector<OpenedEvent>& events_;
  std::vector<Probe> probes_;
  bool is_idle_ = true;  // no event by now needs anything
  // Those that mmap, comm and fork records came of, which only the watched ones send. A number that
  // is given again within a recording is taken for the same process.
  std::unordered_set<std::uint32_t> watched_;
  std::vector<std::uint64_t> words_;  // of the last record
};

}  // namespace memtrace
