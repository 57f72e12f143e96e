#include "views/resident/rss_ledger.h"

#include <algorithm>
#include <optional>

#include "state/world/resident_snapshot.h"
#include "views/resident/snapshots.h"

namespace memtrace {
namespace {

std::size_t slot_of(RssMember member) {
  return static_cast<std::size_t>(member);
}

RssMembers members_of(const ResidentSnapshot& snapshot) {
  const auto rss = static_cast<std::int64_t>(snapshot.rss_bytes);
  const auto anonymous = static_cast<std::int64_t>(snapshot.parts.anonymous_bytes);
  const auto shared = static_cast<std::int64_t>(snapshot.parts.shared_memory_bytes);
  const auto swap = static_cast<std::int64_t>(snapshot.swap_bytes);
  return {rss - anonymous - shared, anonymous, swap, shared};
}

bool is_empty(const RssAccount& account) {
  return std::ranges::all_of(account.last, [](const std::optional<std::int64_t>& bytes) {
    return bytes.value_or(0) == 0;
  });
}

// execve(2) makes an address space with one page of arguments, and only then enters it (fs/exec.c).
bool is_made_for_exec(const RssAccount& account, std::uint64_t page_bytes) {
  const auto& first = account.firsts.at(slot_of(RssMember::Anonymous));
  return account.builder == account.pid && first &&
         first->bytes <= static_cast<std::int64_t>(page_bytes);
}

// Of an address space and its places.
void move_all(RssAccount& account, RssChange from, RssChange to) {
  account.sums.move_all(from, to);
  for (auto& [place, sums] : account.places) {
    sums.move_all(from, to);
  }
}

}  // namespace

void RssLedger::on(const Event& event, const World& world) {
  page_bytes_ = world.page_size_bytes();
  if (const auto* stat = std::get_if<RssStat>(&event.payload)) {
    on_rss(event, *stat, world);
    return;
  }
  acts_.on(event, world);
  if (const auto* done = std::get_if<SystemCallDone>(&event.payload)) {
    end_mmap(event, *done, world);
  }
}

void RssLedger::on_rss(const Event& event, const RssStat& stat, const World& world) {
  if (stat.member == RssMember::Other) {
    return;
  }
  RssAccount& account = account_of(event, stat, world);
  const std::size_t member = slot_of(stat.member);
  if (account.pid == 0 && stat.is_of_task) {
    claim(account, event.pid, event.time_ns, world);
  }
  const auto bytes = static_cast<std::int64_t>(stat.bytes);
  std::optional<std::int64_t>& last = account.last.at(member);
  if (!last && account.pid == 0) {
    account.firsts.at(member) = {.bytes = bytes, .place = {.kind = RssPlace::Kind::Whole}};
  }
  const std::int64_t change = last ? bytes - *last : 0;
  last = bytes;
  account.note_peak();
  if (event.time_ns < account.from_ns) {
    account.while_read_bytes += event.time_ns >= account.reading_ns ? change : 0;
  } else if (change != 0 && (account.to_ns == 0 || event.time_ns <= account.to_ns)) {
    apply(account, event, stat, change);
  }
  note_end(account, event, stat, world);
}

// Whether its process has ended, or runs another program. A task's own events may be closed before
// it gives its memory back (kernel/exit.c: perf_event_exit_task), so that nothing else shows it.
bool RssLedger::is_left(const RssAccount& account, const World& world) const {
  const auto newest = by_pid_.find(account.pid);
  const auto& spaces = world.first_touches().spaces();
  const auto space = spaces.find(account.pid);
  return (newest != by_pid_.end() && newest->second != &account) ||
         (space != spaces.end() && space->second.ended);
}

// The kernel uses the memory of an address space again: its hash is then another one's.
RssAccount& RssLedger::account_of(const Event& event, const RssStat& stat, const World& world) {
  RssAccount*& known = by_mm_[stat.mm_id];
  const bool is_by_other = known != nullptr && known->pid != 0 && known->pid != event.pid;
  const bool is_anothers =
      is_by_other && ((stat.is_of_task && known->is_torn_down) || is_left(*known, world));
  if (known == nullptr || known->is_ended || is_anothers) {
    known = &accounts_.emplace_back();
    known->mm_id = stat.mm_id;
    known->builder = event.pid;
  }
  return *known;
}

// Now it is known whose it is, and with it what it had before its first event.
void RssLedger::claim(RssAccount& account,
                      std::uint32_t pid,
                      std::uint64_t time_ns,
                      const World& world) {
  RssAccount*& newest = by_pid_[pid];
  const auto& spaces = world.first_touches().spaces();
  const auto space = spaces.find(pid);
  account.pid = pid;
  account.began = newest != nullptr || (space != spaces.end() && space->second.began) ||
                  is_made_for_exec(account, page_bytes_);
  if (newest != nullptr && newest != &account) {
    move_all(*newest, RssChange::Exit, RssChange::Exec);
  }
  newest = &account;
  const auto before =
      account.began ? std::nullopt : snapshot_of(world, kResidentAtBegin, pid, time_ns);
  if (before) {
    account.reading_ns = before->parts.read_from_ns;
    account.from_ns = before->parts.read_to_ns;
  }
  // A recording has the last reading from its first record on.
  if (const auto after = snapshot_of(world, kResidentAtEnd, pid, ~std::uint64_t{0})) {
    account.to_ns = after->parts.read_to_ns > time_ns ? after->parts.read_to_ns : 0;
  }
  begin_with(account, before ? members_of(*before) : RssMembers{0, 0, 0, 0}, before.has_value());
  if (account.builder == pid) {
    move_all(account, RssChange::Inherited, RssChange::Kernel);
  }
}

// `had`: before the first event; it is known if the process began, or was read.
void RssLedger::begin_with(RssAccount& account, const RssMembers& had, bool is_read) {
  for (std::size_t i = 0; i < kRssMembers && (is_read || account.began); ++i) {
    if (const auto& first = account.firsts.at(i)) {
      const std::int64_t bytes = i == slot_of(RssMember::Swap) ? 0 : first->bytes - *had.at(i);
      account.book(bytes < 0 ? RssChange::Exit : RssChange::Inherited, first->place, bytes);
    } else if (!account.last.at(i)) {
      account.last.at(i) = had.at(i);
    }
  }
}

void RssLedger::apply(RssAccount& account,
                      const Event& event,
                      const RssStat& stat,
                      std::int64_t bytes) {
  if (stat.member == RssMember::Swap) {
    apply_swap(account, event, bytes);
    return;
  }
  ThreadAct& act = acts_.of(event.tid);
  const bool has_dropped_page = act.has_dropped_page;
  RssChange change = reason(account, event, stat, bytes);
  if (has_dropped_page && change == RssChange::Kernel && stat.member == RssMember::Anonymous) {
    change = RssChange::Copied;
    account.move(sees_calls_ ? RssChange::Reclaimed : RssChange::Unmapped,
                 RssChange::Replaced,
                 {},
                 -static_cast<std::int64_t>(page_bytes_));
  }
  RssPlace place = stat.is_of_task ? act.place : RssPlace{};
  if (change == RssChange::Exit || change == RssChange::Inherited) {
    place = {.kind = RssPlace::Kind::Whole};
  } else if (change == RssChange::Reclaimed) {
    place = {};
  }
  const auto page = static_cast<std::int64_t>(page_bytes_);
  if (change == RssChange::File && bytes > page) {  // one page is the fault's own
    account.book(RssChange::File, place, page);
    account.book(RssChange::Around, place, bytes - page);
  } else {
    account.book(change, place, bytes);
  }
  if (change == RssChange::Populated && place.kind == RssPlace::Kind::Unknown) {
    Populated& populated = populated_[event.tid];
    populated.account = &account;
    populated.sums.add(change, bytes);
  }
}

// A page becomes a swap entry right after it was taken from the page tables (mm/rmap.c,
// try_to_unmap_one), and the other way round when it is read again (mm/memory.c, do_swap_page).
void RssLedger::apply_swap(RssAccount& account, const Event& event, std::int64_t bytes) {
  ThreadAct& act = acts_.of(event.tid);
  if (bytes > 0) {
    const std::int64_t taken = -account.sums.bytes(RssChange::Reclaimed);
    if (const std::int64_t moved = std::min(bytes, taken); moved > 0) {
      account.move(RssChange::Reclaimed, RssChange::SwapOut, {}, -moved);
    }
  } else if (act.in == ThreadAct::In::Fault && act.anonymous) {
    const std::int64_t moved = std::min(-bytes, act.anonymous_bytes);
    account.move(*act.anonymous, RssChange::SwapIn, act.place, moved);
    act.anonymous.reset();
  }
}

namespace {

// Of a change that another task made, or one that has no address space.
RssChange reason_of_other(const RssAccount& account, const Event& event, std::int64_t bytes) {
  if (account.pid == 0) {
    return bytes > 0 ? RssChange::Inherited : RssChange::Exit;
  }
  if (account.pid == event.pid) {  // it has left its address space: kernel/exit.c, exit_mm
    return bytes > 0 ? RssChange::Kernel : RssChange::Exit;
  }
  return bytes > 0 ? RssChange::ByOthers : RssChange::Reclaimed;
}

RssChange reason_in_call(SystemCall call, std::int64_t bytes) {
  if (bytes > 0) {
    return RssChange::Populated;
  }
  return call == SystemCall::Madvise ? RssChange::Advised : RssChange::Unmapped;
}

}  // namespace

RssChange RssLedger::reason(const RssAccount& account,
                            const Event& event,
                            const RssStat& stat,
                            std::int64_t bytes) {
  if (!stat.is_of_task) {
    return reason_of_other(account, event, bytes);
  }
  ThreadAct& act = acts_.of(event.tid);
  if (act.in == ThreadAct::In::Fault) {
    return reason_in_fault(act, stat.member, bytes);
  }
  if (act.in == ThreadAct::In::Call && act.call != SystemCall::Other) {
    return reason_in_call(act.call, bytes);
  }
  const auto page = static_cast<std::int64_t>(page_bytes_);
  act.has_dropped_page = stat.member == RssMember::File && bytes == -page;
  if (bytes > 0) {
    return RssChange::Kernel;
  }
  return sees_calls_ ? RssChange::Reclaimed : RssChange::Unmapped;
}

RssChange RssLedger::reason_in_fault(ThreadAct& act, RssMember member, std::int64_t bytes) {
  const auto page = static_cast<std::int64_t>(page_bytes_);
  if (bytes < 0) {
    const bool is_replaced = act.is_copy && member == RssMember::File && bytes == -page;
    return is_replaced ? RssChange::Replaced : RssChange::Reclaimed;
  }
  if (member == RssMember::SharedMemory) {
    return RssChange::Shared;
  }
  if (member == RssMember::File) {
    const bool is_first = !act.has_file_page;
    act.has_file_page = true;
    return is_first ? RssChange::File : RssChange::Around;
  }
  RssChange change = RssChange::FirstTouch;
  if (bytes >= page * page / 8) {  // an entry of the page tables has 8 bytes
    change = RssChange::Huge;
  } else if (act.kind == PlaceKind::Stack) {
    change = RssChange::Stack;
  } else if (act.is_copy) {
    change = RssChange::Copied;
  }
  ++touches_;
  batched_ += change != RssChange::Huge && bytes > page ? 1 : 0;
  act.anonymous = change;
  act.anonymous_bytes = bytes;
  return change;
}

// All members are 0 when the last task has left an address space.
void RssLedger::note_end(RssAccount& account,
                         const Event& event,
                         const RssStat& stat,
                         const World& world) {
  const bool is_left = account.pid == 0 || account.pid == event.pid;
  const bool has_shrunk = account.sums.count(RssChange::Exit) > 0 || stat.bytes == 0;
  account.is_torn_down = account.is_torn_down || (is_left && !stat.is_of_task && has_shrunk);
  if (!account.is_torn_down) {
    return;
  }
  // The address space of a process that did nothing but to leave it.
  if (account.pid == 0 && !by_pid_.contains(event.pid) &&
      snapshot_of(world, kResidentAtBegin, event.pid, event.time_ns)) {
    claim(account, event.pid, event.time_ns, world);
  }
  if (!is_empty(account)) {
    return;
  }
  account.is_ended = true;
  by_mm_.erase(account.mm_id);
  if (++ended_ > kMaxEnded) {
    forget_oldest();
  }
}

void RssLedger::forget_oldest() {
  const auto oldest = std::ranges::find_if(accounts_, &RssAccount::is_ended);
  if (oldest == accounts_.end()) {
    return;
  }
  older_ += oldest->sums;
  if (const auto known = by_pid_.find(oldest->pid);
      known != by_pid_.end() && known->second == &*oldest) {
    by_pid_.erase(known);
  }
  std::erase_if(populated_, [&](const auto& entry) { return entry.second.account == &*oldest; });
  accounts_.erase(oldest);
  --ended_;
}

// Only now it is known where the kernel has put the mapping that it has filled.
void RssLedger::end_mmap(const Event& event, const SystemCallDone& done, const World& world) {
  const auto populated = populated_.find(event.tid);
  if (populated == populated_.end()) {
    return;
  }
  if (done.call == SystemCall::Mmap && !done.failed()) {
    auto& places = populated->second.account->places;
    const RssSums& sums = populated->second.sums;
    const RssPlace place = rss_place(world, event.pid, static_cast<std::uint64_t>(done.result));
    places[place] += sums;
    places[{}].add(RssChange::Populated,
                   -sums.bytes(RssChange::Populated),
                   0 - sums.count(RssChange::Populated));
  }
  populated_.erase(populated);
}

void RssLedger::begin_interval() {
  ended_ = 0;
  older_ = {};
  batched_ = 0;
  touches_ = 0;
  populated_.clear();
  std::erase_if(by_pid_, [](const auto& entry) { return entry.second->is_ended; });
  std::erase_if(accounts_, [](const RssAccount& account) { return account.is_ended; });
  for (RssAccount& account : accounts_) {
    account.sums = {};
    account.places.clear();
    account.while_read_bytes = 0;
    account.peak_bytes = account.resident_bytes();
  }
}

}  // namespace memtrace
