#include "perf/live/added_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "os/guarded_thread.h"
#include "os/system.h"
#include "os/this_thread.h"

namespace memtrace {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};

std::string without_folder(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void AddedEventSource::start(const MappingWatch::Setup& setup, std::vector<NewMapping> known) {
  known_ = std::move(known);
  auto watch = MappingWatch::open(setup);
  if (watch.ok() && !setup.enable_on_exec) {
    if (const auto enabled = watch.value().enable(); !enabled.ok()) {
      watch = enabled.error();
    }
  }
  if (!watch.ok()) {
    note("programs and libraries that were loaded later are not probed: " +
         describe(watch.error()));
    return;
  }
  watch_.push_back(watch.take());
  thread_ = start_guarded_thread([this] { run(); });
}

void AddedEventSource::stop() {
  stopping_.store(true, std::memory_order_release);
  if (thread_.joinable()) {
    watch_.front().interrupt();
    thread_.join();
  }
}

AddedEventSource::Taken AddedEventSource::take() {
  const std::lock_guard lock(mutex_);
  has_news_.store(false, std::memory_order_release);
  return std::exchange(taken_, {});
}

void AddedEventSource::look_at_all(const std::vector<NewMapping>& mappings) {
  for (const NewMapping& mapping : mappings) {
    if (!stopping_.load(std::memory_order_acquire)) {
      look_at(mapping);
    }
  }
}

void AddedEventSource::run() {
  hurry_this_thread();  // the library's allocations until then are not seen
  look_at_all(std::exchange(known_, {}));
  MappingWatch& watch = watch_.front();
  while (!stopping_.load(std::memory_order_acquire)) {
    watch.wait(kPatience);
    look_at_all(watch.take());
  }
  if (watch.lost() > 0) {
    note(
        fmt::format("{} mappings were not seen when they were made: allocators in them are not "
                    "probed",
                    watch.lost()));
  }
}

void AddedEventSource::look_at(const NewMapping& mapping) {
  if (!seen_.insert({mapping.major, mapping.minor, mapping.inode, mapping.path}).second) {
    return;
  }
  const auto requests = choose_(mapping);
  const Result<> added = requests.ok() ? add(mapping, requests.value()) : requests.error();
  if (!added.ok()) {
    note(mapping.path +
         ", which was loaded while recording, is not probed: " + describe(added.error()));
  }
}

// Published before they are enabled: no record of them can come before they are known.
Result<> AddedEventSource::add(const NewMapping& mapping,
                               const std::vector<EventRequest>& requests) {
  if (requests.empty()) {
    return kDone;
  }
  auto late = set_.open_added(requests);
  if (!late.ok()) {
    return late.take_error();
  }
  RecordParser next = parser_.current();
  add_to_parser(late.value().events, next);
  parser_.publish(std::move(next));
  const std::lock_guard lock(mutex_);
  Result<> enabled = late.value().enable();
  const std::uint64_t now_ns = monotonic_ns();
  taken_.events.push_back(late.take());
  const double after_ms =
      static_cast<double>(now_ns - std::min(now_ns, mapping.time_ns)) / 1'000'000;
  taken_.notes.push_back(fmt::format(
      "{} was loaded by process {} while recording, and its allocator was probed {:.1f} ms "
      "later: calls before that were not seen",
      without_folder(mapping.path),
      mapping.pid,
      after_ms));
  has_news_.store(true, std::memory_order_release);
  return enabled;
}

void AddedEventSource::note(std::string sentence) {
  const std::lock_guard lock(mutex_);
  taken_.notes.push_back(std::move(sentence));
  has_news_.store(true, std::memory_order_release);
}

}  // namespace memtrace
