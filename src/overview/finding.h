// What a recording shows that a person should know first: a sentence with its figure, and the
// command that shows more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

struct Finding {
  // In ascending order of weight.
  enum class Rank : std::uint8_t {
    Activity,
    SmallStall,
    ProgramGrowth,  // comes back by itself
    KernelGrowth,   // does not
    Stall,
    Refusal,
    Kill
  };

  Rank rank = Rank::Activity;
  std::uint64_t weight = 0;  // among those of its rank: ns waited, bytes kept, a share in 1/1000
  std::string view{};
  std::string sentence{};
  std::string command{};     // what follows "memtrace report"
  bool of_memtrace = false;  // what memtrace did itself, which comes after all that others did
};

// The heaviest first; those of equal weight by their sentences.
void sort_by_weight(std::vector<Finding>& findings);

// Another memtrace: a report that ran while the recording was made. The recorder's own work is not
// in the recording.
bool is_memtrace(const std::string& comm);

// There are as many as that, beside those of memtrace itself.
bool are_enough(const std::vector<Finding>& findings, std::size_t most);

// The subject of a sentence, and what narrows a report to it: "php-fpm", " --comm php-fpm". A
// process whose name is not known is "an unknown process", and no option finds it.
std::string subject_of(const std::string& comm);
std::string comm_option(const std::string& comm);

struct FindingContext {
  std::uint64_t span_ns = 0;  // of the recording
  // Of what shares are: all that the machine did, what was recorded of it, or what filters left.
  enum class Scope : std::uint8_t { Machine, Recorded, Selected } scope = Scope::Machine;
  Namer& namer;
};

// One way of looking for findings: a view by keys of its own, and what to read from its report. The
// report has all rows, neither sorted nor named.
struct Finder {
  std::string_view view;
  std::vector<std::string> by = {};     // empty: the view's own
  std::vector<std::string> flags = {};  // options of the view that take no value
  std::vector<Finding> (*find)(const Report& report, const FindingContext& context) = nullptr;
};

// The events of their views are what a plain recording holds (plan/events/event_traits.h).
const std::vector<Finder>& all_finders();

}  // namespace memtrace
