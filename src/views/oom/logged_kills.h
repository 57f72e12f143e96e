// Kills for lack of memory as the kernel's log has them: from dmesg(1), journalctl(1) or
// /var/log/messages. Nothing needs to have been recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/report.h"
#include "views/oom/oom_kills.h"

namespace memtrace {

// In the order of the log. Lines have any prefix. Known of a kill are the trigger, the victim and
// its memory, the cgroup and its limit; when it was, is the text "clock" of what was seen: as the
// log has it. The functions of the stack are not read.
std::vector<OomKill> kills_in_log(std::string_view log);

// When a line of a log was written, as it says itself; "" for a line of another kind.
std::string logged_time(std::string_view line);

// NAME of "[   90.1] NAME invoked oom-killer: ...", where the words are those behind it: names may
// have blanks.
std::string logged_name(std::string_view line, std::string_view words);

// The table of kills that are alike, by these keys or the default ones. Error: Usage, an unknown
// key.
Result<Report> report_logged_kills(std::span<const OomKill> kills, const ViewOptions& options);

}  // namespace memtrace
