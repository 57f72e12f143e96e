#include "observe/proc_observer.h"

#include <array>

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
                                                                   &observe_sizes,
                                                                   &observe_nodes});

// A reading takes some 100 us, in the thread that merges all events: this many a second are no
// burden, even if each event of a burst asks for one.
constexpr std::uint64_t kMaxReadsPerSecond = 200;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

}  // namespace

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

void ProcObserver::on(const Event& event, Observations& observations, std::string_view cgroup) {
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
