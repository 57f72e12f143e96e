// Call frame information of a file: a rule for each place, in short and in full.
#include "fuzz/fuzz_target.h"
#include "fuzz/memory_file.h"
#include "symbolize/cfi/frame_rule.h"

namespace memtrace::fuzz {

void fuzz_cfi(Input input) {
  const MemoryFile file(input);
  const auto rules = FrameRules::open(file.path());
  if (rules == nullptr) {
    return;
  }
  RegisterFile registers;
  for (std::size_t number = 0; number < kX86Registers.count; ++number) {
    registers.set(number, 0x1000 + 8 * number);
  }
  const CfiContext context{.registers = registers, .stack = {0x1000, input}, .cfa = 0x1010};
  constexpr std::uint64_t kStep = 7;
  constexpr std::uint64_t kMaxPlaces = 512;
  for (std::uint64_t place = 0; place < kMaxPlaces && place * kStep < input.size(); ++place) {
    static_cast<void>(rules->at(place * kStep));
    const FullFrameRule* rule = rules->full_at(place * kStep);
    if (rule != nullptr) {
      static_cast<void>(evaluate(rule->cfa, context));
      for (const auto& [number, expression] : rule->saved) {
        static_cast<void>(evaluate_register(expression, context));
      }
    }
  }
}

}  // namespace memtrace::fuzz
