#include "observe/proc_observer.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "observe/proc_readers.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr auto kReaders = std::to_array<const ObservationReader*>({&observe_limits,
                                                                   &observe_segments,
                                                                   &observe_oom,
                                                                   &observe_reclaim,
                                                                   &observe_zones,
                                                                   &observe_free_blocks,
                                                                   &observe_sizes,
                                                                   &observe_nodes});

// A reading takes some 100 us, in the thread that merges all events: this many a second are no
// burden, even if each event of a burst asks for one.
constexpr std::uint64_t kMaxReadsPerSecond = 200;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

constexpr std::size_t kMaxDescriptors = 4096;  // of one process

FileWatch::Sources file_sources(const ProcFolder& proc) {
  return {
      .open_files =
          [path = proc.path](std::uint32_t pid) { return open_files(path, pid, kMaxDescriptors); },
      .inode_name = [names = InodeNames(proc.path)](
                        const FileId& id, std::uint32_t pid) mutable { return names.of(id, pid); },
      .processes =
          [path = proc.path] {
            auto pids = process_ids(path);
            return pids.ok() ? pids.take() : std::vector<std::uint32_t>();
          }};
}

// The file that an event is about, if it is one that has no name in it.
std::optional<FileId> file_of(const EventPayload& payload) {
  if (const auto* change = std::get_if<PageCacheChange>(&payload)) {
    return FileId{change->device_major, change->device_minor, change->inode};
  }
  if (const auto* dirtied = std::get_if<PageDirtied>(&payload)) {
    return file_on(dirtied->device, dirtied->inode);
  }
  const auto* written = std::get_if<InodeWritten>(&payload);
  return written == nullptr ? std::nullopt : file_on(written->device, written->inode);
}

}  // namespace

ProcObserver::ProcObserver(ProcFolder proc)
    : proc_(std::move(proc)),
      files_(file_sources(proc_)),
      tmpfs_(proc_.path + "/self/mountinfo"),
      resident_(proc_.path),
      slabs_(proc_.path) {}

std::string ProcFolder::read(const std::string& name) const {
  auto text = read_file(path + "/" + name);
  return text.ok() ? text.take() : std::string();
}

bool ProcObserver::may_read(std::uint64_t time_ns) {
  const std::uint64_t second = time_ns / kSecondNs;
  if (second != second_) {
    second_ = second;
    read_in_second_ = 0;
  }
  return read_in_second_++ < kMaxReadsPerSecond;
}

void ProcObserver::begin_resident(const std::set<std::uint32_t>& pids, Observations& observations) {
  resident_.begin(pids);
  observations.add(resident_.read(kResidentAtBegin));
}

void ProcObserver::on(const Event& event, Observations& observations, std::string_view cgroup) {
  if (const auto file = file_of(event.payload)) {
    files_.want(*file, event.pid);
  }
  if (std::holds_alternative<PageFault>(event.payload)) {
    resident_.want(event.pid);
  }
  for (const ObservationReader* reader : kReaders) {
    if (!reader->wants(event)) {
      continue;
    }
    if (reader->at_end) {
      wanted_at_end_.insert(reader->name);
      continue;
    }
    if (!reader->always && !may_read(event.time_ns)) {
      observations.add_skipped(1);
      continue;
    }
    const std::uint64_t now_ns = monotonic_ns();
    Observation observation{.reader = std::string(reader->name),
                            .time_ns = event.time_ns,
                            .tid = event.tid,
                            .delay_ns = now_ns > event.time_ns ? now_ns - event.time_ns : 0};
    if (!cgroup.empty()) {
      observation.facts.texts["cgroup"] = cgroup;
    }
    reader->read(event, proc_, observation);
    observations.add(std::move(observation));
  }
}

void ProcObserver::at_end(std::uint64_t time_ns, Observations& observations) {
  for (const ObservationReader* reader : kReaders) {
    if (wanted_at_end_.contains(reader->name)) {
      Observation observation{.reader = std::string(reader->name), .time_ns = time_ns};
      reader->read({}, proc_, observation);
      observations.add(std::move(observation));
    }
  }
  if (tmpfs_.has_begun()) {
    Observation growth = tmpfs_.take_growth();
    growth.time_ns = time_ns;
    observations.add(std::move(growth));
  }
  if (slabs_.has_begun()) {
    Observation slabs = slabs_.take();
    slabs.time_ns = time_ns;
    observations.replace(std::move(slabs));
  }
  if (resident_.has_begun()) {
    Observation resident = resident_.read(kResidentAtEnd);
    resident.time_ns = time_ns;
    observations.replace(std::move(resident));  // it is large, and each is of its own time
  }
  if (files_.wants_any()) {
    observations.add(files_.take());  // has all names: it replaces the one of the interval before
  }
}

void add_kilobytes(std::string_view text, std::string_view key, const char* name, Facts& facts) {
  if (const auto bytes = proc_bytes(text, key)) {
    facts.numbers[name] = *bytes;
  }
}

void add_uid(std::string_view status, const char* name, Facts& facts) {
  if (const auto uids = status_uids(status); !uids.empty()) {
    facts.numbers[name] = uids.front();
  }
}

}  // namespace memtrace
