// Makes the stacks of samples in the thread that reads a recording ahead. It has a world of its
// own, which knows nothing but processes and their mappings, as of the records that the thread has
// read.
#pragma once

#include <functional>
#include <memory>

#include "decode/asked_stacks.h"
#include "decode/event_decoder.h"
#include "perf/record/record.h"
#include "perf/record/recording.h"
#include "state/world/world.h"

namespace memtrace {

class AheadStacks {
 public:
  // `world` and `decoder` are those of the thread that uses the records; they share their tables of
  // code. `recording` outlives it.
  AheadStacks(const World& world,
              const EventDecoder& decoder,
              const Recording& recording,
              MachineFacts machine);

  // A sample of an event whose stacks were asked for gets its stack.
  void on(Record& record);

 private:
  World world_;
  EventDecoder decoder_;
  std::shared_ptr<const AskedStacks> asked_;
};

}  // namespace memtrace
