#include "tracepoints/format/tracefs.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "os/system.h"
#include "tracepoints/format/tep_bridge.h"

namespace memtrace {
namespace {

struct EventName {
  std::string_view group;
  std::string_view event;
};

// Names come from the command line and become paths: no '/', no leading '.'.
bool is_plain(std::string_view part) {
  return !part.empty() && part[0] != '.' && part.find('/') == std::string_view::npos;
}

// Empty parts for anything that is not "group:event".
EventName split_name(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) {
    return {};
  }
  const EventName parts{name.substr(0, colon), name.substr(colon + 1)};
  return is_plain(parts.group) && is_plain(parts.event) ? parts : EventName{};
}

// Takes the list of libtracefs.
std::vector<std::string> matching_names(char** list, std::string_view pattern) {
  std::vector<std::string> names;
  for (char** name = list; name != nullptr && *name != nullptr; ++name) {
    if (glob_match(pattern, *name)) {
      names.emplace_back(*name);
    }
  }
  free_names(list);
  std::ranges::sort(names);
  return names;
}

bool is_pattern(std::string_view name) {
  return name.find_first_of("*?") != std::string_view::npos;
}

// A name without wildcards is looked for as it is: no directory of 2,000 events is read for it.
std::vector<std::string> events_of_group(const std::string& root,
                                         const std::string& group,
                                         std::string_view pattern) {
  if (is_pattern(pattern)) {
    return matching_names(list_events_of_group(root.c_str(), group.c_str()), pattern);
  }
  const bool is_there = path_exists(fmt::format("{}/events/{}/{}/format", root, group, pattern));
  return is_there ? std::vector{std::string(pattern)} : std::vector<std::string>();
}

void add_matching(const std::vector<std::string>& all,
                  const std::string& pattern,
                  std::vector<std::string>& chosen) {
  for (const std::string& event : all) {
    const bool known = std::find(chosen.begin(), chosen.end(), event) != chosen.end();
    if (!known && glob_match(pattern, event)) {
      chosen.push_back(event);
    }
  }
}

// Events with the wanted name in another group, then those nearest by spelling, then those whose
// name contains the wanted one: people leave out the group, or the "mm_" in front.
std::vector<std::string> nearest_events(std::string_view wanted,
                                        const std::vector<std::string>& all) {
  const std::string bare(wanted.substr(wanted.rfind(':') + 1));
  if (bare.find_first_not_of("*?") == std::string::npos) {
    return {};  // every event has such a name
  }
  std::vector<std::string> bare_names;
  bare_names.reserve(all.size());
  for (const std::string& event : all) {
    bare_names.emplace_back(split_name(event).event);
  }
  std::vector<std::string> patterns = {"*:" + bare};
  for (const std::string& name : nearest(wanted, all)) {
    patterns.push_back(name);
  }
  for (const std::string& name : nearest(bare, bare_names)) {
    patterns.push_back("*:" + name);
  }
  patterns.push_back("*:*" + bare + "*");
  std::vector<std::string> chosen;
  for (const std::string& pattern : patterns) {
    add_matching(all, pattern, chosen);
  }
  chosen.resize(std::min<std::size_t>(chosen.size(), 3));
  return chosen;
}

Error fail(std::string doing, int errno_value) {
  const auto lockdown = read_file("/sys/kernel/security/lockdown");
  return explain({.doing = std::move(doing),
                  .errno_value = errno_value,
                  .is_root = ::geteuid() == 0,
                  .lockdown = lockdown.ok() ? lockdown.value() : ""});
}

}  // namespace

// The modes: security/lockdown/lockdown.c. Under "confidentiality" every open below tracefs is
// refused with EPERM (fs/tracefs/inode.c), under "integrity" none is.
Error explain(const TracefsFailure& failure) {
  Error error{failure.doing, failure.errno_value, ""};
  if (failure.lockdown.find("[confidentiality]") != std::string::npos) {
    error.hint =
        "the kernel is locked down (/sys/kernel/security/lockdown: confidentiality), which hides "
        "all tracepoints; boot without lockdown=confidentiality. Page faults need no tracepoints";
  } else if (!failure.is_root) {
    error.hint = "run memtrace as root: tracepoints can be seen by root only";
  } else if (failure.errno_value == EPERM || failure.errno_value == EACCES) {
    error.hint =
        "root may not use tracefs here: in a container, start it with --privileged and "
        "-v /sys/kernel/tracing:/sys/kernel/tracing, or run memtrace on the host";
  } else {
    error.hint =
        "this kernel seems to be built without tracing (CONFIG_FTRACE, CONFIG_TRACING); on Linux "
        "before 4.1 try: mount -t debugfs nodev /sys/kernel/debug";
  }
  return error;
}

Result<std::string> tracefs_root() {
  const std::string before = mounted_tracefs_root();
  if (before.empty() && ::geteuid() != 0) {
    return fail("finding tracefs: it is not mounted", 0);
  }
  const char* found = find_tracing_directory();
  if (found == nullptr) {
    return fail("mount(tracefs, /sys/kernel/tracing)", errno);
  }
  if (before != found) {
    inform("mounted the kernel's tracing directory on " + std::string(found));
  }
  const std::string events = std::string(found) + "/events";
  if (const auto listing = list_directory(events); !listing.ok()) {
    return fail(listing.error().message, listing.error().errno_value);
  }
  return std::string(found);
}

