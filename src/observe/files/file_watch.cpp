#include "observe/files/file_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "os/guarded_thread.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::size_t kMaxWishes = 4096;
constexpr std::size_t kMaxProcesses = 20'000;
// The descriptors of a process are not read again before.
constexpr std::uint64_t kReadAgainNs = 50'000'000;

}  // namespace

FileWatch::~FileWatch() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void FileWatch::want_another(const FileId& id, std::uint32_t pid) {
  if (wanted_.contains(id)) {
    return;
  }
  if (wanted_.size() == kMaxFiles) {
    ++left_out_;
    return;
  }
  wanted_.emplace(id, pid);
  if (!thread_.joinable()) {
    thread_ = start_guarded_thread([this] { run(); });
  }
  {
    const std::lock_guard lock(mutex_);
    if (wishes_.size() == kMaxWishes) {
      return;  // take() looks for it
    }
    wishes_.push_back({id, pid});
  }
  changed_.notify_one();
}

void FileWatch::run() {
  std::unique_lock lock(mutex_);
  while (!must_end_) {
    if (wishes_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const Wish wish = wishes_.front();
    wishes_.pop_front();
    lock.unlock();
    const std::uint64_t begun_ns = monotonic_ns();
    look(wish);
    const std::chrono::nanoseconds rest((monotonic_ns() - begun_ns) * 4);
    lock.lock();
    changed_.wait_for(lock, rest, [this] { return must_end_; });
  }
}

bool FileWatch::is_named(const FileId& id) {
  const std::lock_guard lock(mutex_);
  return names_.contains(id);
}

void FileWatch::learn(std::vector<NamedFile> files) {
  const std::lock_guard lock(mutex_);
  for (NamedFile& file : files) {
    if (names_.size() < kMaxFiles || names_.contains(file.id)) {
      names_[file.id] = std::move(file.path);
    }
  }
}

void FileWatch::look(const Wish& wish) {
  if (is_named(wish.id)) {
    return;
  }
  const std::lock_guard reading(reading_);
  if (read_at_ns_.size() == kMaxProcesses) {
    read_at_ns_.clear();
  }
  std::uint64_t& read_at_ns = read_at_ns_[wish.pid];
  if (read_at_ns == 0 || monotonic_ns() - read_at_ns > kReadAgainNs) {
    learn(sources_.open_files(wish.pid));
    read_at_ns = monotonic_ns();
  }
  if (is_named(wish.id)) {
    return;
  }
  if (std::string path = sources_.inode_name(wish.id, wish.pid); !path.empty()) {
    learn({{wish.id, std::move(path)}});
  }
}

// Flusher threads have no files open, and a process may have ended before it was looked at.
void FileWatch::search_all(const std::vector<Wish>& unnamed) {
  const std::lock_guard reading(reading_);
  for (const auto& [id, pid] : unnamed) {
    if (std::string path = sources_.inode_name(id, pid); !path.empty()) {
      learn({{id, std::move(path)}});
    }
  }
  const auto lacks_name = [this](const Wish& wish) { return !is_named(wish.id); };
  if (std::ranges::none_of(unnamed, lacks_name)) {
    return;
  }
  for (const std::uint32_t pid : sources_.processes()) {
    auto files = sources_.open_files(pid);
    std::erase_if(files, [this](const NamedFile& file) { return !wanted_.contains(file.id); });
    learn(std::move(files));
  }
}

std::vector<FileWatch::Wish> FileWatch::take_unnamed() {
  const std::lock_guard lock(mutex_);
  wishes_.clear();
  std::vector<Wish> unnamed;
  for (const auto& [id, pid] : wanted_) {
    if (!names_.contains(id)) {
      unnamed.push_back({id, pid});
    }
  }
  return unnamed;
}

Observation FileWatch::take() {
  const std::vector<Wish> unnamed = take_unnamed();
  if (!unnamed.empty()) {
    search_all(unnamed);
  }
  Observation observation{.reader = "files"};
  const std::lock_guard lock(mutex_);
  for (const auto& [id, path] : names_) {
    if (wanted_.contains(id)) {
      observation.rows.push_back(
          {.numbers = {{"major", id.device_major}, {"minor", id.device_minor}, {"inode", id.inode}},
           .texts = {{"path", path}}});
    }
  }
  observation.facts.numbers["left_out"] = left_out_;
  return observation;
}

}  // namespace memtrace
