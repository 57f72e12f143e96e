#include "views/oom/logged_kills.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "views/kit/cells.h"
#include "views/kit/keys.h"
#include "views/oom/oom_groups.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kKiB = 1024;

// What stands behind these words; nothing when they are not there.
std::optional<std::string_view> behind(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  return at == std::string_view::npos ? std::nullopt
                                      : std::optional(line.substr(at + words.size()));
}

std::optional<std::uint64_t> number_behind(std::string_view line, std::string_view words) {
  const auto rest = behind(line, words);
  return rest ? parse_number(rest->substr(0, rest->find_first_not_of("0123456789"))) : std::nullopt;
}

std::string_view up_to(std::string_view text, std::string_view end) {
  return text.substr(0, text.find(end));
}

// The report of a kill begins with who asked for memory and ends with the victim (mm/oom_kill.c):
//
//   hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
//   CPU: 1 PID: 812 Comm: hog Not tainted ...
//   memory: usage 20480kB, limit 20480kB, failcnt 25            (of a cgroup)
//   Task in /small killed as a result of limit of /small        (before 5.0)
//   oom-kill:constraint=CONSTRAINT_MEMCG,...,oom_memcg=/small,task_memcg=/small,task=hog,pid=812
//   Memory cgroup out of memory: Killed process 812 (hog) total-vm:...kB, anon-rss:...kB, ...
class LogReader {
 public:
  std::vector<OomKill> read(std::string_view log) {
    for (const std::string_view line : split(log, '\n')) {
      read_line(line);
    }
    return std::move(kills_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.find(" invoked oom-killer") != std::string_view::npos) {
      kill_ = {};
      kill_.trigger = logged_name(line, " invoked oom-killer");
    } else if (!kill_.trigger.empty() && kill_.trigger_pid == 0 &&
               line.find(" Comm: ") != std::string_view::npos) {
      kill_.trigger_pid = static_cast<std::uint32_t>(number_behind(line, "PID: ").value_or(0));
    } else if (const auto limit = number_behind(line, "kB, limit ");
               limit && line.find("memory: usage ") != std::string_view::npos) {
      facts_.numbers["cgroup_limit"] = *limit * kKiB;
      facts_.numbers["cgroup_usage"] = number_behind(line, "memory: usage ").value_or(0) * kKiB;
    } else if (const auto task = behind(line, "Task in ");
               task && task->find(" killed as a result of limit of ") != std::string_view::npos) {
      kill_.cgroup = up_to(*task, " killed as a result");
    } else if (const auto group = behind(line, ",task_memcg=")) {
      kill_.cgroup = up_to(*group, ",task=");
    }
    if (line.find("emory cgroup out of memory") != std::string_view::npos) {
      kill_.domain = "cgroup";  // in the line of the victim, or before 4.20 in one before it
    }
    if (const auto victim = behind(line, "Killed process ")) {
      add_kill(line, *victim);
    }
  }

  // "812 (hog) total-vm:27000kB, ...", "812, UID 500, (hog) total-vm:..." on RHEL 6.
  void add_kill(std::string_view line, std::string_view victim) {
    const auto pid = parse_number(victim.substr(0, victim.find_first_not_of("0123456789")));
    const auto name = behind(victim, "(");
    if (!pid || !name) {
      return;
    }
    kill_.victim_pid = static_cast<std::uint32_t>(*pid);
    kill_.victim = up_to(*name, ") ");
    if (kill_.victim.ends_with(')')) {
      kill_.victim.pop_back();
    }
    kill_.domain = kill_.domain.empty() ? "machine" : kill_.domain;
    read_memory(victim);
    facts_.texts["clock"] = logged_time(line);
    kill_.time_ns = kills_.size();  // an order and no time
    kill_.seen = Observation{.reader = "oom", .facts = std::exchange(facts_, {})};
    kills_.push_back(std::exchange(kill_, {}));
  }

  void read_memory(std::string_view victim) {
    const auto bytes = [victim](std::string_view name) {
      return number_behind(victim, name).value_or(0) * kKiB;
    };
    kill_.memory_known = victim.find("anon-rss:") != std::string_view::npos;
    kill_.memory.total_vm_bytes = bytes("total-vm:");
    kill_.memory.anon_bytes = bytes("anon-rss:");
    kill_.memory.file_bytes = bytes("file-rss:");
    kill_.memory.shmem_bytes = bytes("shmem-rss:");
    const auto uid = number_behind(victim, "UID:");  // since Linux 5.6
    const auto old_uid = number_behind(victim, "UID ");
    kill_.owner_known = uid || old_uid;
    kill_.memory.uid = static_cast<std::uint32_t>(uid.value_or(old_uid.value_or(0)));
  }

  OomKill kill_;
  Facts facts_;
  std::vector<OomKill> kills_;
};

// Instead of the moment, which no record gave.
void show_logged_times(std::span<const OomGroup> groups, Table& table) {
  table.columns.front() = {"last", Unit::Text};
  for (std::size_t row = 0; row < groups.size(); ++row) {
    const OomKill& last = *groups[row].last;
    table.rows[row].front() = last.seen ? fact(last.seen->facts, "clock") : Cell();
  }
}

}  // namespace

// "Nov 22 14:03:59 host kernel: [ 90.1] text", "2026-11-22T14:03:59+0100 host kernel: text",
// "[Sun Nov 22 14:03:59 2026] text", "<4>[   90.123456] text".
std::string logged_time(std::string_view line) {
  if (line.starts_with('<') && line.find('>') != std::string_view::npos) {
    line.remove_prefix(line.find('>') + 1);
  }
  if (line.starts_with('[')) {
    return std::string(trim(up_to(line.substr(1), "]")));
  }
  const std::string_view before = up_to(line, " kernel:");
  return before.size() == line.size() ? std::string()
                                      : std::string(before.substr(0, before.rfind(' ')));
}

std::string logged_name(std::string_view line, std::string_view words) {
  std::string_view before = up_to(line, words);
  for (const std::string_view end : {"] ", "kernel: "}) {
    if (const std::size_t at = before.rfind(end); at != std::string_view::npos) {
      before.remove_prefix(at + end.size());
    }
  }
  return std::string(before);
}

std::vector<OomKill> kills_in_log(std::string_view log) {
  return LogReader().read(log);
}

Result<Report> report_logged_kills(std::span<const OomKill> kills, const ViewOptions& options) {
  for (const std::string& key : options.by) {
    if (std::ranges::find(kOomKeys, key) == kOomKeys.end()) {
      return unknown_key(key, kOomKeys);
    }
  }
  const std::vector<std::string> keys =
      options.by.empty() ? std::vector<std::string>(kOomDefaultKeys.begin(), kOomDefaultKeys.end())
                         : options.by;
  const std::vector<OomGroup> groups = group_kills(kills, keys);
  Report report{.view = "oom", .title = "OOM kills in the kernel's log"};
  report.totals = {{"kills", Unit::Count, kills.size()}};
  report.tables.push_back(group_table(groups, keys, 0));
  show_logged_times(groups, report.tables.back());
  return report;
}

}  // namespace memtrace
