// Names of code that a JIT compiler wrote: /tmp/perf-PID.map, one "START SIZE name" a line, in hex.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval_map.h"
#include "os/foreign_file.h"
#include "symbolize/debug/unpacked_bytes.h"

namespace memtrace {

class PerfMap {
 public:
  struct Match {
    std::string_view function;
    std::uint64_t offset = 0;
  };

  // Lines that are not entries are skipped. A later entry replaces what it covers, as code does
  // that is compiled again into the same place.
  static PerfMap parse(std::string_view text);

  void add_line(std::string_view line);

  std::optional<Match> find(std::uint64_t avma) const;

 private:
  struct Function {
    std::uint64_t start = 0;  // the entry's own: the interval may have been cut
    std::string name;
  };

  IntervalMap<Function> functions_;
};

// The maps of one process. The file grows while the program runs, so a miss looks whether it did,
// and reads what is new.
class PerfMapFile {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{128} << 20U;
  static constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10U;

  explicit PerfMapFile(std::uint32_t pid);

  std::optional<PerfMap::Match> find(std::uint64_t avma);

  // Why not all of the file was read, as a sentence; "" if it was, or if there is none.
  const std::string& problem() const { return problem_; }

 private:
  bool read_news();
  bool may_name(const struct stat& status);
  void begin_anew(const struct stat& status);
  void read_from(const UniqueFd& fd, std::uint64_t size_bytes);
  bool take_lines(std::string_view text, std::uint64_t& taken_bytes);

  std::string path_;
  std::vector<std::uint64_t> owners_;  // who may have written it: the process's users
  bool process_has_ended_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::int64_t size_bytes_ = -1;
  std::uint64_t read_bytes_ = 0;  // whole lines
  PerfMap map_;
  UnpackedBytes memory_;
  std::string problem_;
};

}  // namespace memtrace