// tracefs_tracing_dir_is_mounted() would say it too, but it came with libtracefs 1.6, which RHEL 9
// does not have, and each call of it leaves a string behind.
std::string mounted_tracefs_root() {
  const auto mounts = read_file("/proc/mounts");
  const std::string text = mounts.ok() ? mounts.value() : "";
  std::string in_debugfs;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split(line, ' ');  // device, directory, type, options
    if (words.size() > 2 && words[2] == "tracefs") {
      return std::string(words[1]);
    }
    if (words.size() > 2 && words[2] == "debugfs" && in_debugfs.empty()) {
      in_debugfs = std::string(words[1]) + "/tracing";
    }
  }
  return in_debugfs;
}

std::string_view usual_header_page() {
  return "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
         "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
         "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
         "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
}

Result<TracepointFiles> TracepointFiles::open() {
  auto root = tracefs_root();
  if (!root.ok()) {
    return root.take_error();
  }
  return TracepointFiles(root.take());
}

Result<TracepointFiles> TracepointFiles::open_as_it_is() {
  const std::string root = mounted_tracefs_root();
  if (root.empty()) {
    return fail("finding tracefs: it is not mounted", 0);
  }
  if (const auto listing = list_directory(root + "/events"); !listing.ok()) {
    return fail(listing.error().message, listing.error().errno_value);
  }
  return TracepointFiles(root);
}

TracepointFiles::TracepointFiles(std::string root) : root_(std::move(root)) {}

bool TracepointFiles::has(std::string_view pattern) const {
  return !find_events(pattern).empty();
}

std::vector<std::string> TracepointFiles::find_events(std::string_view pattern) const {
  const EventName name = split_name(pattern);
  return name.group.empty() ? std::vector<std::string>() : matching(name.group, name.event);
}

Result<std::vector<std::string>> TracepointFiles::list_events(std::string_view pattern) const {
  auto events = find_events(pattern);
  if (events.empty()) {
    return unknown_event(pattern);
  }
  return events;
}

// tracefs_event_file_read() reads in the directory that libtracefs finds itself, or in that of a
// tracefs_instance to be made for it: more code than this.
Result<std::string> TracepointFiles::event_format_text(std::string_view event) const {
  const EventName name = split_name(event);
  if (name.group.empty()) {
    return unknown_event(event);
  }
  auto text = read_file(root_ + "/events/" + std::string(name.group) + "/" +
                        std::string(name.event) + "/format");
  if (text.ok()) {
    return text;
  }
  const Error& error = text.error();
  return error.errno_value == ENOENT ? unknown_event(event)
                                     : fail(error.message, error.errno_value);
}

// The format file says the id too, and was readable since 2.6.31 wherever the id file was.
Result<std::uint64_t> TracepointFiles::event_id(std::string_view event) const {
  const auto text = event_format_text(event);
  if (!text.ok()) {
    return text.error();
  }
  for (const std::string_view line : split(text.value(), '\n')) {
    const auto id = line.starts_with("ID:") ? parse_number(trim(line.substr(3))) : std::nullopt;
    if (id) {
      return *id;
    }
  }
  return Error{"format of " + std::string(event) + ": no line 'ID:'", 0, ""};
}

Result<std::string> TracepointFiles::header_page() const {
  return read_file(root_ + "/events/header_page");
}

Result<std::string> TracepointFiles::header_event() const {
  return read_file(root_ + "/events/header_event");
}

std::vector<std::string> TracepointFiles::matching(std::string_view group_pattern,
                                                   std::string_view event_pattern) const {
  std::vector<std::string> events;
  const auto groups = is_pattern(group_pattern)
                          ? matching_names(list_event_groups(root_.c_str()), group_pattern)
                          : std::vector{std::string(group_pattern)};
  for (const std::string& group : groups) {
    for (const std::string& event : events_of_group(root_, group, event_pattern)) {
      events.push_back(fmt::format("{}:{}", group, event));
    }
  }
  return events;
}

Error TracepointFiles::unknown_event(std::string_view event) const {
  const std::size_t last_colon = event.rfind(':');
  const std::string_view last = event.substr(last_colon == std::string_view::npos ? 0 : last_colon);
  const bool has_modifier = last.starts_with(':') && last.size() <= 4 &&
                            last.find_first_not_of(":ukhpGH") == std::string_view::npos;
  std::string hint;
  if (has_modifier) {
    hint = "events take no modifiers as perf's do: '" + std::string(event.substr(0, last_colon)) +
           "'. ";
  } else if (const auto near = nearest_events(event, matching("*", "*")); !near.empty()) {
    hint = "did you mean " + join(near, ", ") + "? ";
  }
  hint +=
      "Events are written group:event, or are page-faults, minor-faults and major-faults; this "
      "kernel's are the directories below " +
      root_ + "/events";
  return Error{"unknown event '" + std::string(event) + "'", 0, std::move(hint), ErrorKind::Usage};
}

}  // namespace memtrace
