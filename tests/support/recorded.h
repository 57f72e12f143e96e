// What a source gives out, copied so that it can be looked at afterwards.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "perf/file_in/file_source.h"
#include "support/perf_bytes.h"

namespace memtrace::test {

struct Recorded {
  std::vector<std::uint64_t> sample_times_ns;
  std::vector<std::uint64_t> times_ns;  // of all records
  std::vector<std::string> comms;
  std::uint64_t malformed_count = 0, late_count = 0, kernel_lost_count = 0;
  std::size_t frame_count = 0;
  Recording recording;
  std::string error;  // that reading ended with

  bool has_caveat(const std::string& part) const {
    for (const std::string& caveat : recording.caveats) {
      if (caveat.find(part) != std::string::npos) {
        return true;
      }
    }
    return false;
  }
};

inline void note(const Record& record, Recorded& recorded) {
  recorded.times_ns.push_back(record.stamp.time_ns);
  if (const auto* sample = std::get_if<Sample>(&record.payload)) {
    recorded.sample_times_ns.push_back(record.stamp.time_ns);
    recorded.frame_count += sample->callchain.size();
  } else if (const auto* comm = std::get_if<Comm>(&record.payload)) {
    recorded.comms.emplace_back(comm->name);
  } else if (const auto* lost = std::get_if<Lost>(&record.payload)) {
    auto& count = lost->reason == LossReason::Malformed ? recorded.malformed_count
                  : lost->reason == LossReason::Late    ? recorded.late_count
                                                        : recorded.kernel_lost_count;
    count += lost->count;
  }
}

inline Recorded read_all(const std::string& path) {
  Recorded recorded;
  auto source = open_file_source(path);
  if (!source.ok()) {
    recorded.error = source.error().message;
    EXPECT_NE(source.error().hint, "") << recorded.error;
    return recorded;
  }
  while (true) {
    const auto record = source.value()->next();
    if (!record.ok() || !record.value()) {
      recorded.error = record.ok() ? "" : record.error().message;
      break;
    }
    note(*record.value(), recorded);
  }
  recorded.recording = source.value()->recording();
  return recorded;
}

}  // namespace memtrace::test
