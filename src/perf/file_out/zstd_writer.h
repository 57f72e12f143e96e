// Records into COMPRESSED records, as perf record -z writes them, by a thread of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "perf/file_out/zstd_piece.h"

namespace memtrace {

// append() collects a block of whole records; full blocks go to the thread, which turns each into
// pieces for the file. The caller of append() fetches the pieces, so that only one thread writes:
//
//   append() -> block -> [thread] -> pieces -> take() -> the file
class ZstdWriter {
 public:
  explicit ZstdWriter(int level);
  ZstdWriter(const ZstdWriter&) = delete;
  ZstdWriter& operator=(const ZstdWriter&) = delete;
  ZstdWriter(ZstdWriter&&) = delete;
  ZstdWriter& operator=(ZstdWriter&&) = delete;
  ~ZstdWriter();

  // True when a block was handed over: time to look for pieces. Waits while kQueueBlocks blocks
  // are under way.
  bool append(std::span<const std::byte> record);

  // What is ready by now, in the order of append().
  std::vector<ZstdPiece> take();

  // All that was appended.
  std::vector<ZstdPiece> drain();

  // How many times smaller what was given out is, rounded; 0 when there was nothing.
  std::uint32_t ratio() const {
    const std::uint64_t doubled = packed_bytes_ == 0 ? 0 : 2 * plain_bytes_ / packed_bytes_;
    return static_cast<std::uint32_t>((doubled + 1) / 2);
  }

 private:
  using Block = std::vector<std::byte>;

  void run();
  void give_up();
  void hand_over();
  std::vector<ZstdPiece> count(std::vector<ZstdPiece> pieces);

  ZstdPacker packer_;  // the thread's
  Block block_;        // being filled; the thread does not see it
  std::uint64_t plain_bytes_ = 0;
  std::uint64_t packed_bytes_ = 0;

  std::mutex mutex_;  // guards all below
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<Block> queue_;
  std::vector<ZstdPiece> ready_;
  bool busy_ = false;
  bool stopping_ = false;
  bool gave_up_ = false;  // the thread has ended, by an exception

  std::thread thread_;  // last: it uses all of the others
};

}  // namespace memtrace
