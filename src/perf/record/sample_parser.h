// Bytes of one PERF_RECORD_SAMPLE to a Sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "perf/record/record.h"
#include "perf/record/sample_layout.h"

namespace memtrace {

// For an event that several probes share (perf/event/event_attr.h, SharedProbe): our probe for a
// sample's number.
struct SharedNumbers {
  std::uint32_t offset = 0;  // of the u32 in the raw data
  std::unordered_map<std::uint32_t, std::uint32_t> events = {};
};

class SampleParser {
 public:
  // `event` is Sample::event.
  SampleParser(const SampleLayout& layout, std::uint32_t event) : layout_(layout), event_(event) {}

  const SampleLayout& layout() const { return layout_; }

  // From now on a sample's number says which event it is of.
  void share(SharedNumbers numbers) {
    shared_ = std::make_shared<const SharedNumbers>(std::move(numbers));
  }

  // As RecordParser::parse().
  Result<Record> parse(std::span<const std::byte> bytes) const;

 private:
  SampleLayout layout_;
  std::uint32_t event_;
  std::shared_ptr<const SharedNumbers> shared_;
};

}  // namespace memtrace
