// When a trigger that is true makes a file: not again and again for one and the same trouble.
#pragma once

#include <cstdint>
#include <optional>

namespace memtrace {

//   true   ______########____####________####____
//   fires        ^       |quiet|         ^          it was false
//   true   ______############################
//   fires        ^             again            ^   it is true all the time
//
// An event, such as a refused call, is true at the moment when it happens.
class TriggerGate {
 public:
  // `quiet_ns`: it was false if it was not seen to be true for that time; longer than the time
  // between two looks. 0: each time is a new one.
  TriggerGate(std::uint64_t quiet_ns, std::uint64_t again_ns)
      : quiet_ns_(quiet_ns), again_ns_(again_ns) {}

  // It is true at this time: whether it fires.
  bool holds(std::uint64_t now_ns) {
    const bool was_false = !true_ns_ || now_ns - *true_ns_ >= quiet_ns_;
    const bool fires = was_false || now_ns - fired_ns_ >= again_ns_;
    true_ns_ = now_ns;
    fired_ns_ = fires ? now_ns : fired_ns_;
    return fires;
  }

 private:
  std::uint64_t quiet_ns_;
  std::uint64_t again_ns_;
  std::optional<std::uint64_t> true_ns_;  // the last time it was
  std::uint64_t fired_ns_ = 0;
};

}  // namespace memtrace
