// The bytes of a perf.data file one after the other: a mapped file, or a pipe that is read as its
// records are asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "os/foreign_file.h"
#include "os/unique_fd.h"
#include "perf/unpack/record_keeper.h"

namespace memtrace {

class FileInput {
 public:
  // "-" is standard input. Regular files are mapped. Errors: not there, not readable, a directory.
  static Result<FileInput> open(const std::string& path);

  // What has been read and not consumed: of a mapping all the rest. The bytes stay where they are
  // until the input is destroyed (a mapping) or memory() is let go (a pipe).
  std::span<const std::byte> window() const { return window_; }

  // Reads until the window has size_bytes or the input ends.
  Result<> fill(std::size_t size_bytes);

  void consume(std::size_t size_bytes) {
    window_ = window_.subspan(std::min(size_bytes, window_.size()));
    position_ += size_bytes;
    if (position_ >= release_at_) {
      release_consumed();
    }
  }

  // Bytes consumed so far.
  std::uint64_t position() const { return position_; }

  // The rest of a pipe into memory, so that whole() has all of it.
  Result<> read_all();

  // All bytes of a mapping; of a pipe those since the start after read_all().
  std::span<const std::byte> whole() const { return mapping_.valid() ? mapping_.bytes() : window_; }

  // A mapped file became shorter while it was read, or its disk cannot be read: what is missing
  // reads as zeros.
  bool was_cut() const;

  bool is_mapped() const { return mapping_.valid(); }

  // Goes to an offset of whole().
  void seek(std::uint64_t offset);

  // What the bytes of the window lie in; null for a mapping.
  const RecordMemory& memory() const { return block_.words; }

 private:
  void make_room(std::size_t size_bytes);
  void release_consumed();

  ForeignBytes mapping_;
  UniqueFd fd_;                        // of a pipe that has not ended
  RecordBlock block_;                  // a pipe's bytes
  std::span<const std::byte> window_;  // read and not consumed
  std::uint64_t position_ = 0;
  std::uint64_t release_at_ = 0;  // a position
};

}  // namespace memtrace
