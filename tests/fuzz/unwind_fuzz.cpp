// Registers and stack bytes of a sample, unwound by the real rules of this program's own files.
#include <algorithm>
#include <array>
#include <vector>

#include "decode/event_decoder.h"
#include "fuzz/fuzz_target.h"
#include "support/own_mappings.h"
#include "unwind/user_stacks.h"

namespace memtrace::fuzz {
namespace {

constexpr std::uint32_t kPid = 77;
constexpr std::uint64_t kMask = 0xff01ff;  // ax bx cx dx si di bp sp ip, r8 to r15
constexpr std::size_t kIp = 8;
constexpr std::size_t kSp = 7;
constexpr std::size_t kBp = 6;
constexpr std::uint64_t kStack = 0x7ffd00000000;

using Registers = std::array<std::uint64_t, 17>;

// The program itself as a process that is recorded.
class OwnProcess {
 public:
  // Rules are learnt once, and so are the entries of functions, for addresses between two of them.
  // Reading them takes seconds in code that is not optimized: before the first input, for which
  // time is measured.
  OwnProcess() {
    apply_own_mappings(decoder_, kPid);
    find_code();
    constexpr std::uint64_t kPlaces = 256;
    for (std::uint64_t place = 0; place < kPlaces; ++place) {
      Registers registers;
      registers.fill(code_at(code_bytes_ / kPlaces * place));
      unwind(registers, {});
    }
  }

  std::uint64_t code_at(std::uint64_t offset) const { return code_start_ + offset % code_bytes_; }

  // Without a call chain, with that of frame pointers, and with the kernel's alone.
  void unwind(const Registers& registers, std::span<const std::byte> stack) {
    constexpr std::array<std::uint64_t, 3> kKernelChain = {
        kContextKernel, 0xffffffff81000010U, kContextUser};
    const std::array<std::uint64_t, 4> user_chain = {
        kContextUser, registers[kIp], registers[kBp], registers[0]};
    Registers on_stack = registers;
    on_stack[kSp] = kStack;
    Sample sample{.pid = kPid,
                  .tid = kPid,
                  .ip = registers[kIp],
                  .registers = {.abi = 2, .mask = kMask, .values = registers},
                  .user_stack = stack};
    static_cast<void>(stacks_.complete(sample));
    sample.registers.values = on_stack;
    static_cast<void>(stacks_.complete(sample));
    sample.callchain = user_chain;
    static_cast<void>(stacks_.complete(sample));
    sample.callchain = kKernelChain;
    static_cast<void>(stacks_.complete(sample));
  }

 private:
  void find_code() {
    const auto maps = read_file("/proc/self/maps");
    const std::string text = maps.ok() ? maps.value() : "";
    for (const std::string_view line : split(text, '\n')) {
      const auto mapping = parse_maps_line(line);
      if (mapping && mapping->executable() && code_start_ == 0) {
        code_start_ = mapping->start;
        code_bytes_ = mapping->limit - mapping->start;
      }
    }
  }

  World world_{{}};
  Recording recording_;
  EventDecoder decoder_{world_, recording_};
  UserStacks stacks_{world_};
  std::uint64_t code_start_ = 0;
  std::uint64_t code_bytes_ = 1;
};

}  // namespace

// Words whose upper half is 1 to 3 are made addresses of code, of the stack or of neither: no input
// can know where this run has them.
void fuzz_unwind(Input input) {
  static OwnProcess process;
  std::vector<std::uint64_t> words(input.size() / sizeof(std::uint64_t));
  if (words.empty()) {
    return;
  }
  std::memcpy(words.data(), input.data(), words.size() * sizeof(std::uint64_t));
  for (std::uint64_t& word : words) {
    const std::uint64_t kind = word >> 32U;
    const std::uint64_t offset = word & 0xffffffffU;
    word = kind == 1   ? process.code_at(offset)
           : kind == 2 ? kStack + offset % (input.size() + 1)
                       : word;
  }
  Registers registers{};
  const std::size_t count = std::min(words.size(), registers.size());
  std::copy_n(words.begin(), count, registers.begin());
  process.unwind(registers, std::as_bytes(std::span(words).subspan(count)));
}

}  // namespace memtrace::fuzz
