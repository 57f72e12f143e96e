#include "identity/identity_log.h"

#include <fmt/core.h>

#include <climits>
#include <optional>

#include "base/text.h"

namespace memtrace {
namespace {

constexpr std::string_view kUnknown = "-";

std::string_view next_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

std::optional<std::uint32_t> to_id(std::string_view word) {
  const auto number = parse_number(word);
  return number && *number <= 0xffffffffU ? std::optional(static_cast<std::uint32_t>(*number))
                                          : std::nullopt;
}

std::optional<std::uint32_t> next_id(std::string_view& line) {
  return to_id(next_word(line));
}

}  // namespace

void IdentityLog::add(const TaskIdentity& task) {
  const std::string cgroup = number_of(task.cgroup);
  const std::string uid =
      task.uid == kUnknownUser ? std::string(kUnknown) : std::to_string(task.uid);
  text_ += fmt::format("task {} {} {} {}\n", task.time_ns, task.pid, uid, cgroup);
}

void IdentityLog::add_command(const TaskCommand& task) {
  text_ += fmt::format("process {} {} {} ", task.time_ns, task.pid, task.parent_pid);
  text_ += task.command + "\n";
}

std::string IdentityLog::number_of(const std::string& cgroup) {
  if (cgroup.empty()) {
    return std::string(kUnknown);
  }
  const auto [known, is_new] = cgroups_.try_emplace(cgroup, cgroups_.size() + 1);
  if (is_new) {
    text_ += fmt::format("cgroup {} ", known->second) + cgroup + "\n";
  }
  return std::to_string(known->second);
}

void IdentityLog::name_user(std::uint32_t uid, std::string_view name) {
  text_ += fmt::format("user {} ", uid) + std::string(name) + "\n";
}

std::string_view IdentityLog::news() {
  const std::string_view news = std::string_view{text_}.substr(told_);
  told_ = text_.size();
  return news;
}

void IdentityLog::begin_file(std::uint64_t time_ns, const World& world) {
  const std::string later = take_tasks_after(time_ns);
  for (const auto& [pid, threads] : world.processes().running()) {
    if (const IdentityId id = world.identity_of(pid); id.valid()) {
      add({.time_ns = time_ns,
           .pid = pid,
           .uid = world.identities().uid(id),
           .cgroup = std::string(world.identities().cgroup(id))});
    }
    add_command_of(time_ns, pid, world);
  }
  text_ += later;
  told_ = text_.size();
}

void IdentityLog::add_command_of(std::uint64_t time_ns, std::uint32_t pid, const World& world) {
  const Process* process = world.processes().find(pid);
  if (process == nullptr) {
    return;
  }
  const Life& life = world.processes().lives().at(process->life);
  if (life.parent_pid != 0 || life.command.valid()) {
    add_command({.time_ns = time_ns,
                 .pid = pid,
                 .parent_pid = life.parent_pid,
                 .command = std::string(world.strings().at(life.command))});
  }
}

// The text keeps the names of users and cgroups: the log knows which ones it has.
std::string IdentityLog::take_tasks_after(std::uint64_t time_ns) {
  std::string names;
  std::string tasks;
  const std::string_view text = text_;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) + 1 - at);
    at += line.size();
    std::string_view words = line;
    if (const std::string_view kind = next_word(words); kind != "task" && kind != "process") {
      names += line;
    } else if (parse_number(next_word(words)).value_or(0) > time_ns) {
      tasks += line;
    }
  }
  text_ = names;
  return tasks;
}

void IdentityReplay::advance(std::uint64_t time_ns) {
  if (looked_at_ != recording_.identities.size()) {
    read_news();
  }
  while (!due_.empty() && due_.front().time_ns <= time_ns) {
    world_.identify(due_.front().pid, due_.front().identity);
    due_.pop_front();
  }
  while (!due_commands_.empty() && due_commands_.front().time_ns <= time_ns) {
    const TaskCommand& task = due_commands_.front();
    world_.describe(task.pid, task.parent_pid, task.command);
    due_commands_.pop_front();
  }
}

void IdentityReplay::read_news() {
  const std::string_view text = recording_.identities;
  for (std::size_t end = text.find('\n', read_); end != std::string_view::npos;
       end = text.find('\n', read_)) {
    read_line(text.substr(read_, end - read_));
    read_ = end + 1;
  }
  looked_at_ = text.size();
}

void IdentityReplay::read_line(std::string_view line) {
  const std::string_view kind = next_word(line);
  if (kind == "task") {
    return read_task(line);
  }
  if (kind == "process") {
    return read_process(line);
  }
  const auto number = next_id(line);
  if (number && kind == "cgroup") {
    cgroups_[*number] = line.substr(0, PATH_MAX);
  } else if (number && kind == "user") {
    world_.identities().name_user(*number, line);
  }
}

void IdentityReplay::read_task(std::string_view words) {
  const auto time_ns = parse_number(next_word(words));
  const auto pid = next_id(words);
  const std::string_view user = next_word(words);
  const std::string_view cgroup = next_word(words);
  const auto uid = user == kUnknown ? std::optional(kUnknownUser) : to_id(user);
  const auto path = cgroup == kUnknown ? std::optional(std::string_view()) : path_of(cgroup);
  if (time_ns && pid && uid && path) {
    due_.push_back({*time_ns, *pid, world_.identities().intern(*uid, *path)});
  }
}

void IdentityReplay::read_process(std::string_view words) {
  const auto time_ns = parse_number(next_word(words));
  const auto pid = next_id(words);
  const auto parent_pid = next_id(words);
  if (time_ns && pid && parent_pid) {
    due_commands_.push_back({*time_ns, *pid, *parent_pid, std::string(words)});
  }
}

std::optional<std::string_view> IdentityReplay::path_of(std::string_view number) {
  const auto known = parse_number(number);
  return known ? std::optional<std::string_view>(cgroups_[*known]) : std::nullopt;
}

}  // namespace memtrace
