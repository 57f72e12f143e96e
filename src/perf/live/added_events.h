// Adds events while a recording runs, for files that are mapped only then: a library by dlopen(3),
// another program by execve(2). What a file needs is decided, defined and opened by a thread of its
// own; nobody who drains or merges waits for it.
//
//   watch --mapping--> choose --requests--> open, publish to the parser --> enable
//                                                        |
//                                              take(): the merging thread makes them its own
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "perf/event/event_set.h"
#include "perf/live/mapping_watch.h"
#include "perf/record/shared_parser.h"

namespace memtrace {

// The events that a newly mapped file needs; none for most.
using ChooseEvents = std::function<Result<std::vector<EventRequest>>(const NewMapping&)>;

class AddedEventSource {
 public:
  // `set` and `parser` outlive it. The parser is changed by nobody else from start() on.
  AddedEventSource(const EventSet& set, SharedParser& parser, ChooseEvents choose)
      : set_(set), parser_(parser), choose_(std::move(choose)) {}

  AddedEventSource(const AddedEventSource&) = delete;
  AddedEventSource& operator=(const AddedEventSource&) = delete;
  AddedEventSource(AddedEventSource&&) = delete;
  AddedEventSource& operator=(AddedEventSource&&) = delete;

  ~AddedEventSource() { stop(); }

  // Also looks at what is mapped already. An error ends the watch and becomes a note.
  void start(const MappingWatch::Setup& setup, std::vector<NewMapping> known);
  void stop();

  struct Taken {
    std::vector<AddedEvents> events;  // in the order of their numbers in the parser
    std::vector<std::string> notes;
  };

  // What has come since the last call.
  Taken take();

  bool has_news() const { return has_news_.load(std::memory_order_acquire); }

 private:
  void run();
  void look_at_all(const std::vector<NewMapping>& mappings);
  void look_at(const NewMapping& mapping);
  Result<> add(const NewMapping& mapping, const std::vector<EventRequest>& requests);
  void note(std::string sentence);

  const EventSet& set_;
  SharedParser& parser_;
  ChooseEvents choose_;
  std::vector<MappingWatch> watch_;  // one, or none
  std::vector<NewMapping> known_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::string>> seen_;
  std::mutex mutex_;  // guards taken_
  Taken taken_;
  std::atomic<bool> has_news_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace memtrace
