#include "state/process/process_table.h"

namespace memtrace {

Process& ProcessTable::process(std::uint32_t pid) {
  Process& process = processes_[pid];
  if (process.serial == 0) {
    process.pid = pid;
    process.serial = ++serial_;
    ++seen_;
  }
  return process;
}

const Process* ProcessTable::find(std::uint32_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : &found->second;
}

StringId ProcessTable::comm(std::uint32_t pid, std::uint32_t tid) const {
  if (const auto thread = thread_comms_.find(tid); thread != thread_comms_.end()) {
    return thread->second;
  }
  const Process* owner = find(pid);
  return owner == nullptr ? StringId{} : owner->comm;
}

void ProcessTable::rename(std::uint32_t pid, std::uint32_t tid, StringId comm) {
  thread_comms_[tid] = comm;
  Process& owner = process(pid);
  if (pid == tid) {
    owner.comm = comm;
  }
}

void ProcessTable::exec(std::uint32_t pid) {
  Process& process = this->process(pid);
  process.serial = ++serial_;
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
    if (const Process* parent = find(task.parent_pid)) {
      child.space = parent->space;
      child.identity = parent->identity;
    }
    ++seen_;
    processes_[task.pid] = std::move(child);
  }
  if (comm.valid()) {
    thread_comms_[task.tid] = comm;
  } else {
    thread_comms_.erase(task.tid);  // a former life's name
  }
}

void ProcessTable::exit(std::uint32_t pid, std::uint32_t tid) {
  if (const auto found = processes_.find(pid); pid == tid && found != processes_.end()) {
    found->second.exited = true;
  }
}

}  // namespace memtrace
