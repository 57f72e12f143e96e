#include "decode/ahead_stacks.h"

#include <utility>

namespace memtrace {

AheadStacks::AheadStacks(const World& world,
                         const EventDecoder& decoder,
                         const Recording& recording,
                         MachineFacts machine)
    : world_({.part = world.stack_part()}, world.code()),
      decoder_(world_, recording, std::move(machine)),
      asked_(decoder.asked_stacks()) {}

// A sample with registers has a callchain only after its user stack was unwound.
void AheadStacks::on(Record& record) {
  auto* sample = std::get_if<Sample>(&record.payload);
  if (sample == nullptr) {
    decoder_.apply(record);
  } else if (sample->registers.mask == 0 && asked_->has(sample->event)) {
    sample->stack = decoder_.stack_of(*sample);
  }
}

}  // namespace memtrace
