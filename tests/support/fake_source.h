// A recording written as C++ literals: records of a small machine, given out one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "perf/record/record_source.h"
#include "support/saved_formats.h"

namespace memtrace::test {

inline constexpr std::uint32_t kKmalloc = 0;  // events of FakeSource by number
inline constexpr std::uint32_t kMinorFaults = 1;
inline constexpr std::uint32_t kKfree = 2;

// Reads the events' formats from the tree; owns all that its records point to.
class FakeSource final : public RecordSource {
 public:
  FakeSource() {
    recording_.events = {{.name = "kmem:kmalloc",
                          .kind = EventKind::Tracepoint,
                          .format = saved_text("6.1", "kmem:kmalloc")},
                         {.name = "minor-faults", .kind = EventKind::Software, .config = 5}};
  }

  Result<std::optional<Record>> next() override {
    if (position_ == records_.size()) {
      return std::optional<Record>();
    }
    return std::optional<Record>(records_[position_++]);
  }

  const Recording& recording() const override { return recording_; }

  Recording& edit() { return recording_; }

  const std::deque<Record>& records() const { return records_; }

  void add(std::uint64_t time_ns, RecordPayload payload) {
    records_.push_back({.stamp = {.time_ns = time_ns}, .payload = std::move(payload)});
  }

  // A kmalloc with a stack; user addresses behind the marker.
  struct Kmalloc {
    std::uint32_t pid = 100;
    std::uint64_t bytes = 64;
    std::vector<std::uint64_t> chain = {};
    std::uint64_t period = 1;
    std::uint64_t ptr = 0xffff888000001000U;
  };

  void add_kmalloc(std::uint64_t time_ns, const Kmalloc& kmalloc) {
    Sample sample{.event = kKmalloc, .pid = kmalloc.pid, .tid = kmalloc.pid};
    sample.period = kmalloc.period;
    sample.callchain = chains_.emplace_back(kmalloc.chain);
    sample.raw = raws_.emplace_back(raw_of(kmalloc));
    add(time_ns, sample);
  }

  // The first one adds the event to the recording.
  void add_kfree(std::uint64_t time_ns, std::uint64_t ptr) {
    if (recording_.events.size() == kKfree) {
      recording_.events.push_back({.name = "kmem:kfree",
                                   .kind = EventKind::Tracepoint,
                                   .format = saved_text("6.1", "kmem:kfree")});
    }
    auto& raw = raws_.emplace_back(24);  // common fields, call_site, ptr
    std::memcpy(raw.data() + 16, &ptr, sizeof(ptr));
    Sample sample{.event = kKfree, .pid = 100, .tid = 100};
    sample.raw = raw;
    add(time_ns, sample);
  }

 private:
  // Linux 6.1: common fields, call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node.
  static std::vector<std::byte> raw_of(const Kmalloc& kmalloc) {
    std::vector<std::byte> raw(56);
    const auto put = [&raw](std::size_t offset, std::uint64_t value) {
      std::memcpy(raw.data() + offset, &value, sizeof(value));
    };
    put(16, kmalloc.ptr);
    put(24, kmalloc.bytes);
    put(32, kmalloc.bytes);
    return raw;
  }

  Recording recording_;
  std::deque<Record> records_;  // deques: what records point to stays where it is
  std::deque<std::vector<std::uint64_t>> chains_;
  std::deque<std::vector<std::byte>> raws_;
  std::size_t position_ = 0;
};

}  // namespace memtrace::test
