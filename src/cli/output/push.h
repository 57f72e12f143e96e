// A report as pprof to a server that collects profiles: Pyroscope's POST /ingest, which other
// servers and collectors take, too (grafana.com/docs/pyroscope, "Server HTTP API").
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/output/curl.h"
#include "report/report.h"

namespace memtrace {

// What a request is made from beside the report.
struct PushTarget {
  std::string url{};    // with or without a path
  std::string token{};  // "": none
};

// Error: Usage, no address of a server, or a token that would be readable on its way.
Result<PushTarget> read_push_target(std::string_view url, const char* token);

// The address with the path and the query that say what is sent. Error: the recording does not say
// at which time it was made.
Result<std::string> push_url(const PushTarget& target, const Report& report);

// The profile, and what each of its costs is, as a form (multipart/form-data, RFC 7578).
std::string push_body(const Report& report, std::string_view boundary);

// Sends it. Error: what failed; nothing is sent again.
Result<> push_report(const PushTarget& target, const Report& report);

}  // namespace memtrace
