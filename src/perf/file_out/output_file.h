// The file that a recording goes to: made anew, or a pipe or device that is there already. Nothing
// else is removed, renamed or changed in any way, even if somebody prepared the place.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/result.h"
#include "os/stop_signals.h"
#include "os/unique_fd.h"

namespace memtrace {

class OutputFile {
 public:
  // A recording that stands there is renamed to PATH.old. A pipe's reader is waited for, until
  // `stop_signals` (may be null) has one. Errors: it cannot be made there; something stands there
  // that memtrace must leave alone.
  static Result<OutputFile> create(const std::string& path, StopSignals* stop_signals);

  // As given to create(): a symbolic link's name, not where it leads.
  const std::string& path() const { return path_; }

  // Not a regular file: it can only be written from its start to its end.
  bool is_stream() const { return is_stream_; }

  UniqueFd take_fd() { return std::move(fd_); }

  // Removes the file, if it is still the one that was made, and puts the one back that it replaced.
  // Does nothing to a stream.
  void take_back();

 private:
  struct Inode {
    dev_t device = 0;
    ino_t number = 0;
  };

  static bool is_at(const Inode& inode, const std::string& path);

  Result<> open_stream(StopSignals* stop_signals);
  Result<> make_room();
  Result<> create_file();
  void put_old_back();

  std::string path_;
  std::string place_;  // where the file is, behind links
  UniqueFd fd_;
  bool is_stream_ = false;
  Inode made_;
  Inode replaced_;  // number 0: nothing was there
};

}  // namespace memtrace
