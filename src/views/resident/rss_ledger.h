// Explains each change of kmem:rss_stat by what its thread was doing. The event has the size after
// the change, so that changes add up to the size whatever their reasons are:
//
//   /proc at the start   58.2 MiB
//   rss_stat            +4 KiB  +4 KiB  -128 KiB  ...   each with its reason
//   /proc at the end    58.1 MiB                        what is missing is the residual
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/resident/rss_account.h"
#include "views/resident/thread_acts.h"

namespace memtrace {

class RssLedger {
 public:
  // How many address spaces that are gone keep accounts of their own.
  static constexpr std::size_t kMaxEnded = 4096;

  // `sees_calls`: the recording has the system calls that give memory back.
  void check(bool sees_calls) { sees_calls_ = sees_calls; }

  void on(const Event& event, const World& world);

  // In the order in which they were first seen; some have no owner.
  const std::list<RssAccount>& accounts() const { return accounts_; }

  // Of those that ended long ago.
  const RssSums& older() const { return older_; }

  // What follows is of the next interval.
  void begin_interval();

  // Most changes of anonymous memory are of several pages though a page fault is of one: kernels
  // before 6.2 count 64 faults of a thread together (mm/memory.c, SPLIT_RSS_COUNTING).
  bool is_batched() const { return 2 * batched_ > touches_; }

 private:
  using Accounts = std::list<RssAccount>;

  struct Populated {
    RssAccount* account = nullptr;
    RssSums sums;
  };

  void on_rss(const Event& event, const RssStat& stat, const World& world);
  RssAccount& account_of(const Event& event, const RssStat& stat, const World& world);
  bool is_left(const RssAccount& account, const World& world) const;
  void claim(RssAccount& account, std::uint32_t pid, std::uint64_t time_ns, const World& world);
  static void begin_with(RssAccount& account, const RssMembers& had, bool is_read);
  void apply(RssAccount& account, const Event& event, const RssStat& stat, std::int64_t bytes);
  void apply_swap(RssAccount& account, const Event& event, std::int64_t bytes);
  RssChange reason(const RssAccount& account,
                   const Event& event,
                   const RssStat& stat,
                   std::int64_t bytes);
  RssChange reason_in_fault(ThreadAct& act, RssMember member, std::int64_t bytes);
  void note_end(RssAccount& account, const Event& event, const RssStat& stat, const World& world);
  void end_mmap(const Event& event, const SystemCallDone& done, const World& world);
  void forget_oldest();

  bool sees_calls_ = true;
  std::uint64_t page_bytes_ = 4096;
  ThreadActs acts_;
  Accounts accounts_;
  std::unordered_map<std::uint32_t, RssAccount*> by_mm_;
  std::unordered_map<std::uint32_t, RssAccount*> by_pid_;
  std::unordered_map<std::uint32_t, Populated> populated_;  // by tid
  std::size_t ended_ = 0;
  RssSums older_;
  std::uint64_t touches_ = 0;  // of anonymous memory
  std::uint64_t batched_ = 0;  // of them: of several pages
};

}  // namespace memtrace
