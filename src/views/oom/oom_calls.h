// Kills that a kprobe on oom_kill_process() saw: record --kprobes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "views/oom/oom_kills.h"

namespace memtrace {

bool is_oom_call(const EventType& type);

// Calls of oom_kill_process() whose victim is not known yet. The killer marks its victim, or sends
// it a signal, before it returns.
class OomCalls {
 public:
  void on_call(const Event& event, const World& world);

  // The kill is of the call that its thread is in, if it is in one.
  void resolve_late(OomKill& kill, std::uint32_t tid);

  // Those that remain: kills without a victim, in order of time.
  std::vector<OomKill> take();

  bool are_seen() const { return are_seen_; }

  void see() { are_seen_ = true; }

 private:
  std::map<std::uint32_t, OomKill> by_tid_;
  std::vector<OomKill> without_victim_;
  bool are_seen_ = false;
};

// The call alone: what it was taken for was not the killer's after all.
OomKill call_without_victim(const OomKill& kill);

// What came of them.
std::vector<std::string> oom_call_notes(std::span<const OomKill> kills);

}  // namespace memtrace
