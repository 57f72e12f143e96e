#include "symbolize/names/perf_map.h"

#include <unistd.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "base/units.h"
#include "os/procfs.h"
#include "os/system.h"
#include "os/trust.h"

namespace memtrace {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
// What an entry of a name takes here, for each byte of its line: short lines cost most.
constexpr std::uint64_t kCostFactor = 20;

// A JIT in a container writes its own idea of its pid into the name (perf: nsinfo), which is the
// last number of the NSpid line (Linux 4.1 and later).
std::string choose_path(std::uint32_t pid, std::string_view status) {
  const std::string_view pids = proc_field(status, "NSpid");
  const std::string_view last = pids.substr(pids.rfind('\t') + 1);
  const std::string inside = proc_path(pid, "root/tmp/perf-") + std::string(last) + ".map";
  return !last.empty() && path_exists(inside) ? inside
                                              : "/tmp/perf-" + std::to_string(pid) + ".map";
}

// The four of the Uid line, if the process still runs, and the reader: root, or the user behind
// sudo(8).
std::vector<std::uint64_t> trusted_owners(std::string_view status) {
  std::vector<std::uint64_t> owners = {0, ::geteuid()};
  for (const std::uint32_t uid : status_uids(status)) {
    owners.push_back(uid);
  }
  if (const auto uid = sudo_user()) {
    owners.push_back(*uid);
  }
  return owners;
}

}  // namespace

PerfMap PerfMap::parse(std::string_view text) {
  PerfMap map;
  for (const std::string_view line : split(text, '\n')) {
    map.add_line(line);
  }
  return map;
}

void PerfMap::add_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) {
    return;
  }
  const auto start = parse_number(line.substr(0, first), 16);
  const auto size_bytes = parse_number(line.substr(first + 1, second - first - 1), 16);
  const auto name = trim(line.substr(second + 1));
  if (!start || !size_bytes || name.empty() || *size_bytes > UINT64_MAX - *start) {
    return;
  }
  functions_.assign(*start, *start + *size_bytes, Function{*start, std::string(name)});
}

std::optional<PerfMap::Match> PerfMap::find(std::uint64_t avma) const {
  const auto* entry = functions_.find(avma);
  if (entry == nullptr) {
    return std::nullopt;
  }
  return Match{entry->value.name, avma - entry->value.start};
}

PerfMapFile::PerfMapFile(std::uint32_t pid) {
  const std::string status = proc_text(pid, "status");
  path_ = choose_path(pid, status);
  owners_ = trusted_owners(status);
  process_has_ended_ = status.empty();
}

std::optional<PerfMap::Match> PerfMapFile::find(std::uint64_t avma) {
  if (const auto match = map_.find(avma)) {
    return match;
  }
  return read_news() ? map_.find(avma) : std::nullopt;
}

// Anybody can make a file of that name in /tmp before the program does, or after it has ended.
bool PerfMapFile::may_name(const struct stat& status) {
  const bool is_trusted =
      std::find(owners_.begin(), owners_.end(), std::uint64_t{status.st_uid}) != owners_.end();
  if (!is_trusted) {
    problem_ =
        path_ + " was not read: it belongs to user " + std::to_string(status.st_uid) +
        (process_has_ended_ ? ", and the process has ended, so that its user is not known any more"
                            : ", who is neither the process's user nor you");
  }
  return is_trusted;
}

void PerfMapFile::begin_anew(const struct stat& status) {
  device_ = status.st_dev;
  inode_ = status.st_ino;
  read_bytes_ = 0;
  map_ = PerfMap();
  memory_.shrink(0);
  problem_.clear();
}

bool PerfMapFile::read_news() {
  const auto file = open_foreign_file(path_);
  if (!file.ok() || !may_name(file.value().status)) {
    return false;
  }
  const struct stat& status = file.value().status;
  const bool is_same = status.st_dev == device_ && status.st_ino == inode_;
  if (is_same && status.st_size == size_bytes_) {
    return false;
  }
  if (!is_same || status.st_size < size_bytes_) {
    begin_anew(status);
  }
  size_bytes_ = status.st_size;
  read_from(file.value().fd, static_cast<std::uint64_t>(status.st_size));
  return true;
}

void PerfMapFile::read_from(const UniqueFd& fd, std::uint64_t size_bytes) {
  const std::uint64_t limit = std::min(size_bytes, kMaxBytes);
  std::vector<std::byte> piece(std::min<std::uint64_t>(kPieceBytes, limit));
  while (problem_.empty() && read_bytes_ < limit) {
    const std::uint64_t wanted = std::min<std::uint64_t>(piece.size(), limit - read_bytes_);
    const auto got = read_at(fd, std::span(piece).first(wanted), read_bytes_);
    std::uint64_t taken_bytes = 0;
    const std::string_view text(reinterpret_cast<const char*>(piece.data()),
                                got.ok() ? got.value() : 0);
    if (!take_lines(text, taken_bytes) || taken_bytes == 0) {
      break;
    }
    read_bytes_ += taken_bytes;
  }
  if (problem_.empty() && size_bytes > kMaxBytes) {
    problem_ = "only the first " + print_bytes(kMaxBytes) + " of " + path_ + " were read";
  }
}

// The last line may still be written: it is taken as it is, and read again with what follows.
bool PerfMapFile::take_lines(std::string_view text, std::uint64_t& taken_bytes) {
  if (!memory_.grow((read_bytes_ + text.size()) * kCostFactor)) {
    problem_ = "not all of " + path_ + " was read: it takes too much memory";
    return false;
  }
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (std::min(end, text.size()) > kMaxLineBytes) {
      problem_ =
          path_ + " is not a list of functions: a line has more than " + print_bytes(kMaxLineBytes);
      return false;
    }
    map_.add_line(text.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    taken_bytes += end + 1;
    text.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace memtrace
