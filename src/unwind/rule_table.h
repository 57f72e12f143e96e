// The unwinding rules of the addresses that were seen last: an unwound frame costs one look-up
// here, and a look-up one cache line. One thread learns, and any number look up without a lock.
//
// A rule of an address in a space never changes, so what is found is true. What is not found was
// never learnt, or others took its place since then: the table is a cache of fixed size, and what
// it takes does not depend on how long a recording lasts or how many processes it meets.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <tuple>

#include "os/mapping.h"
#include "symbolize/cfi/frame_rule.h"

namespace memtrace {

// What an address of a process is to the unwinder. Trampoline: the kernel's "[uprobes]" page, which
// a function with a pending return probe returns to.
struct CodePlace {
  enum class Where : std::uint8_t { Code, WithoutRules, Unmapped, Trampoline };

  FrameRule rule;  // of Code
  Where where = Where::Unmapped;
  // The rule counts from the stack or frame pointer and has the return address in memory.
  bool is_plain = false;

  friend bool operator==(const CodePlace& a, const CodePlace& b) {
    const auto fields = [](const CodePlace& place) {
      const FrameRule& frame = place.rule;
      return std::tuple(place.where,
                        frame.kind,
                        frame.cfa_register,
                        frame.cfa_offset_bytes,
                        frame.ra_offset_bytes,
                        frame.fp_offset_bytes);
    };
    return fields(a) == fields(b);
  }
};

class RuleTable {
 public:
  static constexpr std::size_t kEntries = std::size_t{1} << 19U;  // of 32 bytes: 16 MiB

  // Pages that nobody has written to take no memory.
  RuleTable();

  // For any thread. Nothing when it is not there.
  std::optional<CodePlace> find(std::uint64_t space, std::uint64_t avma) const {
    const Entry* const set = set_of(space, avma);
    for (const Entry* entry = set; entry != set + kWays; ++entry) {
      if (entry->avma.load(std::memory_order_acquire) != avma ||
          entry->space.load(std::memory_order_acquire) != space) {
        continue;
      }
      const Words words = {entry->words[0].load(std::memory_order_acquire),
                           entry->words[1].load(std::memory_order_acquire)};
      // Else another has just been put here.
      if (entry->space.load(std::memory_order_relaxed) == space &&
          entry->avma.load(std::memory_order_relaxed) == avma) {
        return std::bit_cast<CodePlace>(words);
      }
    }
    return std::nullopt;
  }

  // For the one thread that learns.
  void insert(std::uint64_t space, std::uint64_t avma, const CodePlace& place) {
    Entry* const set = set_of(space, avma);
    Entry* const victim = set[0].space.load(std::memory_order_relaxed) == kFree   ? set
                          : set[1].space.load(std::memory_order_relaxed) == kFree ? set + 1
                                                                                  : set + turn();
    Words words{};
    std::memcpy(words.data(), &place, sizeof(place));
    victim->space.store(kFree, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    victim->avma.store(avma, std::memory_order_relaxed);
    victim->words[0].store(words[0], std::memory_order_relaxed);
    victim->words[1].store(words[1], std::memory_order_relaxed);
    victim->space.store(space, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t kFree = 0;  // no process has it: serials begin at 1
  static constexpr std::size_t kWays = 2;    // that share a cache line
  static constexpr std::size_t kLineBytes = 64;

  using Words = std::array<std::uint64_t, 2>;
  static_assert(sizeof(CodePlace) == sizeof(Words));

  struct Entry {
    std::atomic<std::uint64_t> space;
    std::atomic<std::uint64_t> avma;
    std::array<std::atomic<std::uint64_t>, 2> words;
  };

  static_assert(kWays * sizeof(Entry) == kLineBytes);

  Entry* set_of(std::uint64_t space, std::uint64_t avma) const {
    // The upper bits of a product depend on all bits of its factors.
    constexpr int kShift = std::countl_zero(kEntries / kWays) + 1;
    const std::uint64_t hash = avma * 0x9E3779B97F4A7C15U + space * 0xD6E8FEB86659FD93U;
    return entries_ + (hash >> kShift) * kWays;
  }

  // At random: strict turns may always hit the same place of a set.
  std::size_t turn() {
    turn_ = turn_ * 6364136223846793005U + 1442695040888963407U;
    return turn_ >> 63U;
  }

  Mapping memory_;
  Entry* entries_ = nullptr;
  std::uint64_t turn_ = 0;
};

}  // namespace memtrace
