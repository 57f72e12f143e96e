#include "views/mapping/shm_objects.h"

#include <fmt/core.h>

#include <algorithm>

#include "views/kit/cells.h"
#include "views/mapping/shm_arguments.h"

namespace memtrace {
namespace {

std::int64_t id_of(const SystemCallDone& done) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(done.arguments[0]));
}

// Null where /proc was not read or has no such segment.
const Facts* listed(const Observation* at_end, std::int64_t id) {
  if (at_end == nullptr) {
    return nullptr;
  }
  const auto has_id = [id](const Facts& row) {
    const std::uint64_t* shmid = row.number("shmid");
    return shmid != nullptr && static_cast<std::int64_t>(*shmid) == id;
  };
  const auto found = std::ranges::find_if(at_end->rows, has_id);
  return found == at_end->rows.end() ? nullptr : &*found;
}

bool is_list(const Observation* at_end) {
  return at_end != nullptr && at_end->facts.number("segments") != nullptr;
}

bool is_left(const ShmSegments::Segment& segment, std::int64_t id, const Observation* at_end) {
  return segment.is_created && !segment.is_removed &&
         (!is_list(at_end) || listed(at_end, id) != nullptr);
}

}  // namespace

// IPC_CREAT alone gives a segment that exists already, if there is one: then it was seen before, or
// the caller asked for no size.
bool ShmSegments::get(const Event& event, const SystemCallDone& done) {
  const auto key = static_cast<std::uint32_t>(done.arguments[0]);
  const std::uint64_t flags = done.arguments[2];
  const auto [found, is_new] = segments_.try_emplace(done.result);
  Segment& segment = found->second;
  const bool must_be_new = key == kIpcPrivate || (flags & kIpcExclusive) != 0;
  const bool may_be_new = (flags & kIpcCreate) != 0 && (is_new || segment.is_removed);
  if (!must_be_new && !(may_be_new && done.arguments[1] != 0)) {
    return false;
  }
  segment = {.key = key,
             .bytes = done.arguments[1],
             .is_created = true,
             .pid = event.pid,
             .comm = event.comm};
  return true;
}

bool ShmSegments::apply(const Event& event, const SystemCallDone& done) {
  if (done.call == SystemCall::Shmget) {
    return get(event, done);
  }
  if (done.call == SystemCall::Shmat) {
    ++segments_[id_of(done)].attaches;
    attached_[{event.pid, static_cast<std::uint64_t>(done.result)}] = id_of(done);
  } else if (done.call == SystemCall::Shmdt) {
    detach(event.pid, done.arguments[0]);
  } else if (done.call == SystemCall::Shmctl && shm_command(done) == kIpcRemove) {
    segments_[id_of(done)].is_removed = true;
  }
  return false;
}

void ShmSegments::detach(std::uint32_t pid, std::uint64_t avma) {
  const auto attached = attached_.find({pid, avma});
  if (attached != attached_.end()) {
    ++segments_[attached->second].detaches;
    attached_.erase(attached);
  }
}

ShmSegments::Left ShmSegments::left(const Observation* at_end) const {
  Left left;
  for (const auto& [id, segment] : segments_) {
    if (is_left(segment, id, at_end)) {
      ++left.count;
      left.bytes += segment.bytes;
    }
  }
  return left;
}

Table ShmSegments::table(const CellContext& context, const Observation* at_end) const {
  Table table{.title = "System V segments",
              .columns = {{"id", Unit::Number},
                          {"key", Unit::Text},
                          {"creator", Unit::Text},
                          {"pid", Unit::Number},
                          {"bytes", Unit::Bytes},
                          {"attaches", Unit::Count},
                          {"detaches", Unit::Count},
                          {"removed", Unit::Text},
                          {"left", Unit::Bytes},
                          {"attached_now", Unit::Count},
                          {"resident", Unit::Bytes}},
              .key_count = 4,
              .sort = "left"};
  for (const auto& [id, segment] : segments_) {
    const Facts* now = listed(at_end, id);
    const bool is_gone = is_list(at_end) && now == nullptr;
    const bool known = segment.is_created;
    table.rows.push_back({id,
                          when(known, fmt::format("0x{:x}", segment.key)),
                          known ? text_of(context.world, segment.comm) : Cell(),
                          known ? Cell(std::uint64_t{segment.pid}) : fact(now, "cpid"),
                          known ? Cell(segment.bytes) : fact(now, "size"),
                          segment.attaches,
                          segment.detaches,
                          std::string(segment.is_removed || is_gone ? "yes" : "no"),
                          when(known, is_left(segment, id, at_end) ? segment.bytes : 0),
                          fact(now, "nattch"),
                          fact(now, "rss")});
  }
  return table;
}

Table ShmFiles::table(const CellContext& context) const {
  Table table{.title = "memfd and POSIX shared memory that was mapped",
              .columns = {{"file", Unit::Text},
                          {"inode", Unit::Number},
                          {"comm", Unit::Text},
                          {"pid", Unit::Number},
                          {"bytes", Unit::Bytes},
                          {"mappings", Unit::Count},
                          {"mapped", Unit::Bytes}},
              .key_count = 4,
              .sort = "mapped"};
  for (const auto& [key, file] : files_) {
    table.rows.push_back({cell_of(context.world.strings().at(key.first)),
                          key.second,
                          text_of(context.world, file.comm),
                          std::uint64_t{file.pid},
                          when(file.bytes),
                          file.mappings,
                          file.mapped_bytes});
  }
  return table;
}

}  // namespace memtrace
