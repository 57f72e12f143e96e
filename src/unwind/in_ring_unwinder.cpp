#include "unwind/in_ring_unwinder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/kernel_address.h"
#include "perf/event/event_attr.h"
#include "unwind/sampled_registers.h"

namespace memtrace {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

std::size_t offset_in(std::span<const std::byte> record, const void* part) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(part) - record.data());
}

// Puts bytes one behind the other.
class Appender {
 public:
  explicit Appender(std::span<std::byte> target) : target_(target) {}

  void add(std::span<const std::byte> bytes) {
    std::memcpy(target_.data() + used_bytes_, bytes.data(), bytes.size());
    used_bytes_ += bytes.size();
  }

  void add_words(std::span<const std::uint64_t> words) { add(std::as_bytes(words)); }

  std::size_t used_bytes() const { return used_bytes_; }

 private:
  std::span<std::byte> target_;
  std::size_t used_bytes_ = 0;
};

// With a copied stack to be unwound and no user frames that the kernel found.
bool may_be_shrunk(const Sample& sample) {
  const auto is_user = [](std::uint64_t entry) {
    return entry == kContextUser || entry < kFirstKernelAddress;
  };
  return sample.registers.abi != 0 && !sample.user_stack.empty() &&
         std::none_of(sample.callchain.begin(), sample.callchain.end(), is_user);
}

struct Shrunk {
  const Sample& sample;
  std::span<const std::uint64_t> frames;
  ShrunkStack stack;
};

ShrunkStack rest_of(const Sample& sample, std::uint64_t space) {
  ShrunkStack stack{.space = space};
  stack.stack_pointer = sampled_registers(sample.registers)[kHostRegisters.stack_pointer];
  std::memcpy(&stack.top, sample.user_stack.data(), kWordBytes);  // more than that: it is shorter
  return stack;
}

// The registers begin where the raw bytes, or without them the callchain, end
// (perf/event/event_attr.h).
std::size_t put_shrunk(std::span<const std::byte> record,
                       const Shrunk& shrunk,
                       std::span<std::byte> target) {
  const auto& chain = shrunk.sample.callchain;
  const std::size_t chain_start = offset_in(record, chain.data());
  const std::size_t chain_end = chain_start + chain.size_bytes();
  const auto& raw = shrunk.sample.raw;
  const std::size_t raw_end = raw.empty() ? chain_end : offset_in(record, raw.data() + raw.size());
  const std::array<std::uint64_t, 1> count = {chain.size() + 1 + shrunk.frames.size()};
  const std::array<std::uint64_t, 1> marker = {kContextUser};
  const std::array<std::uint64_t, 6> end = {PERF_SAMPLE_REGS_ABI_NONE,
                                            sizeof(ShrunkStack),
                                            shrunk.stack.space,
                                            shrunk.stack.stack_pointer,
                                            shrunk.stack.top,
                                            sizeof(ShrunkStack)};
  Appender out(target);
  out.add(record.first(chain_start - kWordBytes));
  out.add_words(count);
  out.add_words(chain);
  out.add_words(marker);
  out.add_words(shrunk.frames);
  out.add(record.subspan(chain_end, raw_end - chain_end));
  out.add_words(end);
  perf_event_header header{};
  std::memcpy(&header, record.data(), sizeof(header));
  header.size = static_cast<std::uint16_t>(out.used_bytes());
  std::memcpy(target.data(), &header, sizeof(header));
  return out.used_bytes();
}

}  // namespace

std::size_t InRingUnwinder::shrink(const RecordParser& parser,
                                   std::span<const std::byte> record,
                                   std::span<std::byte> target) {
  perf_event_header header{};
  std::memcpy(&header, record.data(), sizeof(header));
  if (header.type != PERF_RECORD_SAMPLE) {
    return 0;
  }
  const auto parsed = parser.parse(record);
  const auto* sample = parsed.ok() ? std::get_if<Sample>(&parsed.value().payload) : nullptr;
  if (sample == nullptr || !may_be_shrunk(*sample)) {
    return 0;
  }
  const auto space = shared_->spaces.find(sample->pid);
  if (!space) {
    return 0;
  }
  const auto frames = walk_.walk(*space, *sample);
  // A copy of eight bytes for each frame is what it must be shorter than.
  const bool is_shorter = (frames.size() + 3) * kWordBytes <= sample->user_stack.size();
  return frames.empty() || !is_shorter
             ? 0
             : put_shrunk(record, {*sample, frames, rest_of(*sample, *space)}, target);
}

std::optional<ShrunkStack> shrunk_stack(const Sample& sample) {
  ShrunkStack stack;
  if (sample.registers.abi != PERF_SAMPLE_REGS_ABI_NONE ||
      sample.user_stack.size() != sizeof(stack)) {
    return std::nullopt;
  }
  std::memcpy(&stack, sample.user_stack.data(), sizeof(stack));
  return stack;
}

std::optional<std::uint64_t> shrunk_in_space(const Sample& sample) {
  const auto stack = shrunk_stack(sample);
  return stack ? std::optional(stack->space) : std::nullopt;
}

SampleRewrite make_in_ring_unwinder(const std::shared_ptr<const SharedRules>& shared) {
  return [shrinker = std::make_shared<InRingUnwinder>(shared)](const RecordParser& parser,
                                                               std::span<const std::byte> record,
                                                               std::span<std::byte> target) {
    return shrinker->shrink(parser, record, target);
  };
}

}  // namespace memtrace
