#include "views/kit/shmem_pages.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "views/kit/cells.h"
#include "views/kit/user_pages.h"

namespace memtrace {
namespace {

// mm/shmem.c from 3.10 to 6.18. Compilers inline the others into these, and give parts of them
// names with suffixes.
constexpr auto kWays = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"shmem_write_begin", "write"},
    {"shmem_file_write_iter", "write"},
    {"shmem_fallocate", "fallocate"},
    {"shmem_fault", "fault"},
    {"shmem_swapin", "swap in"},
    {"shmem_swapin_folio", "swap in"},
    {"shmem_unuse", "swap in"},
    {"shmem_unuse_inode", "swap in"},
});

// "shmem_fault.part.0", "shmem_fault+0x1f" are the same function.
std::string_view base_name(std::string_view name) {
  return name.substr(0, name.find_first_of(".+"));
}

bool has_function(const Frames& frames, std::string_view function) {
  return std::ranges::any_of(frames, [function](const Frame& frame) {
    return frame.kernel && base_name(frame.function) == function;
  });
}

bool is_of_shmem(const Frame& frame) {
  return frame.kernel && frame.function.starts_with("shmem_");
}

}  // namespace

std::string_view shmem_way(const Frames& frames) {
  if (std::ranges::none_of(frames, is_of_shmem)) {
    return "";
  }
  // A page that is swapped in is read for a fault or a write.
  for (const std::string_view wanted : {"swap in", "fallocate", "write", "fault"}) {
    const bool is_there = std::ranges::any_of(kWays, [&](const auto& known) {
      return known.second == wanted && has_function(frames, known.first);
    });
    if (is_there) {
      return wanted;
    }
  }
  return "other";
}

void ShmemPages::on(const Event& event, const PageAlloc& alloc) {
  gfp_flags_.learn(*event.type);
  if (!event.stack.valid() || alloc.failed) {
    return;
  }
  pages_[{event.comm, event.pid, event.stack, alloc.gfp}] += event.weight << alloc.order;
}

// By the kernel's part of the stack alone: only its functions are named, and it is the same on many
// stacks.
std::string_view ShmemPages::way_of(StackId stack, const World& world, Namer& namer) {
  std::vector<LocationId> places;
  std::uint64_t hash = 0;
  world.stacks().walk(stack, [&](LocationId place) {
    if (world.stacks().location(place).module != world.modules().kernel()) {
      return false;
    }
    places.push_back(place);
    hash = combine(hash, place.value);
    return true;
  });
  const auto [known, is_new] = ways_.try_emplace(hash);
  if (!is_new) {
    return known->second;
  }
  Frames frames;
  for (const LocationId place : places) {
    const Frames& named = namer.location(place);
    frames.insert(frames.end(), named.begin(), named.end());
  }
  known->second = shmem_way(frames);
  has_names_ = has_names_ || std::ranges::any_of(frames, [](const Frame& frame) {
                 return frame.function.find("+0x") == std::string::npos;
               });
  return known->second;
}

// What else is allocated under these functions, nodes of the file's tree, is no page of the file:
// those may be moved.
std::map<ShmemPages::Row, std::uint64_t> ShmemPages::rows(const World& world, Namer& namer) {
  std::map<Row, std::uint64_t> rows;
  for (const auto& [place, count] : pages_) {
    const auto gfp_flags = gfp_flags_.names();
    if (!gfp_flags.empty() && !is_user_page(place.gfp, gfp_flags)) {
      continue;
    }
    if (const auto way = way_of(place.stack, world, namer); !way.empty()) {
      rows[{way, place.comm, place.pid}] += count;
    }
  }
  return rows;
}

// What grew on the whole machine, whatever processes were watched.
Table ShmemPages::file_table(const Observation& growth) {
  Table table{.title = "files on tmpfs that grew, of all processes",
              .columns = {{"file", Unit::Text}, {"grown", Unit::Bytes}, {"size", Unit::Bytes}},
              .key_count = 1,
              .sort = "grown"};
  for (const Facts& row : growth.rows) {
    const std::string* path = row.text("path");
    table.rows.push_back(
        {path == nullptr ? Cell() : Cell(*path), fact(row, "grown"), fact(row, "bytes")});
  }
  return table;
}

void ShmemPages::report(const World& world, Namer* namer, Report& report) {
  const auto pages = namer == nullptr ? std::map<Row, std::uint64_t>() : rows(world, *namer);
  const bool was_seen = !pages_.empty();
  pages_.clear();
  if (!has_names_) {
    report.caveats.notes.emplace_back(
        was_seen ? "the growth of shared memory and tmpfs is not known: the kernel's functions "
                   "have no names"
                 : "the growth of shared memory and tmpfs is not known: the recording has no "
                   "kmem:mm_page_alloc with kernel stacks");
    return;
  }
  Table table{.title = "pages of shared memory and tmpfs, by the process that added them",
              .columns = {{"how", Unit::Text},
                          {"comm", Unit::Text},
                          {"pid", Unit::Number},
                          {"pages", Unit::Count},
                          {"bytes", Unit::Bytes}},
              .key_count = 3,
              .sort = "pages"};
  std::uint64_t total = 0;
  for (const auto& [row, count] : pages) {
    total += count;
    table.rows.push_back({std::string(row.way),
                          std::string(world.strings().at(row.comm)),
                          std::uint64_t{row.pid},
                          count,
                          count * world.page_size_bytes()});
  }
  report.totals.push_back({"shmem_pages", Unit::Count, total});
  report.tables.push_back(std::move(table));
  const Observation* growth = world.observations().last("tmpfs");
  if (growth != nullptr && !growth->rows.empty()) {
    report.tables.push_back(file_table(*growth));
  }
}

}  // namespace memtrace
