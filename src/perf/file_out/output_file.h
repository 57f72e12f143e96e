// The file that a recording goes to: made anew, or an empty file, pipe or device that is there
// already. Nothing else is changed in any way, even if somebody prepared the place, except that own
// recordings and own empty files get another name.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "os/stop_signals.h"
#include "os/unique_fd.h"

namespace memtrace {

struct Inode {
  dev_t device = 0;
  ino_t number = 0;  // 0: none
};

// A regular file that memtrace made itself.
class CreatedFile {
 public:
  CreatedFile(std::string place, Inode inode) : place_(std::move(place)), inode_(inode) {}

  // Removes it, if it is still what stands there. False: something else does, or it cannot be
  // removed.
  bool remove() const;

 private:
  std::string place_;
  Inode inode_;
};

class OutputFile {
 public:
  // An own recording that stands there is renamed to PATH.old; an own empty file is written to, or
  // renamed like one if others could have opened it. A pipe's reader is waited for, until
  // `stop_signals` (may be null) has one. Errors: it cannot be made there; something stands there
  // that memtrace must leave alone, such as pipes and devices of other users.
  static Result<OutputFile> create(const std::string& path, StopSignals* stop_signals);

  // As given to create(): a symbolic link's name, not where it leads.
  const std::string& path() const { return path_; }

  // Not a regular file: it can only be written from its start to its end.
  bool is_stream() const { return is_stream_; }

  UniqueFd take_fd() { return std::move(fd_); }

  // Nothing for a stream, and for a file that was there before.
  std::optional<CreatedFile> created_file() const;

  // Removes the file, if it is still the one that was made, and puts the one back that it replaced;
  // an empty one that was there is empty again. Does nothing to a stream.
  void take_back();

 private:
  // `wanted`: what is to be opened; `follow`: it lies behind a link.
  Result<> open_stream(const struct stat& wanted, bool follow, StopSignals* stop_signals);
  Result<> make_room();
  bool take_empty(const struct stat& wanted);
  Result<> create_file();
  void put_old_back();

  std::string path_;
  std::string place_;  // where the file is, behind links
  UniqueFd fd_;
  bool is_stream_ = false;
  bool was_there_ = false;
  Inode made_;
  Inode replaced_;  // number 0: nothing was there
};

}  // namespace memtrace
