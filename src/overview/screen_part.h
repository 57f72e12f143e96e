// Some of the finders, with a session of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "overview/finding.h"
#include "session/session.h"

namespace memtrace {

// What was found in a whole recording.
struct Screen {
  std::vector<Finding> findings;
  std::vector<Report> reports;   // by the number of the finder, without their tables
  std::vector<bool> has_events;  // by the same
};

class ScreenPart {
 public:
  // Of all_finders(), by number. `source` outlives it.
  static Result<ScreenPart> create(RecordSource& source,
                                   SessionOptions options,
                                   std::vector<std::size_t> finders);

  // Reads the recording.
  Result<> run();

  const Session& session() const { return *session_; }

  // What run() has found; once.
  void add_to(Screen& screen);

 private:
  ScreenPart(std::vector<std::size_t> finders, std::unique_ptr<Session> session);

  void find_all(std::vector<Report>& reports);

  std::vector<std::size_t> finders_;
  std::unique_ptr<Session> session_;
  std::vector<Finding> findings_;
  std::vector<Report> reports_;
};

}  // namespace memtrace
