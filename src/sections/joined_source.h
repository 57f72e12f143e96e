// Several files as the source of one recording, in order of time: those of a recording that was
// rotated, above all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/record/record_source.h"
#include "sections/joined_recording.h"

namespace memtrace {

class JoinedSource final : public RecordSource {
 public:
  struct File {
    std::string path;
    std::function<Result<std::unique_ptr<RecordSource>>()> open;  // called once
  };

  // In any order. All stay open, so that they may be removed while they are read, but only the one
  // that is read takes memory. Errors: a file cannot be opened, or is given twice; two recordings
  // were made at the same time or on different machines.
  static Result<std::unique_ptr<RecordSource>> create(std::vector<File> files);

  Result<std::optional<Record>> next() override;

  const Recording& recording() const override { return recording_; }

 private:
  using Sources = std::vector<std::unique_ptr<RecordSource>>;

  struct Part {
    std::string path;
    std::uint64_t started_ns = 0;
    std::unique_ptr<RecordSource> source;  // until all of it was read
    std::uint64_t known_records = 0;       // at its start: the file before has left the same state
    bool is_behind_gap = false;            // between two files something is missing
    std::vector<std::uint32_t> events;     // the recording's number for each of its own
    std::size_t told_caveats = 0;
  };

  JoinedSource(std::vector<Part> parts, Recording recording);

  static Result<Sources> open(std::vector<File> files, std::vector<JoinedFile>& opened);

  void learn_events(Part& part);
  void renumber(Sample& sample, Part& part);
  void learn_caveats(Part& part);

  std::vector<Part> parts_;
  std::size_t current_ = 0;
  Recording recording_;
};

}  // namespace memtrace
