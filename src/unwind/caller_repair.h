// Puts back the caller that a frame-pointer chain loses. While a function has not pushed its frame
// yet, or never does, the frame-pointer register still belongs to its caller, so the chain goes
// from the function straight to its caller's caller:
//
//   write()            <- ip; its return address is on top of the stack: into store()
//   store()            missing from the chain
//   main()             <- found through the frame pointer, which is store()'s
//
// That is so at every function's first instruction and in the system call stubs of libc, thus in
// every stack that goes through a system call.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "perf/record/record.h"
#include "state/world/world.h"
#include "unwind/address_rules.h"

namespace memtrace {

class CallerRepair {
 public:
  explicit CallerRepair(const World& world) : world_(world), rules_(world) {}

  // The sample's callchain with the caller in its place; its own when nothing is missing. Valid
  // until the next call.
  std::span<const std::uint64_t> repair(const Sample& sample);

  std::uint64_t repaired() const { return repaired_; }

 private:
  std::optional<std::uint64_t> return_address(const Sample& sample, const Process& process);

  const World& world_;
  AddressRules rules_;
  std::vector<std::uint64_t> chain_;
  std::uint64_t repaired_ = 0;
};

}  // namespace memtrace
