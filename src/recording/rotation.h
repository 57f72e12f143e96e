// When a recording goes on in another file, and what its files are called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memtrace {

struct RotationOptions {
  bool is_wanted = false;       // without a limit, SIGUSR2 alone begins the next file
  std::uint64_t max_bytes = 0;  // of a file; 0: any
  std::uint64_t max_ns = 0;     // the time that a file covers; 0: any
  std::uint64_t keep = 0;       // number of newest files to keep; 0: all
};

// "memtrace.data.0001" for the first.
std::string rotated_name(const std::string& output, std::uint64_t number);

// The files of that name that are there, by number.
std::vector<std::string> rotated_files(const std::string& output);

class RotationPolicy {
 public:
  explicit RotationPolicy(const RotationOptions& options) : options_(options) {}

  // A file begins now. Its first `state_bytes` of records repeat the state that the files before it
  // have left.
  void begin_file(std::uint64_t now_ns, std::uint64_t state_bytes) {
    began_ns_ = now_ns;
    state_bytes_ = state_bytes;
  }

  // How far a file has come.
  struct Progress {
    std::uint64_t now_ns = 0;
    std::uint64_t file_bytes = 0;    // as it is on the disk, perhaps compressed
    std::uint64_t record_bytes = 0;  // of all records, as they came
  };

  // Whether the file is to end now. None ends before it holds as much of its own as it began with:
  // else a small limit would make files of nothing but beginnings.
  bool is_due(const Progress& file) const {
    const bool is_full = options_.max_bytes != 0 && file.file_bytes >= options_.max_bytes &&
                         file.record_bytes >= 2 * state_bytes_;
    return is_full || (options_.max_ns != 0 && file.now_ns - began_ns_ >= options_.max_ns);
  }

 private:
  RotationOptions options_;
  std::uint64_t began_ns_ = 0;
  std::uint64_t state_bytes_ = 0;
};

}  // namespace memtrace
