// The memory that the kernel writes records into and memtrace reads them from: perf_event_open(2),
// "MMAP layout".
//
//   page 0: perf_event_mmap_page (data_head written by the kernel, data_tail by us)
//   then 2^n pages of data:   ....tail########head....    # = not read yet
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/mapping.h"
#include "base/result.h"
#include "perf/event_fd.h"

namespace memtrace {

class RingBuffer {
 public:
  // data_bytes: a power of two of pages. Error: EPERM when over the mlock budget.
  static Result<RingBuffer> map(const EventFd& event, std::size_t data_bytes);

  // Copies as many not yet read bytes as fit into `target` and gives their room back to the kernel
  // once `consume` is called with the number that was used. Records are 8-byte aligned and `target`
  // begins with a record.
  std::size_t copy_unread(std::span<std::byte> target) const;
  void consume(std::size_t used_bytes);

  std::size_t unread_bytes() const;

  std::size_t data_bytes() const { return data_.size(); }

 private:
  RingBuffer(Mapping mapping, std::span<std::byte> data)
      : mapping_(std::move(mapping)), data_(data) {}

  Mapping mapping_;
  std::span<std::byte> data_;
  std::uint64_t tail_ = 0;
};

}  // namespace memtrace
