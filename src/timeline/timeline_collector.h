// Gathers a Timeline while a session runs: beside the views, from the same events.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/namer.h"
#include "report/timeline.h"
#include "state/world/world.h"
#include "timeline/resident_sums.h"
#include "timeline/time_slots.h"
#include "timeline/timed_costs.h"
#include "tracepoints/event/event.h"
#include "views/fault/fault_pairing.h"

namespace memtrace {

class TimelineCollector {
 public:
  TimelineCollector();
  // What it pairs calls it back where it is.
  TimelineCollector(const TimelineCollector&) = delete;
  TimelineCollector& operator=(const TimelineCollector&) = delete;
  TimelineCollector(TimelineCollector&&) = delete;
  TimelineCollector& operator=(TimelineCollector&&) = delete;
  ~TimelineCollector() = default;

  // Before the first event: which events there may be.
  void check(const std::deque<EventType>& types) { faults_.check(types); }

  void on(const Event& event, const World& world);

  // The number of the slot of a time. Slots of before are joined two by two where there would be
  // too many.
  std::uint32_t slot_of(std::uint64_t time_ns);

  std::uint64_t slot_start_ns(std::uint32_t slot) const {
    return slots_.start_ns() + slot * slots_.width_ns();
  }

  // As slots are now: none becomes wider.
  std::uint64_t slot_start_of(std::uint64_t time_ns) const {
    return slot_start_ns(slots_.slot_of(time_ns));
  }

  // Nothing happens later: the first slots need not be short ones.
  void expect_until(std::uint64_t start_ns, std::uint64_t end_ns);

  void add_loss(const Timeline::Loss& loss);

  // What is known better at the end of a recording than while it was read.
  void set_losses(const std::vector<Timeline::Loss>& losses) {
    losses_.clear();
    for (const Timeline::Loss& loss : losses) {
      add_loss(loss);
    }
  }

  // At the end, once. Null when nothing has happened.
  std::shared_ptr<Timeline> take(const World& world, Namer& namer);

 private:
  enum class Subject : std::uint8_t {
    Heap,
    Slab,
    Kmalloc,  // a part of Slab
    Pages,
    Faults,
    Cache,
    Reclaim,
    Compaction
  };
  static constexpr std::size_t kSubjects = 8;

  enum class Lane : std::uint8_t {
    Resident,
    Swapped,
    Faults,
    MajorFaults,
    SwapIns,
    SwapOuts,
    Reclaimed,
    ReclaimTime
  };
  static constexpr std::size_t kLanes = 8;

  using Values = std::vector<std::optional<std::uint64_t>>;

  void add(Subject subject, const Event& event, const Timeline::Amounts& amounts);
  void add_freed(const LiveBlock& block, std::uint64_t time_ns);
  void add_slab(const Event& event, const SlabAlloc& slab);
  void on_heap_mapping(const World::MappedChange& change, std::uint64_t time_ns);
  void on_payload(const Event& event, const World& world);
  void on_fault(const Fault& fault);
  void on_work(const Event& event, const Work& work);
  void on_resident(const Event& event, const RssStat& stat, const World& world);
  void drop_ended(std::uint64_t time_ns, const World& world);
  void on_victim(const Event& event, const OomVictim& victim, const World& world);
  void add_to_lane(Lane lane, std::uint64_t time_ns, std::uint64_t amount);
  void set_lane(Lane lane, std::uint64_t time_ns, std::uint64_t value);
  std::vector<Timeline::Lane> lanes() const;
  std::vector<Timeline::Subject> subjects(const World& world) const;

  TimeSlots slots_;
  bool has_begun_ = false;
  FaultPairing faults_;
  std::array<TimedCosts, kSubjects> costs_;
  std::array<Values, kLanes> lanes_;
  ResidentSums resident_;
  std::optional<std::uint32_t> resident_slot_;  // up to which it is known who has ended
  std::vector<Timeline::Mark> marks_;
  std::vector<Timeline::Loss> losses_;
  std::uint64_t last_ns_ = 0;
};

}  // namespace memtrace
