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

// Rules are learnt once, as they are while a machine is recorded.
struct OwnProcess {
  World world{{}};
  Recording recording;
  EventDecoder decoder{world, recording};
  UserStacks stacks{world};
  std::uint64_t code_start = 0;
  std::uint64_t code_bytes = 1;

  OwnProcess() {
    apply_own_mappings(decoder, kPid);
    const auto maps = read_file("/proc/self/maps");
    const std::string text = maps.ok() ? maps.value() : "";
    for (const std::string_view line : split(text, '\n')) {
      const auto mapping = parse_maps_line(line);
      if (mapping && mapping->executable() && code_start == 0) {
        code_start = mapping->start;
        code_bytes = mapping->limit - mapping->start;
      }
    }
  }
};

}  // namespace

// Words whose upper half is 1 to 3 are made addresses of code, of the stack or of neither: no input
// can know where this run has them.
void fuzz_unwind(Input input) {
  static OwnProcess process;
  constexpr std::uint64_t kStack = 0x7ffd00000000;
  std::vector<std::uint64_t> words(input.size() / sizeof(std::uint64_t));
  if (words.empty()) {
    return;
  }
  std::memcpy(words.data(), input.data(), words.size() * sizeof(std::uint64_t));
  for (std::uint64_t& word : words) {
    const std::uint64_t kind = word >> 32U;
    const std::uint64_t offset = word & 0xffffffffU;
    word = kind == 1   ? process.code_start + offset % process.code_bytes
           : kind == 2 ? kStack + offset % (input.size() + 1)
                       : word;
  }
  std::array<std::uint64_t, 17> registers{};
  const std::size_t count = std::min(words.size(), registers.size());
  std::copy_n(words.begin(), count, registers.begin());
  const auto stack = std::as_bytes(std::span(words).subspan(count));
  const std::array<std::uint64_t, 3> chain = {kContextKernel, 0xffffffff81000010U, kContextUser};
  Sample sample{.pid = kPid,
                .tid = kPid,
                .ip = registers[kIp],
                .registers = {.abi = 2, .mask = kMask, .values = registers},
                .user_stack = stack};
  static_cast<void>(process.stacks.complete(sample));
  sample.registers.values = registers;
  registers[kSp] = kStack;
  static_cast<void>(process.stacks.complete(sample));
  const std::array<std::uint64_t, 4> user_chain = {
      kContextUser, registers[kIp], registers[kBp], registers[0]};
  sample.callchain = user_chain;
  static_cast<void>(process.stacks.complete(sample));
  sample.callchain = chain;
  static_cast<void>(process.stacks.complete(sample));
}

}  // namespace memtrace::fuzz
