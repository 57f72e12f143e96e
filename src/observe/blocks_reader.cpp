// What was free when an allocation of the kernel failed: blocks by zone, order and migrate type,
// the watermarks, and what compaction cannot move.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"
#include "observe/observed_cgroup.h"
#include "observe/proc_readers.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace::blocks_reader {
namespace {

using Words = std::vector<std::string_view>;

// "Node 0, zone   Normal ...", "Node    0, zone   Normal, type ...": the words from the zone's name
// on; empty for any other line.
Words words_of_zone(std::string_view line) {
  Words words = proc_words(line);
  const bool is_of_zone = words.size() >= 4 && words[0] == "Node" && words[2] == "zone";
  return is_of_zone ? words : Words();
}

std::uint64_t node_of(const Words& words) {
  const std::string_view node = words[1];
  return parse_number(node.substr(0, node.find(','))).value_or(0);
}

std::string_view zone_of(const Words& words) {
  return words[3].substr(0, words[3].find(','));
}

// The row of the zone; it is made when it is not there.
Facts& row_of(const Words& words, std::vector<Facts>& rows) {
  const auto found = std::ranges::find_if(rows, [&words](const Facts& row) {
    return row.texts.at("zone") == zone_of(words) && row.numbers.at("node") == node_of(words);
  });
  if (found != rows.end()) {
    return *found;
  }
  Facts& row = rows.emplace_back();
  row.texts["zone"] = zone_of(words);
  row.numbers["node"] = node_of(words);
  return row;
}

std::string joined_from(const Words& words, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < words.size(); ++i) {
    text.append(text.empty() ? "" : " ").append(words[i]);
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return result;
}

void add_free_blocks(const std::string& buddyinfo, std::vector<Facts>& rows) {
  constexpr std::size_t kFirstBlock = 4;
  for (const std::string_view line : split(buddyinfo, '\n')) {
    const Words words = words_of_zone(line);
    if (words.size() > kFirstBlock) {
      row_of(words, rows).texts["blocks"] = joined_from(words, kFirstBlock);
    }
  }
}

// /proc/pagetypeinfo, for root (mm/vmstat.c): first free blocks by zone, type and order, with
// "Node    0, zone   Normal, type    Unmovable    217 ...", then how many blocks are of which type,
// under a line "Number of blocks type     Unmovable      Movable ...".
void add_types(const std::string& pagetypeinfo, std::vector<Facts>& rows) {
  constexpr std::size_t kType = 5;
  constexpr std::size_t kFirstType = 4;  // "Number of blocks type" are four words, too
  Words types;
  for (const std::string_view line : split(pagetypeinfo, '\n')) {
    if (line.starts_with("Number of blocks type")) {
      types = proc_words(line);
      continue;
    }
    const Words words = words_of_zone(line);
    if (words.size() <= kFirstType) {
      continue;
    }
    Facts& row = row_of(words, rows);
    if (words[kFirstType] == "type" && words.size() > kType) {
      row.texts["free_" + lower(words[kType])] = joined_from(words, kType + 1);
      continue;
    }
    for (std::size_t i = kFirstType; i < std::min(words.size(), types.size()); ++i) {
      row.numbers["blocks_" + lower(types[i])] = parse_number(words[i]).value_or(0);
    }
  }
}

// "  pages free     3840", "        min      10".
void add_marks(const std::string& zoneinfo, std::vector<Facts>& rows) {
  Facts* row = nullptr;
  for (const std::string_view line : split(zoneinfo, '\n')) {
    const Words heading = words_of_zone(line);
    if (!heading.empty()) {
      row = &row_of(heading, rows);
      continue;
    }
    const Words words = proc_words(line);
    if (row == nullptr || words.size() < 2 || words.size() > 3) {
      continue;
    }
    const std::string_view mark = words[words.size() - 2];
    const bool is_mark = mark == "free" || mark == "min" || mark == "low" || mark == "high";
    const auto pages = parse_number(words.back());
    if (is_mark && pages) {
      row->numbers.emplace(mark, *pages * page_size_bytes());
    }
  }
}

void read(const Event& event, const ProcFolder& proc, Observation& observation) {
  add_free_blocks(proc.read("buddyinfo"), observation.rows);
  add_types(proc.read("pagetypeinfo"), observation.rows);
  add_marks(proc.read("zoneinfo"), observation.rows);
  // Zones that this machine has no memory in are in zoneinfo alone.
  std::erase_if(observation.rows, [](const Facts& row) { return row.text("blocks") == nullptr; });
  Facts& facts = observation.facts;
  const std::string memory = proc.read("meminfo");
  add_kilobytes(memory, "MemTotal", "total", facts);
  add_kilobytes(memory, "MemFree", "free", facts);
  add_kilobytes(memory, "MemAvailable", "available", facts);
  add_kilobytes(memory, "Slab", "slab", facts);
  add_kilobytes(memory, "SUnreclaim", "slab_unreclaimable", facts);
  add_kilobytes(memory, "Mlocked", "mlocked", facts);
  add_kilobytes(memory, "Unevictable", "unevictable", facts);
  add_memory_cgroup(proc.read(std::to_string(event.pid) + "/cgroup"), facts);
}

bool wants(const Event& event) {
  const auto* pages = std::get_if<PageAlloc>(&event.payload);
  const auto* object = std::get_if<SlabAlloc>(&event.payload);
  return (pages != nullptr && pages->failed) ||
         (object != nullptr && object->ptr == 0 && object->bytes_req > 0 &&
          object->cache != kPercpuCache);
}

}  // namespace
}  // namespace memtrace::blocks_reader

namespace memtrace {

constinit const ObservationReader observe_free_blocks{
    .name = "free_blocks", .wants = blocks_reader::wants, .read = blocks_reader::read};

}  // namespace memtrace
