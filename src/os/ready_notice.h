// Notifies a script that memtrace records, so that the script can start the work to be recorded.
// MEMTRACE_READY_FD=N in the environment names an open descriptor.
#pragma once

#include "base/result.h"
#include "os/unique_fd.h"

namespace memtrace {

class ReadyNotice {
 public:
  // Nobody waits.
  ReadyNotice() = default;

  // Takes the variable and the descriptor away from the commands that memtrace starts: they shall
  // not answer for it, and the reader shall see the end of the file when memtrace fails. Error:
  // Usage, the variable names no open descriptor.
  static Result<ReadyNotice> from_environment();

  // One line, then the descriptor is closed. A reader that has gone does no harm.
  void tell();

 private:
  UniqueFd fd_;
};

}  // namespace memtrace
