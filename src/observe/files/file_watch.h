// Learns the names of files that events know by device and inode, while the processes that use them
// still have them open. A thread of its own reads /proc/PID/fd, so that no ring waits for it:
//
//   event: file 254:0 9, process 12 --> queue --> thread: /proc/12/fd, then the dentry cache
//                                                   |
//                                    all names that it saw --> take(): those of files in events
//
// It uses at most a fifth of a CPU: after each reading it sleeps four times as long as that took.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "observe/files/open_files.h"
#include "state/world/observations.h"

namespace memtrace {

class FileWatch {
 public:
  // What it asks; others in tests.
  struct Sources {
    std::function<std::vector<NamedFile>(std::uint32_t pid)> open_files;
    std::function<std::string(const FileId& id, std::uint32_t pid)> inode_name;
    std::function<std::vector<std::uint32_t>()> processes;
  };

  explicit FileWatch(Sources sources) : sources_(std::move(sources)) {}

  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  FileWatch(FileWatch&&) = delete;
  FileWatch& operator=(FileWatch&&) = delete;
  ~FileWatch();

  // An event is about this file, and the process may have it open. Asked for each event: most are
  // about a file that was wanted before.
  void want(const FileId& id, std::uint32_t pid) {
    if (has_last_ && id == last_) {
      return;
    }
    last_ = id;
    has_last_ = true;
    want_another(id, pid);
  }

  bool wants_any() const { return !wanted_.empty(); }

  // Names of the files that were wanted so far, as rows (major, minor, inode, path). The files that
  // have none yet are looked for among the open files of all processes.
  Observation take();

  static constexpr std::size_t kMaxFiles = 16'384;  // wanted, and with names

 private:
  struct Hash {
    std::size_t operator()(const FileId& id) const {
      return combine(mix(id.inode), std::uint64_t{id.device_major} << 32U | id.device_minor);
    }
  };

  struct Wish {
    FileId id;
    std::uint32_t pid = 0;
  };

  void want_another(const FileId& id, std::uint32_t pid);
  void run();
  void look(const Wish& wish);
  bool is_named(const FileId& id);
  void learn(std::vector<NamedFile> files);
  std::vector<Wish> take_unnamed();  // nobody else looks for them
  void search_all(const std::vector<Wish>& unnamed);

  Sources sources_;
  // Of the thread that calls want().
  FileId last_;
  bool has_last_ = false;
  std::unordered_map<FileId, std::uint32_t, Hash> wanted_;  // and the process that used it first
  std::uint64_t left_out_ = 0;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Wish> wishes_;
  std::map<FileId, std::string> names_;
  bool must_end_ = false;

  std::mutex reading_;                                 // sources are asked by one thread at a time
  std::map<std::uint32_t, std::uint64_t> read_at_ns_;  // of the thread's: processes
  std::thread thread_;                                 // from the first wish on
};

}  // namespace memtrace
