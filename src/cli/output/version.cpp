#include "cli/output/version.h"

#include <fmt/core.h>

#include "cli/output/build_facts.h"
#include "cli/output/print.h"

namespace memtrace {
namespace {

std::string build_text() {
  const BuildFacts facts = build_facts();
  std::string text =
      fmt::format("compiler  {}\nflags     {}\nlibraries\n", facts.compiler, facts.flags);
  for (const Component& component : facts.components) {
    text +=
        fmt::format("  {:<14} {:<22} {}\n", component.name, component.version, component.licence);
  }
  return text;
}

}  // namespace

Result<int> print_version(const std::vector<std::string>& words) {
  const bool with_build = words == std::vector<std::string>{"--build"};
  if (!words.empty() && !with_build) {
    return Error{"memtrace version: unknown word '" + words.front() + "'",
                 0,
                 "memtrace version, or memtrace version --build",
                 ErrorKind::Usage};
  }
  TRY(print_text("memtrace " MEMTRACE_VERSION "\n" + (with_build ? build_text() : "")));
  return 0;
}

}  // namespace memtrace
