#include "identity/announcements.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "identity/memory_cgroup.h"
#include "os/system.h"
#include "perf/side/side_events.h"
#include "perf/side/user_changes.h"
#include "tracepoints/format/field_lookup.h"
#include "tracepoints/format/format.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace {
namespace {

using Raw = std::span<const std::byte>;
using Decode = std::function<std::optional<Announcement>(Raw raw)>;

// clone3(2): the child begins in another cgroup of version 2 than its parent, and no event says in
// which.
constexpr std::uint64_t kCloneIntoCgroup = 0x200000000;
// include/trace/events/cgroup.h, TRACE_CGROUP_PATH_LEN: a longer path is cut.
constexpr std::size_t kLongestPathBytes = 1022;

// Numbers of processes and paths of cgroups are reported as the first namespaces see them
// (include/linux/proc_ns.h; there were no cgroup namespaces before 4.6).
bool is_in_first_namespace(const char* kind, std::string_view first) {
  std::error_code error;
  const auto link = std::filesystem::read_symlink(std::string("/proc/self/ns/") + kind, error);
  return error ? error == std::errc::no_such_file_or_directory : link.native() == first;
}

bool tells_pids() {
  return is_in_first_namespace("pid", "pid:[4026531836]");
}

// The cgroup hierarchy whose paths count.
struct Hierarchy {
  std::uint64_t number = 0;  // 0: version 2
  bool has_our_paths = is_in_first_namespace("cgroup", "cgroup:[4026531835]");
};

std::string path_in(const std::optional<Field>& field, Raw raw, const Hierarchy& hierarchy) {
  const std::string_view path = field ? field->text(raw) : std::string_view();
  const bool is_whole = path.starts_with('/') && path.size() < kLongestPathBytes;
  return is_whole && hierarchy.has_our_paths ? std::string(path) : std::string();
}

// cgroup:cgroup_attach_task and cgroup:cgroup_transfer_tasks, of the hierarchy that counts.
Decode moved(FieldLookup lookup, Hierarchy hierarchy) {
  const NumberAt root = lookup.required({"dst_root"});
  const NumberAt pid = lookup.required({"pid"});
  const auto path = lookup.optional_text("dst_path");
  if (!lookup.check().ok()) {
    return {};
  }
  return [=, bytes = lookup.needed_bytes()](Raw raw) -> std::optional<Announcement> {
    if (raw.size() < bytes || root.load(raw.data()) != hierarchy.number) {
      return std::nullopt;
    }
    return Announcement{.kind = Announcement::Kind::Moved,
                        .pid = static_cast<std::uint32_t>(pid.load(raw.data())),
                        .cgroup = path_in(path, raw, hierarchy)};
  };
}

Decode renamed(FieldLookup lookup, Hierarchy hierarchy) {
  const NumberAt root = lookup.required({"root"});
  const auto path = lookup.optional_text("path");
  if (!lookup.check().ok()) {
    return {};
  }
  return [=, bytes = lookup.needed_bytes()](Raw raw) -> std::optional<Announcement> {
    if (raw.size() < bytes || root.load(raw.data()) != hierarchy.number) {
      return std::nullopt;
    }
    return Announcement{.kind = Announcement::Kind::Renamed,
                        .cgroup = path_in(path, raw, hierarchy)};
  };
}

Decode started(FieldLookup lookup, Hierarchy /*hierarchy*/) {
  const NumberAt pid = lookup.required({"pid"});
  const NumberAt flags = lookup.required({"clone_flags"});
  if (!lookup.check().ok()) {
    return {};
  }
  return [=, bytes = lookup.needed_bytes()](Raw raw) -> std::optional<Announcement> {
    if (raw.size() < bytes || (flags.load(raw.data()) & kCloneIntoCgroup) == 0) {
      return std::nullopt;
    }
    return Announcement{.kind = Announcement::Kind::Moved,
                        .pid = static_cast<std::uint32_t>(pid.load(raw.data()))};
  };
}

struct CgroupEvent {
  const char* name;
  const char* hierarchy_field;  // for the kernel's filter; null: it has none
  Decode (*decode)(FieldLookup lookup, Hierarchy hierarchy);
};

// The first one is what nothing can be known without: it came with 3.17 and is in RHEL 8.
constexpr auto kCgroupEvents = std::to_array<CgroupEvent>({
    {"cgroup:cgroup_attach_task", "dst_root", moved},
    {"cgroup:cgroup_transfer_tasks", "dst_root", moved},
    {"cgroup:cgroup_rename", "root", renamed},
    {"task:task_newtask", nullptr, started},
});

std::string filter_of(const CgroupEvent& event, std::uint64_t hierarchy) {
  return event.hierarchy_field == nullptr
             ? fmt::format("clone_flags & 0x{:x}", kCloneIntoCgroup)
             : std::string(event.hierarchy_field) + " == " + std::to_string(hierarchy);
}

class KernelAnnouncements final : public Announcements {
 public:
  explicit KernelAnnouncements(bool monotonic_clock) {
    if (monotonic_clock && tells_pids()) {
      users_ = UserChanges::open();
    }
    const auto cgroups = read_file("/proc/self/cgroup");
    const auto hierarchy =
        find_memory_cgroup(cgroups.ok() ? cgroups.value() : std::string_view()).hierarchy;
    auto files = TracepointFiles::open_as_it_is();
    if (hierarchy && tells_pids() && files.ok()) {
      watch_cgroups(files.value(), {.number = *hierarchy});
    }
  }

