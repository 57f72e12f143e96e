#include "unwind/sampled_registers.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "os/host_machine.h"

namespace memtrace {
namespace {

constexpr std::uint8_t kNone = 0xff;

#if defined(__aarch64__)

// asm/perf_regs.h of arm64 numbers registers as DWARF does.
std::uint8_t dwarf_number(std::size_t bit) {
  return bit < kArm64Registers.count ? static_cast<std::uint8_t>(bit) : kNone;
}

#elif defined(__x86_64__)

// By bit of PERF_SAMPLE_REGS_USER (asm/perf_regs.h of x86): ax bx cx dx si di bp sp ip flags cs ss
// ds es fs gs r8..r15.
std::uint8_t dwarf_number(std::size_t bit) {
  constexpr std::array<std::uint8_t, 24> kNumbers = {
      0,     3,     2,     1,     4, 5, 6,  7,  16, kNone, kNone, kNone,
      kNone, kNone, kNone, kNone, 8, 9, 10, 11, 12, 13,    14,    15};
  return bit < kNumbers.size() ? kNumbers[bit] : kNone;
}

#endif

}  // namespace

RegisterFile sampled_registers(const UserRegisters& sampled) {
  RegisterFile registers;
  std::uint64_t left = sampled.mask;
  for (const std::uint64_t value : sampled.values) {
    if (left == 0) {
      break;
    }
    const auto number = dwarf_number(static_cast<std::size_t>(std::countr_zero(left)));
    if (number != kNone) {
      registers.set(number, value);
    }
    left &= left - 1;
  }
  return registers;
}

RegisterFile registers_of(const Sample& sample) {
  RegisterFile registers = sampled_registers(sample.registers);
  const bool was_sampled = registers.has(kHostRegisters.program_counter);
  if (!was_sampled && sample.registers.abi != 0 && sample.mode == CpuMode::User) {
    registers.set(kHostRegisters.program_counter, sample.ip);
  }
  return registers;
}

}  // namespace memtrace
