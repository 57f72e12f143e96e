// What of `memtrace watch` works on this machine, for the doctor.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "doctor/doctor.h"
#include "os/own/own_protection.h"
#include "report/report.h"

namespace memtrace {

// The views that show the events of triggers: those that diagnose_watch() asks for.
std::vector<std::string> views_of_triggers();

struct WatchAbility {
  std::string name;  // "oom", "locked memory"
  ViewState state = ViewState::Works;
  std::string finding;  // what is not known or not done; "" when all of it works
};

// `proc` and `refused` say what is true of this machine and this user.
std::vector<WatchAbility> diagnose_watch(std::span<const ViewDiagnosis> views,
                                         const RefusedProtection& refused,
                                         const std::string& proc = "/proc");

Table watch_table(const std::vector<WatchAbility>& abilities);

}  // namespace memtrace
