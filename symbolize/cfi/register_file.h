// The registers of one frame by the numbers that DWARF gives them, and the memory that an unwinder
// may read: the bytes that the kernel copied from the top of the user stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "os/host_machine.h"

namespace memtrace {

// Registers with a part in unwinding; their numbers mean nothing across architectures. The program
// counter of arm64 has no DWARF number: ours stands behind the stack pointer's.
struct RegisterNumbers {
  std::uint8_t stack_pointer = 0;
  std::uint8_t frame_pointer = 0;
  std::uint8_t program_counter = 0;
  std::uint8_t count = 0;
};

// System V ABI for x86-64, figure 3.36; DWARF for the Arm 64-bit Architecture, section 4.1.
inline constexpr RegisterNumbers kX86Registers{7, 6, 16, 17};
inline constexpr RegisterNumbers kArm64Registers{31, 29, 32, 33};

#if defined(__aarch64__)
inline constexpr RegisterNumbers kHostRegisters = kArm64Registers;
#elif defined(__x86_64__)
inline constexpr RegisterNumbers kHostRegisters = kX86Registers;
#endif

class RegisterFile {
 public:
  static constexpr std::size_t kMost = 33;

  bool has(std::size_t number) const { return number < kMost && (known_ >> number & 1U) != 0; }

  std::uint64_t operator[](std::size_t number) const { return values_[number]; }

  void set(std::size_t number, std::uint64_t value) {
    values_[number] = value;
    known_ |= std::uint64_t{1} << number;
  }

  void forget(std::size_t number) { known_ &= ~(std::uint64_t{1} << number); }

  void forget_all() { known_ = 0; }

 private:
  std::array<std::uint64_t, kMost> values_{};
  std::uint64_t known_ = 0;
};

class StackBytes {
 public:
  StackBytes() = default;

  StackBytes(std::uint64_t start_avma, std::span<const std::byte> bytes)
      : start_(start_avma),
        bytes_(bytes.data()),
        last_word_(bytes.size() < kWord ? 0 : bytes.size() - kWord),
        any_(bytes.size() >= kWord) {}

  bool covers(std::uint64_t avma) const { return avma - start_ <= last_word_ && any_; }

  // The word at an address that is covered.
  std::uint64_t operator[](std::uint64_t avma) const {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_ + (avma - start_), kWord);
    return value;
  }

  std::optional<std::uint64_t> word(std::uint64_t avma) const {
    return covers(avma) ? std::optional((*this)[avma]) : std::nullopt;
  }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);

  std::uint64_t start_ = 0;
  const std::byte* bytes_ = nullptr;
  std::uint64_t last_word_ = 0;  // how far the last whole word is from the start
  bool any_ = false;
};

}  // namespace memtrace
