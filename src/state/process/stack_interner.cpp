#include "state/process/stack_interner.h"

#include <algorithm>

#include "base/hash.h"
#include "base/kernel_address.h"

namespace memtrace {
namespace {

// Callchain markers: include/uapi/linux/perf_event.h, enum perf_callchain_context.
constexpr std::uint64_t kFirstMarker = 0xfffffffffffff001U;  // PERF_CONTEXT_MAX, -4095
constexpr std::uint64_t kKernelMarker = 0xffffffffffffff80U;
constexpr std::uint64_t kUserMarker = 0xfffffffffffffe00U;

enum class Context { ByAddress, Kernel, User, Other };

Context context_of(std::uint64_t marker) {
  if (marker == kKernelMarker) {
    return Context::Kernel;
  }
  return marker == kUserMarker ? Context::User : Context::Other;
}

bool is_user_frame(Context context, std::uint64_t address) {
  return context == Context::User ||
         (context == Context::ByAddress && address < kFirstKernelAddress);
}

}  // namespace

template <typename Use>
void StackInterner::for_each_frame(std::span<const std::uint64_t> callchain, Use use) const {
  Context context = Context::ByAddress;
  bool innermost = true;  // of its context: the interrupted instruction, not a return address
  for (const std::uint64_t address : callchain) {
    if (address >= kFirstMarker) {
      context = context_of(address);
      innermost = true;
      continue;
    }
    const bool user = is_user_frame(context, address);
    if (context != Context::Other && wanted(user) && !use(Frame{address, user, !innermost})) {
      return;
    }
    innermost = false;
  }
}

CodeLocation StackInterner::locate(const Process& process, const Frame& frame) const {
  return frame.user ? process.space.locate(frame.avma, frame.is_return_address)
                    : CodeLocation{modules_.kernel(), frame.is_return_address, frame.avma};
}

StackId StackInterner::intern(std::uint32_t pid, std::span<const std::uint64_t> callchain) {
  if (callchain.empty() || options_.use == StackUse::None) {
    return {};
  }
  const Process& process = processes_.process(pid);
  if (seen_) {
    note_places(process, callchain);
    return {};
  }
  const std::uint64_t key =
      hash_many_words(callchain, combine(process.serial, process.space.generation()));
  if (const StackId known = known_chains_.find(key); known.valid()) {
    return known;
  }
  const StackId stack = translate(process, callchain);
  // What was in no mapping may be in one the next time.
  if (places_.empty() || stacks_.location(places_.back()).module.valid()) {
    known_chains_.put(key, stack);
  }
  return stack;
}

void StackInterner::add_frames(std::span<const std::uint64_t> callchain) {
  for_each_frame(callchain, [this](const Frame& frame) {
    frames_.push_back(frame);
    return true;
  });
}

// The kernel's part is the same in all processes, and its frames are looked up together: new stacks
// differ in the user's part mostly.
StackId StackInterner::translate(const Process& process, std::span<const std::uint64_t> callchain) {
  const std::uint64_t space = combine(process.serial, process.space.generation());
  const auto inner = callchain.first(
      static_cast<std::size_t>(std::ranges::find(callchain, kUserMarker) - callchain.begin()));
  frames_.clear();
  add_frames(inner);
  const bool is_kernel = std::ranges::none_of(frames_, &Frame::user);
  const std::size_t kernel_count = is_kernel ? frames_.size() : 0;
  add_frames(callchain.subspan(inner.size()));
  const auto frames = std::span<const Frame>(frames_);
  const std::uint64_t kernel_key = hash_many_words(inner);
  if (kernel_count > 0 && !known_kernels_.find(kernel_key).valid()) {
    place_frames(process, space, frames.first(kernel_count));  // places are numbered from inside
    known_kernels_.put(kernel_key, StackId{1});
  }
  if (!place_callers(process, space, frames.subspan(kernel_count))) {
    place_frames(process, space, frames);
    return called_from(StackId(), places_);
  }
  const StackId caller = recent_.of(space).stack();
  if (kernel_count == 0) {
    return caller;
  }
  const std::uint64_t key = combine(kernel_key, caller.value + 1);
  if (const StackId known = known_kernels_.find(key); known.valid()) {
    return known;
  }
  place_frames(process, space, frames.first(kernel_count));
  const StackId stack = called_from(caller, places_);
  known_kernels_.put(key, stack);
  return stack;
}

// Makes them the process's recent chain. False, as of place_frames().
bool StackInterner::place_callers(const Process& process,
                                  std::uint64_t space,
                                  std::span<const Frame> frames) {
  RecentChain& recent = recent_.of(space);
  std::size_t inner = frames.size() - recent.keep_common(space, frames);
  if (!place_frames(process, space, frames.first(inner))) {
    return false;
  }
  while (inner-- > 0) {
    recent.add(frames[inner], called_from(recent.stack(), places_[inner]));
  }
  return true;
}

// The places of frames, innermost first. False: the stack ends with the last of them. An address
// outside of every mapping is no code: the frame-pointer chain ran into a register that held
// something else. What follows is noise, unlike for each call.
bool StackInterner::place_frames(const Process& process,
                                 std::uint64_t space,
                                 std::span<const Frame> frames) {
  places_.clear();
  return std::ranges::all_of(frames, [&](const Frame& frame) {
    const LocationId location = place(process, space, frame);
    places_.push_back(location.valid() ? location : stacks_.intern(CodeLocation{}));
    return location.valid();
  });
}

StackId StackInterner::called_from(StackId caller, std::span<const LocationId> innermost_first) {
  for (std::size_t i = innermost_first.size(); i > 0; --i) {
    caller = called_from(caller, innermost_first[i - 1]);
  }
  return caller;
}

// None where there is no code.
LocationId StackInterner::place(const Process& process, std::uint64_t space, const Frame& frame) {
  const std::uint64_t kind = frame.is_return_address ? 1 : 2;
  const std::uint64_t key = combine(combine(frame.user ? space : 0, frame.avma), kind);
  if (const LocationId known = known_places_.find(key); known.valid()) {
    return known;
  }
  const CodeLocation location = locate(process, frame);
  if (!location.module.valid()) {
    return {};
  }
  const LocationId id = stacks_.intern(location);
  known_places_.put(key, id);
  return id;
}

// As StackTable::called_from, which misses the cache several times when it has millions of nodes.
StackId StackInterner::called_from(StackId caller, LocationId location) {
  if (const StackId next = stacks_.next_to(caller, location); next.valid()) {
    return next;
  }
  const std::uint64_t key = mix((std::uint64_t{caller.value} << 32U) | location.value);
  if (const StackId known = known_calls_.find(key); known.valid()) {
    return known;
  }
  const StackId stack = stacks_.called_from(caller, location);
  known_calls_.put(key, stack);
  return stack;
}

void StackInterner::note_places(const Process& process, std::span<const std::uint64_t> callchain) {
  const std::uint64_t space = combine(process.serial, process.space.generation());
  for_each_frame(callchain, [&](const Frame& frame) {
    const std::uint64_t kind = frame.is_return_address ? 1 : 2;
    const std::uint64_t key = combine(combine(frame.user ? space : 0, frame.avma), kind) | 1U;
    if (seen_->has(key)) {
      return true;
    }
    const CodeLocation location = locate(process, frame);
    if (location.module.valid()) {
      stacks_.intern(location);
      seen_->add(key);
    }
    return location.module.valid();
  });
}

bool StackInterner::wanted(bool user) const {
  return options_.part == StackPart::Whole || (options_.part == StackPart::User) == user;
}

LocationId StackInterner::kernel_address(std::uint64_t avma) {
  if (avma == 0) {
    return {};
  }
  const auto known = kernel_locations_.find(avma);
  if (known != kernel_locations_.end()) {
    return known->second;
  }
  const LocationId location = stacks_.intern(CodeLocation{modules_.kernel(), true, avma});
  kernel_locations_.emplace(avma, location);
  return location;
}

LocationId StackInterner::instruction(std::uint32_t pid, std::uint64_t avma) {
  const bool is_user = is_user_frame(Context::ByAddress, avma);
  const CodeLocation location = is_user ? processes_.process(pid).space.locate(avma, false)
                                        : CodeLocation{modules_.kernel(), false, avma};
  return avma != 0 && location.module.valid() ? stacks_.intern(location) : LocationId();
}

// A function's entry is no return address: the byte before it is another function's.
LocationId StackInterner::kernel_function(std::uint64_t avma) {
  if (avma == 0) {
    return {};
  }
  const auto [known, is_new] = kernel_functions_.try_emplace(avma);
  if (is_new) {
    known.value() = stacks_.intern(CodeLocation{modules_.kernel(), false, avma});
  }
  return known->second;
}

}  // namespace memtrace
