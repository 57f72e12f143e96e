#include "cli/recorded_input.h"

#include <utility>

#include "os/system.h"
#include "perf/file_in/file_source.h"
#include "recording/rotation.h"
#include "sections/joined_source.h"

namespace memtrace {

std::vector<std::string> recorded_files(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    const auto files = path_exists(name) ? std::vector<std::string>() : rotated_files(name);
    if (files.empty()) {
      all.push_back(name);
    }
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

Result<std::unique_ptr<RecordSource>> open_recording(const std::vector<std::string>& paths) {
  if (paths.size() == 1) {
    return open_file_source(paths.front(), ReadAhead::IfCpus);
  }
  std::vector<JoinedSource::File> files;
  for (const std::string& path : paths) {
    if (path == "-") {
      return Error{"-i -", 0, "a pipe is read alone, without other files", ErrorKind::Usage};
    }
    // A thread runs while the file is read.
    files.push_back({path, [path] { return open_file_source(path, ReadAhead::IfCpus); }});
  }
  return JoinedSource::create(std::move(files));
}

}  // namespace memtrace
