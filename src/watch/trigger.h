// The words of `memtrace watch --on`: what makes it write a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace memtrace {

enum class TriggerKind : std::uint8_t { Oom, Enomem, SwapIn, Reclaim, Rss, Available };

struct Trigger {
  TriggerKind kind = TriggerKind::Oom;
  std::string word;  // as the user wrote it: "rss(redis-server)>4G"
  std::string comm;  // of Rss: a pattern with * and ?
  // Pages a second, nanoseconds or bytes; of Available with a share, thousandths of a percent.
  std::uint64_t limit = 0;
  bool is_share = false;  // of Available: the limit is a share of MemTotal

  // What a file's name has of it: "oom", "swap-in".
  std::string label() const;

  // The view whose events show it; "" where figures of /proc do.
  std::string view() const;
};

// Error: Usage, names the word and lists those that are known.
Result<Trigger> parse_trigger(const std::string& word);
Result<std::vector<Trigger>> parse_triggers(const std::vector<std::string>& words);

// One of each kind, with the limit of the man page's example.
std::vector<Trigger> each_trigger();

// All forms, as the man page has them: "oom, enomem, swap-in>1000/s, ...".
std::string known_triggers();

}  // namespace memtrace
