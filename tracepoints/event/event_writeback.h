// Payloads of the writing back of pages that programs changed.
#pragma once

#include <cstdint>
#include <string_view>

namespace memtrace {

// writeback:writeback_dirty_page: a page of a file becomes dirty. writeback_dirty_folio (5.18 on):
// a folio does. That event does not say how large the folio is: the world looks it up by its place
// in its file (state/world/folio_sizes.h).
struct PageDirtied {
  std::string_view device;  // "254:0": the disk, where the file system is on a partition
  std::uint64_t inode = 0;
  std::uint64_t index = 0;  // of the first page in its file
  std::uint64_t pages = 1;  // 1 also of a folio whose size is not known
};

// writeback:balance_dirty_pages: a thread that dirties pages is looked at. It sleeps when
// pause_ns > 0.
struct DirtyBalance {
  std::string_view device;
  std::uint64_t dirtied_pages = 0;
  std::uint64_t pause_ns = 0;
};

// writeback:writeback_pages_written: a flusher thread has done with a piece of work.
struct PagesWritten {
  std::uint64_t pages = 0;
};

// writeback:writeback_single_inode: what was written of one inode, by a flusher or by fsync(2).
struct InodeWritten {
  std::string_view device;
  std::uint64_t inode = 0;
  std::uint64_t pages = 0;
};

// writeback:writeback_start and writeback_written: a flusher thread begins and ends one round of a
// piece of work.
struct FlushRound {
  bool begins = false;
  std::int32_t reason = -1;  // enum wb_reason; -1: this kernel does not report it
};

// block:block_bio_queue: a thread hands data to a block device.
struct BlockWrite {
  std::uint64_t bytes = 0;  // 0 when it is a read
};

}  // namespace memtrace
