// The parser of a live recording, to which events are added while other threads parse.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "perf/record/record_parser.h"

namespace memtrace {

// Each addition makes a new parser; the old ones stay, as a reader may be in the midst of a record.
// There are as many as times that events were added, which is seldom.
//
// A reader that asks for the current parser after it has seen a record in its ring knows the
// record's event: events are published before they are enabled.
class SharedParser {
 public:
  SharedParser() { publish({}); }

  const RecordParser& current() const { return *current_.load(std::memory_order_acquire); }

  // By one thread at a time.
  void publish(RecordParser next) {
    versions_.push_back(std::make_unique<const RecordParser>(std::move(next)));
    current_.store(versions_.back().get(), std::memory_order_release);
  }

 private:
  std::vector<std::unique_ptr<const RecordParser>> versions_;
  std::atomic<const RecordParser*> current_ = nullptr;
};

}  // namespace memtrace
