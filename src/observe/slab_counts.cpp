#include "observe/slab_counts.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "observe/host_facts.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr auto kMachineCounters =
    std::to_array<const char*>({"nr_slab_reclaimable", "nr_slab_unreclaimable"});

template <typename Map>
typename Map::mapped_type value_in(const Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? typename Map::mapped_type() : found->second;
}

void add_change(const std::string& name, std::uint64_t before, std::uint64_t now, Facts& facts) {
  facts.numbers[name + "_before"] = before;
  facts.numbers[name] = now;
}

}  // namespace

// "dentry 1234 2345 192 21 1 : tunables 0 0 0 : slabdata 111 112 0": active objects, all objects,
// bytes of one, objects and pages of a slab; active slabs, all slabs (slabinfo(5)).
std::map<std::string, SlabCounts::Count> SlabCounts::parse(std::string_view slabinfo) {
  constexpr std::size_t kWords = 16;
  constexpr std::size_t kSlabs = 14;
  std::map<std::string, Count> caches;
  for (const std::string_view line : split(slabinfo, '\n')) {
    const auto words = proc_words(line);
    if (words.size() < kWords) {
      continue;
    }
    const auto objects = parse_number(words[1]);
    const auto bytes = parse_number(words[3]);
    const auto slab_pages = parse_number(words[5]);
    const auto slabs = parse_number(words[kSlabs]);
    if (objects && bytes && slab_pages && slabs) {
      caches.emplace(words[0], Count{*bytes, *objects, *slabs * *slab_pages});
    }
  }
  return caches;
}

SlabCounts::Counts SlabCounts::read() {
  Counts counts;
  const auto slabinfo = read_file(proc_ + "/slabinfo");
  error_ = slabinfo.ok() ? "" : slabinfo.error().message;
  if (slabinfo.ok()) {
    counts.caches = parse(slabinfo.value());
  }
  const auto vmstat = read_file(proc_ + "/vmstat");
  const VmstatCounters all = vmstat.ok() ? parse_vmstat(vmstat.value()) : VmstatCounters();
  for (const char* name : kMachineCounters) {
    if (all.contains(name)) {
      counts.machine[name] = all.at(name);
    }
  }
  return counts;
}

// SLUB puts caches of one size into one. A link for each of their names leads to the same folder,
// such as ":0000192" (mm/slub.c, create_unique_id); slabinfo has one of the names. SLAB merges
// since 3.18 and has no such links.
void SlabCounts::read_aliases(const Counts& counts) {
  std::map<std::string, std::vector<std::string>> names;  // by folder
  const std::filesystem::path folder = proc_ + "/../sys/kernel/slab";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::error_code no_link;
    const auto target = std::filesystem::read_symlink(entry.path(), no_link);
    if (!no_link) {
      names[target.filename()].push_back(entry.path().filename());
    }
  }
  for (auto& [target, merged] : names) {
    const auto listed = std::ranges::find_if(
        merged, [&](const std::string& name) { return counts.caches.contains(name); });
    if (listed == merged.end() || merged.size() < 2) {
      continue;
    }
    const std::string name = *listed;
    merged.erase(listed);
    std::ranges::sort(merged);
    aliases_[name] = join(merged, ",");
  }
}

void SlabCounts::begin() {
  has_begun_ = true;
  before_ = read();
  read_aliases(before_);
}

Observation SlabCounts::take() {
  Observation observation{.reader = "slab_counts"};
  Counts now = read();
  for (const auto& [name, pages] : now.machine) {
    add_change(name, value_in(before_.machine, name), pages, observation.facts);
  }
  if (!error_.empty()) {
    observation.facts.texts["error"] = error_;
  }
  for (const auto& [name, count] : now.caches) {
    const Count before = value_in(before_.caches, name);
    if (before.objects == count.objects && before.pages == count.pages) {
      continue;
    }
    Facts& row = observation.rows.emplace_back();
    row.texts["name"] = name;
    row.numbers["objsize"] = count.object_bytes;
    add_change("objects", before.objects, count.objects, row);
    add_change("pages", before.pages, count.pages, row);
    if (const auto aliases = aliases_.find(name); aliases != aliases_.end()) {
      row.texts["aliases"] = aliases->second;
    }
  }
  before_ = std::move(now);
  return observation;
}

}  // namespace memtrace
