// Machine code of a function that is to be probed.
#include <elf.h>

#include "fuzz/fuzz_target.h"
#include "symbolize/code/probe_place.h"
#include "symbolize/code/tail_code.h"

namespace memtrace::fuzz {

void fuzz_x86(Input input) {
  const auto instructions = decode_x86(input);
  for (const Instruction& instruction : instructions) {
    if (instruction.has_target()) {
      static_cast<void>(instruction_at(instructions, instruction.target));
    }
  }
  for (const std::uint16_t machine : {std::uint16_t{EM_X86_64}, std::uint16_t{EM_AARCH64}}) {
    const FunctionCode code{.bytes = input, .machine = machine};
    for (const bool is_emulated : {false, true}) {
      static_cast<void>(
          find_probe_place(code,
                           {.needed = mask_of(X86Register::Di) | mask_of(X86Register::Si),
                            .allow_early_return = is_emulated,
                            .push_is_emulated = is_emulated}));
    }
    static_cast<void>(find_result_stores(code));
    static_cast<void>(find_return_places(code));
  }
  static_cast<void>(function_extent(input));
}

}  // namespace memtrace::fuzz
