#include "views/resident/ledger_processes.h"

#include <algorithm>
#include <utility>

namespace memtrace {
namespace {

using Snapshots = std::map<std::uint32_t, ResidentSnapshot>;

Snapshots read_at(const World& world, std::string_view reader, std::uint64_t until_ns) {
  Snapshots snapshots;
  const Observation* seen = world.observations().last(reader);
  if (seen == nullptr || seen->time_ns > until_ns) {
    return snapshots;
  }
  for (const Facts& facts : seen->rows) {
    if (auto snapshot = resident_snapshot(facts)) {
      snapshots[snapshot->pid] = std::move(*snapshot);
    }
  }
  return snapshots;
}

std::int64_t as_signed(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

RssChange change_of(const FirstTouch& touch) {
  switch (touch.has_area ? touch.kind : AreaKind::Anonymous) {
    case AreaKind::File:
      return RssChange::File;
    case AreaKind::Stack:
      return RssChange::Stack;
    case AreaKind::SharedMemory:
      return RssChange::Shared;
    default:
      return RssChange::FirstTouch;
  }
}

std::string place_of_touch(const FirstTouch& touch, const World& world) {
  using Kind = RssPlace::Kind;
  if (!touch.has_area) {
    return name_of({}, world);
  }
  switch (touch.kind) {
    case AreaKind::Heap:
      return name_of({.kind = Kind::Heap}, world);
    case AreaKind::Stack:
      return name_of({.kind = Kind::Stack}, world);
    case AreaKind::Anonymous:
      return name_of({.kind = Kind::Anonymous}, world);
    default:
      return name_of({.kind = Kind::Named, .path = touch.path}, world);
  }
}

const FirstTouches::Space* space_of(const World& world, std::uint32_t pid) {
  const auto& spaces = world.first_touches().spaces();
  const auto found = spaces.find(pid);
  return found == spaces.end() ? nullptr : &found->second;
}

// The changes since `former`, which is then what has been reported.
RssSums since(RssSums& former, const RssSums& now) {
  RssSums change;
  for (std::size_t i = 0; i < kRssChanges; ++i) {
    const auto kind = static_cast<RssChange>(i);
    change.add(kind, now.bytes(kind) - former.bytes(kind), now.count(kind) - former.count(kind));
  }
  former = now;
  return change;
}

}  // namespace

std::vector<LedgerProcess> LedgerProcesses::take(const World& world,
                                                 const RssLedger* ledger,
                                                 std::uint64_t end_ns) {
  Processes processes;
  if (ledger != nullptr) {
    add_accounts(world, *ledger, processes);
  } else {
    add_touches(world, end_ns, processes);
  }
  add_readings(world, end_ns, processes);
  std::vector<LedgerProcess> taken;
  for (auto& [pid, process] : processes) {
    process.pid = pid;
    settle(world, process);
    taken.push_back(std::move(process));
  }
  former_ = read_at(world, kResidentAtEnd, end_ns);
  has_reported_ = true;
  return taken;
}

void LedgerProcesses::add_accounts(const World& world,
                                   const RssLedger& ledger,
                                   Processes& processes) {
  for (const RssAccount& account : ledger.accounts()) {
    if (account.pid == 0) {
      continue;
    }
    const auto [found, is_first] = processes.try_emplace(account.pid);
    LedgerProcess& process = found->second;
    if (is_first && account.began) {
      process.begin = 0;
    }
    process.is_ended = account.is_ended;
    process.is_end_seen = account.is_ended;
    process.sums += account.sums;
    process.peak = std::max(process.peak, account.peak_bytes);
    process.while_read += account.while_read_bytes;
    for (const auto& [place, sums] : account.places) {
      process.mappings[name_of(place, world)] += sums;
    }
  }
}

// Without kmem:rss_stat. What ended processes had is known until their ids are forgotten.
void LedgerProcesses::add_touches(const World& world, std::uint64_t end_ns, Processes& processes) {
  const FirstTouches& first = world.first_touches();
  const ResidentCount count(world, end_ns);
  const auto bytes = [&](std::uint64_t pages) {
    return as_signed(pages * world.page_size_bytes() * first.weight());
  };
  Touches now;
  for (std::size_t i = 0; i < first.touches().size(); ++i) {
    const FirstTouch& touch = first.touches()[i];
    const FirstTouches::Sums& sums = first.sums()[i];
    const TouchedPages& pages = count.touches()[i];
    RssSums& mapping = now[{touch.pid, place_of_touch(touch, world)}];
    const std::uint64_t ended = pages.ended + sums.ended;
    mapping.add(change_of(touch), bytes(sums.touched), sums.touched);
    mapping.add(RssChange::Around, bytes(pages.beside), pages.beside);
    mapping.add(RssChange::Unmapped, -bytes(sums.freed), sums.freed);
    mapping.add(RssChange::Exit, -bytes(ended), ended);
    mapping.add(RssChange::Reclaimed, -bytes(pages.gone), pages.gone);
  }
  add_pages(count, name_of({.kind = RssPlace::Kind::Whole}, world), now);
  for (const auto& [where, sums] : now) {
    const RssSums change = since(former_touches_[where], sums);
    processes[where.first].sums += change;
    processes[where.first].mappings[where.second] += change;
  }
  for (const auto& [pid, space] : first.spaces()) {
    if (const auto known = processes.find(pid); known != processes.end()) {
      known->second.is_ended = space.ended;
      known->second.begin = space.began ? std::optional<std::int64_t>(0) : std::nullopt;
    }
  }
}

// Two readings of the page tables say what became of pages that no fault was seen of.
void LedgerProcesses::add_pages(const ResidentCount& count,
                                const std::string& whole,
                                Touches& now) {
  for (const ResidentCount::Process& read : count.processes()) {
    RssSums& sums = now[{read.pid, whole}];
    sums.add(RssChange::Inherited, as_signed(read.inherited), 1);
    if (read.rss_begin) {
      sums.add(RssChange::Before, as_signed(read.before) - as_signed(*read.rss_begin), 1);
    }
  }
}

void LedgerProcesses::add_readings(const World& world,
                                   std::uint64_t end_ns,
                                   Processes& processes) const {
  Snapshots before = has_reported_ ? former_ : read_at(world, kResidentAtBegin, end_ns);
  for (auto& [pid, snapshot] : before) {
    LedgerProcess& process = processes[pid];
    const FirstTouches::Space* space = space_of(world, pid);
    const bool began = space != nullptr && space->began && !has_reported_;
    if (began && process.begin == 0) {
      continue;  // it has called execve(2): its accounts begin before that, or after it
    }
    process.begin = as_signed(snapshot.rss_bytes);
    process.first = std::move(snapshot.parts);
    process.first_swap = snapshot.swap_bytes;
    process.comm = std::move(snapshot.comm);
  }
  for (auto& [pid, snapshot] : read_at(world, kResidentAtEnd, end_ns)) {
    LedgerProcess& process = processes[pid];
    process.end = as_signed(snapshot.rss_bytes);
    process.last = snapshot.parts;
    process.last_swap = snapshot.swap_bytes;
    process.comm = snapshot.comm;
  }
}

void LedgerProcesses::settle(const World& world, LedgerProcess& process) {
  const FirstTouches::Space* space = space_of(world, process.pid);
  const bool is_gone = process.is_ended || (space != nullptr && space->ended);
  if (is_gone && !process.end) {
    process.is_ended = true;
    process.end = 0;
  }
  // The kernel may close a task's own events before it gives its memory back (kernel/exit.c:
  // perf_event_exit_task), and another task may be the last to leave the address space. What it had
  // then is by the changes that were seen, so that nothing checks them.
  if (process.is_ended && process.begin && !process.is_end_seen) {
    const std::int64_t left = *process.begin + process.sums.total();
    if (left > 0) {
      const std::string whole = name_of({.kind = RssPlace::Kind::Whole}, world);
      process.sums.add(RssChange::ExitUnseen, -left);
      process.mappings[whole].add(RssChange::ExitUnseen, -left);
    }
  }
  process.peak = std::max({process.peak, process.begin.value_or(0), process.end.value_or(0)});
  if (process.comm.empty()) {
    const StringId comm = world.processes().comm(process.pid, process.pid);
    process.comm = comm.valid() ? world.strings().at(comm) : "";
  }
}

}  // namespace memtrace
