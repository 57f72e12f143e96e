#include "cli/past_kills.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "observe/kernel_log.h"
#include "os/system.h"
#include "report/arrange.h"
#include "views/failure/logged_failures.h"
#include "views/oom/logged_kills.h"

namespace memtrace {
namespace {

constexpr const char* kJournalctl = "/usr/bin/journalctl";

// All that comes; "" when there is nothing or an error.
std::string read_stream(std::FILE* stream) {
  std::string text;
  std::array<char, 65536> piece{};
  std::size_t got = 0;
  while ((got = std::fread(piece.data(), 1, piece.size(), stream)) > 0) {
    text.append(piece.data(), got);
  }
  return text;
}

// What the kernel said at this boot and those before it, as far as the journal was kept.
std::string kernel_journal() {
  if (::access(kJournalctl, X_OK) != 0) {
    return {};
  }
  const std::string command =
      std::string(kJournalctl) + " --quiet --no-pager -o short-iso _TRANSPORT=kernel 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(::popen(command.c_str(), "r"),
                                                               ::pclose);
  return stream == nullptr ? std::string() : read_stream(stream.get());
}

Result<std::string> read_log(const std::vector<std::string>& files) {
  if (files.empty()) {
    std::string journal = kernel_journal();
    return journal.empty() ? kernel_log_by_wall_clock() : Result<std::string>(std::move(journal));
  }
  std::string text;
  for (const std::string& file : files) {
    if (file == "-") {
      text += read_stream(stdin);
      continue;
    }
    auto read = read_file(file);
    if (!read.ok()) {
      return read;
    }
    text += read.value();
  }
  return text;
}

}  // namespace

Result<ExitStatus> print_past_kills(const ParsedOptions& parsed) {
  auto session = read_session(parsed);
  auto log = read_log(parsed.positional());
  if (!session.ok() || !log.ok()) {
    return session.ok() ? log.take_error() : session.take_error();
  }
  auto report = report_logged_kills(kills_in_log(log.value()), session.value().view_options);
  if (!report.ok()) {
    return report.take_error();
  }
  TRY(print_report(report.value(), {.format = parsed.text("format", "text")}));
  return 0;
}

Result<ExitStatus> print_past_failures(const ParsedOptions& parsed) {
  auto log = read_log(parsed.positional());
  if (!log.ok()) {
    return log.take_error();
  }
  TRY(print_report(report_logged_failures(log.value()), {.format = parsed.text("format", "text")}));
  return 0;
}

}  // namespace memtrace
