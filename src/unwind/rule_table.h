// The unwinding rules of all addresses seen so far: an unwound frame costs one look-up here, and a
// look-up nearly always one cache line.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

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

// Open addressing, at most half full. A key is an address and the address space that it was true
// in; nothing is removed but all at once.
class RuleTable {
 public:
  RuleTable() : entries_(kFirstEntries) {}

  // Null when it is not there. Valid until the next insert.
  const CodePlace* find(std::uint64_t space, std::uint64_t avma) const {
    for (std::size_t at = slot(space, avma);; at = next(at)) {
      const Entry& entry = entries_[at];
      if (entry.avma == avma && entry.space == space) {
        return &entry.place;
      }
      if (entry.space == kFree) {
        return nullptr;
      }
    }
  }

  const CodePlace* insert(std::uint64_t space, std::uint64_t avma, const CodePlace& place) {
    if (++used_ > entries_.size() / 2) {
      make_room();
    }
    return put({space, avma, place});
  }

  std::size_t size() const { return used_; }

 private:
  // Two share a cache line.
  struct alignas(32) Entry {
    std::uint64_t space = kFree;
    std::uint64_t avma = 0;
    CodePlace place;
  };

  static constexpr std::uint64_t kFree = 0;  // no process has it: serials begin at 1
  static constexpr std::size_t kFirstEntries = 1U << 14U;
  static constexpr std::size_t kMaxEntries = 1U << 21U;  // 64 MiB; then it starts again

  static int shift_for(std::size_t entries) { return std::countl_zero(entries) + 1; }

  std::size_t slot(std::uint64_t space, std::uint64_t avma) const {
    // The upper bits of a product depend on all bits of its factors.
    return static_cast<std::size_t>((avma + (space << 13U)) * 0x9E3779B97F4A7C15U >> shift_);
  }

  std::size_t next(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }

  const CodePlace* put(const Entry& entry) {
    std::size_t at = slot(entry.space, entry.avma);
    while (entries_[at].space != kFree) {
      at = next(at);
    }
    entries_[at] = entry;
    return &entries_[at].place;
  }

  void make_room() {
    const bool full = entries_.size() >= kMaxEntries;
    std::vector<Entry> old(full ? entries_.size() : entries_.size() * 2);
    old.swap(entries_);
    shift_ = shift_for(entries_.size());
    if (full) {
      used_ = 1;
      return;
    }
    for (const Entry& entry : old) {
      if (entry.space != kFree) {
        put(entry);
      }
    }
  }

  std::vector<Entry> entries_;
  int shift_ = shift_for(kFirstEntries);
  std::size_t used_ = 0;
};

}  // namespace memtrace