  bool tell_users() const override { return users_.has_value(); }

  bool tell_cgroups() const override { return cgroups_ && cgroups_->has(0); }

  std::vector<Announcement> take() override {
    std::vector<Announcement> all;
    take_users(all);
    take_cgroups(all);
    std::ranges::stable_sort(all, {}, &Announcement::time_ns);
    return all;
  }

 private:
  void watch_cgroups(const TracepointFiles& files, const Hierarchy& hierarchy) {
    std::vector<EventRequest> requests;
    for (const CgroupEvent& event : kCgroupEvents) {
      if (event.hierarchy_field == nullptr && hierarchy.number != 0) {
        continue;
      }
      const auto id = files.event_id(event.name);
      const auto text = files.event_format_text(event.name);
      auto parsed = text.ok() ? parse_format(text.value(), "cgroup") : text.error();
      Decode decode = parsed.ok() ? event.decode(FieldLookup(parsed.take()), hierarchy) : Decode();
      const bool is_known = id.ok() && decode;
      if (!is_known && requests.empty()) {
        return;
      }
      if (!is_known) {
        continue;
      }
      decoders_.push_back(std::move(decode));
      requests.push_back(
          {.info = {.name = event.name, .kind = EventKind::Tracepoint, .config = id.value()},
           .type = kTypeTracepoint,
           .filter = filter_of(event, hierarchy.number),
           .stacks = false});
    }
    cgroups_.emplace(SideEvents::open(requests));
  }

  void take_users(std::vector<Announcement>& all) {
    if (!users_) {
      return;
    }
    const UserChanges::Taken taken = users_->take();
    for (const UserChange& change : taken.changes) {
      all.push_back({.time_ns = change.time_ns,
                     .kind = Announcement::Kind::User,
                     .pid = change.pid,
                     .tid = change.tid,
                     .uid = change.uid});
    }
    if (taken.lost) {
      all.push_back({.time_ns = taken.changes.empty() ? 0 : taken.changes.back().time_ns});
    }
  }

  void take_cgroups(std::vector<Announcement>& all) {
    if (!cgroups_) {
      return;
    }
    const SideEvents::Taken taken = cgroups_->take();
    for (const SideSample& sample : taken.samples) {
      if (auto announcement = decoders_[sample.event](sample.raw)) {
        announcement->time_ns = sample.time_ns;
        all.push_back(std::move(*announcement));
      }
    }
    if (taken.lost) {
      all.push_back({.time_ns = taken.samples.empty() ? 0 : taken.samples.back().time_ns});
    }
  }

  std::optional<UserChanges> users_;
  std::optional<SideEvents> cgroups_;
  std::vector<Decode> decoders_;
};

}  // namespace

std::unique_ptr<Announcements> kernel_announcements(bool monotonic_clock) {
  return std::make_unique<KernelAnnouncements>(monotonic_clock);
}

}  // namespace memtrace
