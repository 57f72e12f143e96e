#include "identity/identity_watch.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "identity/memory_cgroup.h"
#include "os/procfs.h"
#include "os/system.h"
#include "perf/target/proc_snapshot.h"

namespace memtrace {
namespace {

// What nobody announces is looked at so often.
constexpr std::uint64_t kLookAgainNs = 1'000'000'000;
// A clock of records that nobody can read is known from the records, the newest of which is so old
// at most.
constexpr std::uint64_t kOldestTickNs = 200'000'000;

}  // namespace

std::string_view known_cgroup(const World& world, const Event& event) {
  return event.identity.valid() ? world.identities().cgroup(event.identity) : std::string_view();
}

std::optional<SeenProcess> parse_process(std::string_view status, std::string_view cgroups) {
  const auto uids = status_uids(status);
  if (uids.empty()) {
    return std::nullopt;
  }
  const std::string_view state = proc_field(status, "State");
  return SeenProcess{.uid = uids.front(),
                     .cgroup = without_deleted(find_memory_cgroup(cgroups).path),
                     .ended = state.starts_with('Z') || state.starts_with('X')};
}

std::optional<SeenProcess> read_process(std::uint32_t pid) {
  const std::string status = proc_text(pid, "status");
  auto seen = parse_process(status, proc_text(pid, "cgroup"));  // none: no cgroups in this kernel
  // After it: a process that has exited may have done so before.
  const auto stat = parse_stat(proc_text(pid, "stat"));
  if (seen && (!stat || is_exiting(*stat))) {
    seen->ended = true;
  }
  return seen;
}

bool is_exiting(const ProcStat& stat) {
  constexpr std::uint64_t kExiting = 4;  // PF_EXITING (include/linux/sched.h)
  return (stat.flags & kExiting) != 0;
}

std::unordered_map<std::uint32_t, std::string> parse_passwd(std::string_view passwd) {
  std::unordered_map<std::uint32_t, std::string> names;
  for (const std::string_view line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    const auto uid = fields.size() > 2 ? parse_number(fields[2]) : std::nullopt;
    if (uid) {
      names.try_emplace(static_cast<std::uint32_t>(*uid), fields[0]);  // the first counts
    }
  }
  return names;
}

IdentityWatch::IdentityWatch(World& world, Setup setup) : world_(world), setup_(std::move(setup)) {
  const auto passwd = read_file("/etc/passwd");
  unnamed_ = parse_passwd(passwd.ok() ? passwd.value() : "");
}

void IdentityWatch::read_all(const Target& target) {
  for (const std::uint32_t pid : processes_of(target)) {
    if (const auto seen = setup_.read(pid)) {
      add(pid, *seen);
    }
  }
}

// What happens from now on is on records, or announced.
void IdentityWatch::add(std::uint32_t pid, const SeenProcess& seen) {
  Task& task = tasks_[pid];
  task.sure_ns = setup_.now_ns();
  set(0, pid, task, world_.identities().intern(seen.uid, seen.ended ? "" : seen.cgroup));
  task.is_due = false;
  task.next_ns = 0;
}

void IdentityWatch::read_new(const Target& target) {
  if (target.kind != TargetKind::System) {
    return;
  }
  const auto pids = process_ids();
  for (const std::uint32_t pid : pids.ok() ? pids.value() : std::vector<std::uint32_t>()) {
    if (!tasks_.contains(pid)) {
      look(0, pid, tasks_[pid]);
    }
  }
}

void IdentityWatch::before(const Record& record) {
  const std::uint64_t time_ns = record.stamp.time_ns;
  if (std::holds_alternative<Tick>(record.payload)) {
    last_tick_ = record.stamp;
    last_tick_at_ns_ = setup_.now_ns();
    is_drained_ = false;  // what comes now was taken from the rings after this
    return;
  }
  advance(time_ns);
  if (const auto* sample = std::get_if<Sample>(&record.payload)) {
    on_sample(time_ns, sample->pid);
  } else if (const auto* fork = std::get_if<Fork>(&record.payload)) {
    on_fork(time_ns, *fork);
  } else if (const auto* comm = std::get_if<Comm>(&record.payload); comm != nullptr && comm->exec) {
    Task& task = tasks_[comm->pid];
    task.is_due = task.is_due || !is_announced(task.identity);
    // At once, though it may never have an event: its children are what it is.
    on_sample(time_ns, comm->pid);
  } else if (const auto* lost = std::get_if<Lost>(&record.payload);
             lost != nullptr && lost->count > 0 && lost->reason != LossReason::Overload) {
    lost_ns_ = setup_.monotonic_clock ? time_ns : setup_.now_ns();
  } else if (const auto* exit = std::get_if<Exit>(&record.payload)) {
    thread_uids_.erase(exit->tid);
  }
}

// Announcements are written before the call that they are of returns: what a record says that has
// been taken from a ring came after all that was announced before it.
void IdentityWatch::advance(std::uint64_t time_ns) {
  if (!is_drained_ && setup_.announcements) {
    for (Announcement& announcement : setup_.announcements->take()) {
      announced_.push_back(std::move(announcement));
    }
  }
  is_drained_ = true;
  while (true) {
    const std::uint64_t announced_ns = announced_.empty() ? kNever : announced_.front().time_ns;
    const std::uint64_t change_ns = changes_.empty() ? kNever : changes_.front().time_ns;
    if (std::min(announced_ns, change_ns) > time_ns) {
      return;
    }
    if (change_ns <= announced_ns) {
      apply(std::exchange(changes_.front(), {}));
      changes_.pop_front();
    } else {
      apply(std::exchange(announced_.front(), {}));
      announced_.pop_front();
    }
  }
}

void IdentityWatch::apply(const Announcement& announcement) {
  const auto task = tasks_.find(announcement.pid);
  switch (announcement.kind) {
    case Announcement::Kind::Moved:
      // A thread that moves alone, or a process that nobody watches, is not among them.
      if (task != tasks_.end()) {
        const bool is_told = !announcement.cgroup.empty();
        task->second.presumed = with_cgroup(task->second.presumed, "");
        task->second.is_due = task->second.is_due || !is_told;
        set(announcement.time_ns,
            task->first,
            task->second,
            with_cgroup(task->second.identity, announcement.cgroup));
      }
      return;
    case Announcement::Kind::User:
      on_user(announcement);
      return;
    case Announcement::Kind::Renamed:
      on_renamed(announcement);
      return;
    case Announcement::Kind::Lost:
      lost_ns_ = setup_.now_ns();
      return;
  }
}

// Each thread has its own (credentials(7)); the C library changes all of them, one after the other.
void IdentityWatch::on_user(const Announcement& announcement) {
  const auto task = tasks_.find(announcement.pid);
  if (task == tasks_.end()) {
    return;
  }
  if (announcement.tid == announcement.pid) {
    task->second.presumed = with_user(task->second.presumed, kUnknownUser);
    set(announcement.time_ns,
        task->first,
        task->second,
        with_user(task->second.identity, announcement.uid));
  } else {
    thread_uids_[announcement.tid] = announcement.uid;
  }
}

// For version 1: no event says which of the siblings has the new name.
void IdentityWatch::on_renamed(const Announcement& announcement) {
  const std::string_view path = announcement.cgroup;
  const std::string_view folder =
      path.substr(0, path.empty() ? 0 : path.rfind('/') + 1);  // "" is the start of all
  for (auto& [pid, task] : tasks_) {
    if (cgroup_of(task.identity).starts_with(folder) && cgroup_of(task.identity) != "/") {
      task.presumed = with_cgroup(task.identity, "");
      task.is_due = true;
      set(announcement.time_ns, pid, task, task.presumed);
    }
  }
}

void IdentityWatch::on_fork(std::uint64_t time_ns, const Fork& fork) {
  const auto creator = thread_uids_.find(fork.parent_tid);
  const auto uid = creator == thread_uids_.end() ? std::nullopt : std::optional(creator->second);
  thread_uids_.erase(fork.tid);
  if (fork.pid == fork.parent_pid) {
    if (uid) {
      thread_uids_[fork.tid] = *uid;
    }
    return;
  }
  const IdentityId inherited = world_.identity_of(fork.parent_pid);
  Task& task = tasks_[fork.pid];
  const std::uint32_t life = task.life + 1;
  task = child_of(fork, uid);
  task.life = life;
  if (task.identity != inherited) {  // with the fork itself it gets its parent's
    note_change({.time_ns = time_ns + 1,
                 .pid = fork.pid,
                 .life = life,
                 .identity = task.identity,
                 .is_of_fork = true});
  }
}

// `uid`: of the thread that forks, where it is not its process's.
IdentityWatch::Task IdentityWatch::child_of(const Fork& fork, std::optional<std::uint32_t> uid) {
  Task child;
  child.next_ns = kNever;
  const auto found = tasks_.find(fork.parent_pid);
  if (found == tasks_.end()) {
    return child;
  }
  const Task& parent = found->second;
  const IdentityTable& identities = world_.identities();
  child.sure_ns = parent.sure_ns;
  child.presumed = world_.identities().intern(
      uid_of(identities.knows_user(parent.identity) ? parent.identity : parent.presumed),
      std::string(
          cgroup_of(identities.knows_cgroup(parent.identity) ? parent.identity : parent.presumed)));
  const bool tell_users = setup_.announcements && setup_.announcements->tell_users();
  const bool tell_cgroups = setup_.announcements && setup_.announcements->tell_cgroups();
  child.identity = world_.identities().intern(
      tell_users ? uid.value_or(uid_of(parent.identity)) : kUnknownUser,
      tell_cgroups ? std::string(cgroup_of(parent.identity)) : std::string());
  child.is_due = !identities.knows_user(child.identity) || !identities.knows_cgroup(child.identity);
  return child;
}

void IdentityWatch::apply(const Change& change) {
  Task& task = tasks_[change.pid];
  if (task.life != change.life) {
    return;
  }
  if (change.is_of_fork) {
    task.identity = IdentityId{~std::uint32_t{0}};  // unlike any: what the world has is another's
    set(change.time_ns, change.pid, task, change.identity);
    return;
  }
  const bool tell_users = setup_.announcements && setup_.announcements->tell_users();
  const bool tell_cgroups = setup_.announcements && setup_.announcements->tell_cgroups();
  IdentityId identity = task.identity;
  if (uid_of(change.identity) != kUnknownUser &&
      (!tell_users || uid_of(identity) == kUnknownUser)) {
    identity = with_user(identity, uid_of(change.identity));
  }
  if (!cgroup_of(change.identity).empty() && (!tell_cgroups || cgroup_of(identity).empty())) {
    identity = with_cgroup(identity, cgroup_of(change.identity));
  }
  set(change.time_ns, change.pid, task, identity);
}

void IdentityWatch::on_sample(std::uint64_t time_ns, std::uint32_t pid) {
  if (pid == 0 || pid == kKernelPid) {
    return;
  }
  if (last_ == nullptr || last_pid_ != pid) {
    last_ = &tasks_[pid];
    last_pid_ = pid;
  }
  Task& task = *last_;
  if (!task.is_due && time_ns < task.next_ns && task.sure_ns >= lost_ns_) {
    return;
  }
  // What was read before the first event is of a time that is not on the records' clock.
  if (task.is_due || task.next_ns != 0 || task.sure_ns < lost_ns_) {
    look(time_ns, pid, task);
  }
  task.is_due = false;
  task.next_ns = is_announced(task.identity) ? kNever : time_ns + kLookAgainNs;
}

// What /proc shows is of this moment, and the record is older. They agree where the process is what
// it was presumed to be; else it has changed in between, nobody knows when.
void IdentityWatch::look(std::uint64_t time_ns, std::uint32_t pid, Task& task) {
  const auto seen = setup_.read(pid);
  const bool in_doubt = task.sure_ns < lost_ns_;
  const IdentityTable& identities = world_.identities();
  const std::uint32_t uid = seen ? seen->uid : kUnknownUser;
  const std::string cgroup = seen && !seen->ended ? seen->cgroup : std::string();
  const bool knew_user = identities.knows_user(task.identity);
  const bool knew_cgroup = identities.knows_cgroup(task.identity);
  const std::uint32_t old_uid = uid_of(knew_user ? task.identity : task.presumed);
  const std::string old_cgroup(cgroup_of(knew_cgroup ? task.identity : task.presumed));
  const bool keeps_user = (knew_user && !in_doubt) || old_uid == uid;
  const bool keeps_cgroup = (knew_cgroup && !in_doubt) || old_cgroup == cgroup;
  task.presumed = world_.identities().intern(old_uid, old_cgroup);
  task.sure_ns = setup_.now_ns();
  task.is_due = false;
  set(time_ns,
      pid,
      task,
      world_.identities().intern(keeps_user ? old_uid : kUnknownUser,
                                 keeps_cgroup ? old_cgroup : std::string()));
  if (seen && (uid != uid_of(task.identity) || cgroup != cgroup_of(task.identity))) {
    note_change({.time_ns = record_now_ns(),
                 .pid = pid,
                 .life = task.life,
                 .identity = world_.identities().intern(uid, cgroup)});
  }
}

void IdentityWatch::set(std::uint64_t time_ns, std::uint32_t pid, Task& task, IdentityId identity) {
  if (identity == task.identity) {
    return;
  }
  task.identity = identity;
  name_user(uid_of(identity));
  world_.identify(pid, identity);
  log_.add({time_ns, pid, uid_of(identity), std::string(cgroup_of(identity))});
}

void IdentityWatch::note_change(Change change) {
  const auto after = std::ranges::upper_bound(changes_, change.time_ns, {}, &Change::time_ns);
  changes_.insert(after, change);
}

// Whether nothing needs to be read of such a process any more.
bool IdentityWatch::is_announced(IdentityId identity) const {
  const IdentityTable& identities = world_.identities();
  return setup_.announcements && setup_.announcements->tell_users() &&
         setup_.announcements->tell_cgroups() && identities.knows_user(identity) &&
         identities.knows_cgroup(identity);
}

// Not before now.
std::uint64_t IdentityWatch::record_now_ns() const {
  const std::uint64_t now_ns = setup_.now_ns();
  return setup_.monotonic_clock ? now_ns
                                : last_tick_.time_ns + (now_ns - last_tick_at_ns_) + kOldestTickNs;
}

IdentityId IdentityWatch::with_user(IdentityId identity, std::uint32_t uid) {
  return world_.identities().intern(uid, std::string(cgroup_of(identity)));
}

IdentityId IdentityWatch::with_cgroup(IdentityId identity, std::string_view cgroup) {
  return world_.identities().intern(uid_of(identity), cgroup);
}

std::uint32_t IdentityWatch::uid_of(IdentityId identity) const {
  return identity.valid() ? world_.identities().uid(identity) : kUnknownUser;
}

std::string_view IdentityWatch::cgroup_of(IdentityId identity) const {
  return identity.valid() ? world_.identities().cgroup(identity) : std::string_view();
}

void IdentityWatch::name_user(std::uint32_t uid) {
  if (const auto named = unnamed_.extract(uid)) {
    world_.identities().name_user(uid, named.mapped());
    log_.name_user(uid, named.mapped());
  }
}

}  // namespace memtrace
