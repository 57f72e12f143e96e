// Records to events: keeps the world true to mmap, comm, fork, exec and exit records, and turns
// samples into typed events. Spine 3 to 5.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/asked_stacks.h"
#include "decode/pending_stack.h"
#include "decode/probed_caches.h"
#include "decode/probed_callers.h"
#include "perf/record/record_source.h"
#include "state/world/world.h"
#include "tracepoints/decode/catalogue.h"
#include "tracepoints/event/event.h"

namespace memtrace {

// What this machine says where a recording does not; the decoder itself reads nothing of it. Each
// may be empty.
struct MachineFacts {
  // Bytes of an object by slab cache.
  std::function<std::map<std::string, std::uint64_t>()> slab_caches = {};
  // Gives a tracepoint that has only its id the name and format that the id has here; false when
  // nothing has it.
  std::function<bool(EventInfo& event)> complete_format = {};
  // The root directory of a process that runs here and now, "" for our own; as of a record's time.
  std::function<std::string(std::uint32_t pid, std::uint64_t time_ns)> root_of = {};
};

class EventDecoder {
 public:
  // `recording` is the source's and may still grow.
  EventDecoder(World& world, const Recording& recording, MachineFacts machine = {})
      : world_(world),
        recording_(recording),
        machine_(std::move(machine)),
        pending_stack_(world, *asked_stacks_) {}

  // The event of a sample, after the world was changed by it; nothing for all other records, which
  // change the world too. Valid as long as the record.
  std::optional<Event> apply(const Record& record);

  // Samples that were too short for their event's fields.
  std::uint64_t malformed() const { return malformed_; }

  // Sentences about events whose format could not be understood.
  const std::vector<std::string>& caveats() const { return caveats_; }

  const std::deque<EventType>& types() const { return types_; }

  // The stack of a sample, and nothing else of it.
  StackId stack_of(const Sample& sample);

  // Of which events somebody asked for stacks. Another thread may look.
  std::shared_ptr<const AskedStacks> asked_stacks() const { return asked_stacks_; }

  // Types for all events that the recording knows of by now.
  void learn_events();

 private:
  std::span<const std::uint64_t> callchain_of(const Sample& sample);
  void apply_mmap(const Stamp& stamp, const Mmap& mmap);
  void announce(const Stamp& stamp, const Mmap& mmap);
  void apply_comm(const Comm& comm);
  void guess_exec(const Mmap& mmap);
  void note_process(std::uint32_t pid);
  std::optional<Event> apply_sample(const Stamp& stamp, const Sample& sample);
  void learn_event(const EventInfo& recorded);
  void add_untyped(EventType type);
  // A tracepoint whose format was cut off gets this machine's, with a caveat.
  EventInfo with_format(EventInfo info);

  void name_cache(const Event& event, RawPayload& payload);

  World& world_;
  const Recording& recording_;
  MachineFacts machine_;
  std::shared_ptr<AskedStacks> asked_stacks_ = std::make_shared<AskedStacks>();
  PendingStack pending_stack_;
  ProbedCaches probed_caches_;
  ProbedCallers probed_callers_;
  std::deque<EventType> types_;  // a deque: events point to them
  std::vector<Decoder> decoders_;
  std::vector<bool> is_typed_;  // its samples must have a payload
  std::vector<std::string> caveats_;
  std::map<std::uint32_t, std::string> new_names_;  // by pid, until its next mapping
  std::uint64_t malformed_ = 0;
  std::uint32_t last_pid_ = 0;
};

}  // namespace memtrace
