// What the live tests share: a scratch folder, memtrace and perf run in it, and figures out of what
// they print. MEMTRACE and PUPPETS are set for all scripts.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "support/run_command.h"
#include "support/temp_dir.h"

namespace memtrace::test {

using Json = nlohmann::json;

// The number of samples of each event in a file.
using EventCounts = std::map<std::string, std::uint64_t>;

class LiveTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "not root: the kernel's tracepoints can be opened by root only";
    }
  }

  void need_perf() {
    if (run("perf version").status != 0) {
      GTEST_SKIP() << "perf is not installed: there is nothing to compare with";
    }
  }

  static Environment environment() {
    return {{"MEMTRACE", MEMTRACE_PROGRAM},
            {"PUPPETS", PUPPETS_FOLDER},
            {"LIVE_TEST_DATA", LIVE_TEST_DATA},
            {"HOME", "/nonexistent"},  // no .perfconfig
            {"LC_ALL", "C"}};
  }

  Outcome run(const std::string& script) { return run_script(script, dir_.path(), environment()); }

  Outcome run_well(const std::string& script) {
    Outcome outcome = run(script);
    EXPECT_EQ(outcome.status, 0) << script << "\n" << outcome.all();
    return outcome;
  }

  // The words go behind "memtrace report --format json".
  Json report(const std::string& words) {
    return json_of("$MEMTRACE report --format json " + words);
  }

  Json json_of(const std::string& script) {
    const Outcome outcome = run_well(script);
    const Json parsed = Json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << script << "\n" << outcome.all();
    return parsed.is_discarded() ? Json::object() : parsed;
  }

  // From memtrace's overview of a file.
  EventCounts own_counts(const std::string& file) {
    EventCounts counts;
    const Json overview = report("-i " + file);
    for (const Json& row : overview.at("tables").at(0).at("rows")) {
      counts[row.at("event")] = row.at("samples");
    }
    return counts;
  }

  // Lines of `perf script`, one for each sample; words as for perf script.
  EventCounts perf_counts(const std::string& words) {
    EventCounts counts;
    std::istringstream lines(run_well("perf script -F event -G -i " + words).out);
    std::string event;
    while (lines >> event) {
      ++counts[event.substr(0, event.find_last_of(':'))];
    }
    return counts;
  }

  TempDir dir_;
};

inline bool begins_with(const Json& name, std::string_view start) {
  return name.is_string() && name.get<std::string>().starts_with(start);
}

// Sum of a figure over the rows of the first table whose stack has the function.
inline std::uint64_t sum_with_function(const Json& report,
                                       std::string_view function,
                                       const char* figure = "count") {
  std::uint64_t sum = 0;
  for (const Json& row : report.at("tables").at(0).at("rows")) {
    for (const Json& frame : row.at("stack")) {
      if (begins_with(frame, function)) {
        sum += row.at(figure).get<std::uint64_t>();
        break;
      }
    }
  }
  return sum;
}

// The same where the function is the innermost of the stack: record or report with --user.
inline std::uint64_t sum_at_function(const Json& report,
                                     std::string_view function,
                                     const char* figure = "count") {
  std::uint64_t sum = 0;
  for (const Json& row : report.at("tables").at(0).at("rows")) {
    const Json& stack = row.at("stack");
    if (stack.is_array() && !stack.empty() && begins_with(stack.front(), function)) {
      sum += row.at(figure).get<std::uint64_t>();
    }
  }
  return sum;
}

// A figure of the one row with this key; 0 when there is none.
inline std::uint64_t figure_of(const Json& report,
                               const char* key,
                               const Json& value,
                               const char* figure = "count") {
  for (const Json& row : report.at("tables").at(0).at("rows")) {
    if (row.at(key) == value) {
      return row.at(figure);
    }
  }
  return 0;
}

inline std::uint64_t lost_in(const Json& report) {
  return report.at("caveats").at("lost");
}

}  // namespace memtrace::test
