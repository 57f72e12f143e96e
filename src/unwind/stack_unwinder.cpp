#include "unwind/stack_unwinder.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/kernel_address.h"
#include "base/text.h"
#include "base/units.h"
#include "os/host_machine.h"
#include "perf/live/overload.h"
#include "unwind/in_ring_unwinder.h"
#include "unwind/sampled_registers.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kRegisters64 = 2;  // PERF_SAMPLE_REGS_ABI_64

bool has_all_needed(const RegisterFile& registers) {
  return registers.has(kHostRegisters.program_counter) &&
         registers.has(kHostRegisters.stack_pointer);
}

}  // namespace

void StackUnwinder::set_machine(std::string_view architecture) {
  foreign_machine_ = architecture == kHostMachine ? std::string_view() : architecture;
}

std::span<const std::uint64_t> StackUnwinder::unwind(const Sample& sample) {
  if (const auto space = shrunk_in_space(sample)) {
    return check(sample, *space);
  }
  const bool is_kernel_thread = sample.registers.abi == 0;
  if (sample.registers.mask == 0 || is_kernel_thread) {
    return sample.callchain;
  }
  if (!foreign_machine_.empty()) {
    count(last_end_ = StackEnd::Foreign);
    return sample.callchain;
  }
  const Process* process = world_.processes().find(sample.pid);
  if (process == nullptr) {
    return sample.callchain;
  }
  rules_.enter(*process);
  const auto frames = unwind_user(sample);
  count(last_end_);
  if (last_end_ == StackEnd::NoRegisters) {
    return sample.callchain;
  }
  keep_kernel_part(sample.callchain);
  chain_.push_back(kContextUser);
  chain_.insert(chain_.end(), frames.begin(), frames.end());
  return chain_;
}

// The part of a chain, unwound by the rules of `space`, that is true by the mappings at the
// sample's time. A frame's rule says where its caller is, so the frame that differs is the last to
// be true.
std::span<const std::uint64_t> StackUnwinder::check(const Sample& sample, std::uint64_t space) {
  const auto chain = sample.callchain;
  const Process* process = world_.processes().find(sample.pid);
  auto last = chain.end();
  if (process != nullptr) {
    rules_.enter(*process);
    auto frame = std::find(chain.begin(), chain.end(), kContextUser);
    std::uint64_t before_return = 0;
    while (rules_.space() != space && last == chain.end() && frame != chain.end() &&
           ++frame != chain.end()) {
      last = rules_.is_same_in(space, *frame - before_return) ? last : frame;
      before_return = 1;
    }
  }
  last_end_ = last == chain.end() ? StackEnd::Complete : StackEnd::Replaced;
  count(last_end_);
  return last == chain.end() ? chain : std::span(chain.begin(), last + 1);
}

std::span<const std::uint64_t> StackUnwinder::unwind_user(const Sample& sample) {
  if (const auto frames = fast_walk_.walk(rules_.space(), sample); !frames.empty()) {
    last_end_ = StackEnd::Complete;
    return frames;
  }
  last_end_ = walk_all(sample);
  return walk_.frames();
}

StackEnd StackUnwinder::walk_all(const Sample& sample) {
  const RegisterFile registers = registers_of(sample);
  if (sample.registers.abi != kRegisters64 || !has_all_needed(registers)) {
    return StackEnd::NoRegisters;
  }
  stack_bytes_ = std::max<std::uint64_t>(stack_bytes_, sample.user_stack.size());
  const StackEnd end =
      walk_.walk({.tid = sample.tid,
                  .registers = registers,
                  .stack = {registers[kHostRegisters.stack_pointer], sample.user_stack}});
  const bool was_cut = sample.user_stack.size() == kCutStackBytes && stack_bytes_ > kCutStackBytes;
  if (end == StackEnd::TooShort && sample.user_stack.empty()) {
    return StackEnd::NotCopied;
  }
  return end == StackEnd::TooShort && was_cut ? StackEnd::Shed : end;
}

// Up to the marker of the user part. The address decides for entries without a marker before them.
void StackUnwinder::keep_kernel_part(std::span<const std::uint64_t> chain) {
  const auto is_user = [](std::uint64_t entry) {
    return entry == kContextUser || entry < kFirstKernelAddress;
  };
  chain_.assign(chain.begin(), std::find_if(chain.begin(), chain.end(), is_user));
}

void StackUnwinder::count(StackEnd end) {
  ++counts_.stacks;
  ++counts_.by_end[static_cast<std::size_t>(end)];
  if (end == StackEnd::WithoutRules) {
    ++counts_.without_rules[walk_.end_module()];
  }
}

std::vector<std::string> StackUnwinder::caveats() const {
  std::vector<std::string> sentences;
  const auto tell = [this, &sentences](StackEnd end, const std::string& why) {
    if (counts_.of(end) > 0) {
      sentences.push_back(fmt::format("{} of {} user stacks end early: {}",
                                      print_count(counts_.of(end)),
                                      print_count(counts_.stacks),
                                      why));
    }
  };
  tell(StackEnd::TooShort,
       "they are larger than the " + print_bytes(stack_bytes_) +
           " that were copied of each (--call-graph dwarf,BYTES copies more)");
  tell(StackEnd::Shed, "memtrace had fallen behind and cut them short");
  tell(StackEnd::NotCopied,
       "the kernel copied nothing of them (--call-graph fp lets it follow frame pointers)");
  tell(StackEnd::Foreign,
       "they were copied on a machine of kind " + foreign_machine_ +
           ": only memtrace on such a machine unwinds them");
  tell(StackEnd::WithoutRules, "at code without unwind information" + module_counts());
  tell(StackEnd::Trampoline, "their caller is hidden by a return probe");
  tell(StackEnd::TooDeep, fmt::format("they are deeper than {} frames", StackWalk::kMaxFrames));
  tell(StackEnd::NoRegisters, "32-bit programs are not unwound");
  tell(StackEnd::Unmapped, "a return address is in no mapping");
  tell(StackEnd::Loop, "unwinding made no progress");
  tell(StackEnd::Replaced, "the code of a frame was replaced while they waited to be checked");
  tell(StackEnd::Undecodable, "their unwind information cannot be followed");
  return sentences;
}

// " (in libfoo.so 12, [jit] 3)": the few that matter most.
std::string StackUnwinder::module_counts() const {
  constexpr std::size_t kMaxNamed = 3;
  std::vector<std::pair<std::uint64_t, std::string>> modules;
  for (const auto& [id, stacks] : counts_.without_rules) {
    modules.emplace_back(stacks, id.valid() ? world_.modules().at(id).path : "no mapping");
  }
  std::sort(modules.rbegin(), modules.rend());
  std::vector<std::string> words;
  for (const auto& [stacks, path] : std::span(modules).first(std::min(modules.size(), kMaxNamed))) {
    words.push_back(path.substr(path.rfind('/') + 1) + " " + print_count(stacks));
  }
  return " (in " + join(words, ", ") + ")";
}

}  // namespace memtrace
