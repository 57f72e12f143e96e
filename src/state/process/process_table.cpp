#include "state/process/process_table.h"

namespace memtrace {
namespace {

constexpr std::uint32_t kIdlePid = 0;             // of the idle tasks
constexpr std::uint32_t kReapedPid = 0xffffffff;  // of a task that has no pid any more

}  // namespace

Process& ProcessTable::process(std::uint32_t pid) {
  Process& process = processes_[pid];
  if (process.serial == 0) {
    process.pid = pid;
    process.serial = ++serial_;
    process.life = lives_.begin(pid);
    seen_ += pid == kIdlePid || pid == kReapedPid ? 0 : 1;
  }
  return process;
}

const Process* ProcessTable::find(std::uint32_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : &found->second;
}

StringId ProcessTable::comm(std::uint32_t pid, std::uint32_t tid) const {
  if (const auto thread = threads_.find(tid); thread != threads_.end()) {
    return thread->second.comm;
  }
  const Process* owner = find(pid);
  return owner == nullptr ? StringId{} : owner->comm;
}

void ProcessTable::rename(std::uint32_t pid, std::uint32_t tid, StringId comm) {
  threads_[tid] = {comm, pid};
  Process& owner = process(pid);
  if (pid == tid) {
    owner.comm = comm;
  }
}

void ProcessTable::exec(std::uint32_t pid) {
  Process& process = this->process(pid);
  process.serial = ++serial_;
  process.life = lives_.exec(process.life);
  process.exited = false;  // the thread that calls it takes the place of the first one, which ends
  process.space.clear();
}

void ProcessTable::fork(const ForkedTask& task) {
  const StringId comm = this->comm(task.parent_pid, task.parent_tid);
  if (task.pid != task.parent_pid) {
    Process child;
    child.pid = task.pid;
    child.parent_pid = task.parent_pid;
    child.serial = ++serial_;
    child.comm = comm;
    const Process* parent = find(task.parent_pid);
    if (parent != nullptr) {
      child.space = parent->space;
      child.identity = parent->identity;
    }
    child.life =
        lives_.fork(parent == nullptr ? LifeId() : parent->life, task.parent_pid, task.pid);
    ++seen_;
    processes_[task.pid] = std::move(child);
  }
  if (comm.valid()) {
    threads_[task.tid] = {comm, task.pid};
  } else {
    threads_.erase(task.tid);  // a former life's name
  }
}

void ProcessTable::exit(std::uint32_t pid, std::uint32_t tid) {
  if (const auto found = processes_.find(pid); pid == tid && found != processes_.end()) {
    found->second.exited = true;
  }
  if (const auto found = threads_.find(tid); found != threads_.end()) {
    found->second.exited = true;
  }
}

std::map<std::uint32_t, ProcessTable::ThreadNames> ProcessTable::running() const {
  std::map<std::uint32_t, ThreadNames> running;
  for (const auto& [pid, process] : processes_) {
    if (!process.exited) {
      running[pid];
    }
  }
  for (const auto& [tid, thread] : threads_) {
    if (!thread.exited) {
      running[thread.pid][tid] = thread.comm;
    }
  }
  return running;
}

}  // namespace memtrace
