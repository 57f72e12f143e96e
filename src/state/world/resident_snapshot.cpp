#include "state/world/resident_snapshot.h"

#include <array>
#include <charconv>
#include <utility>

namespace memtrace {
namespace {

constexpr int kHex = 16;

void append_hex(std::string& text, std::uint64_t number) {
  std::array<char, kHex> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, kHex);
  text.append(digits.data(), end.ptr);
}

// Takes a number and the character behind it away from the text.
std::optional<std::uint64_t> take_hex(std::string_view& text, char behind) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number, kHex);
  const auto length = static_cast<std::size_t>(end.ptr - text.data());
  if (end.ec != std::errc() || length >= text.size() || text[length] != behind) {
    return std::nullopt;
  }
  text.remove_prefix(length + 1);
  return number;
}

// "7f0000,3;10,1;": from the end of the run before, and how many pages.
std::string text_of(const std::vector<ResidentSnapshot::Run>& runs) {
  std::string text;
  std::uint64_t last = 0;
  for (const ResidentSnapshot::Run& run : runs) {
    append_hex(text, run.first - last);
    text += ',';
    append_hex(text, run.limit - run.first);
    text += ';';
    last = run.limit;
  }
  return text;
}

std::optional<std::vector<ResidentSnapshot::Run>> runs_of(std::string_view text) {
  constexpr std::uint64_t kMostPages = std::uint64_t{1} << 52U;  // of any address space
  std::vector<ResidentSnapshot::Run> runs;
  std::uint64_t last = 0;
  while (!text.empty()) {
    const auto gap = take_hex(text, ',');
    const auto pages = gap ? take_hex(text, ';') : std::nullopt;
    if (!pages || *gap > kMostPages || *pages > kMostPages || last + *gap + *pages > kMostPages) {
      return std::nullopt;
    }
    runs.push_back({last + *gap, last + *gap + *pages});
    last = runs.back().limit;
  }
  return runs;
}

// "3000,0,[heap]\n": resident and swapped bytes.
std::string text_of(const std::map<std::string, ResidentSnapshot::Mapping, std::less<>>& mappings) {
  std::string text;
  for (const auto& [name, mapping] : mappings) {
    append_hex(text, mapping.rss_bytes);
    text += ',';
    append_hex(text, mapping.swap_bytes);
    text += ',';
    text += name;
    text += '\n';
  }
  return text;
}

// What is damaged is left out.
std::map<std::string, ResidentSnapshot::Mapping, std::less<>> mappings_of(std::string_view text) {
  std::map<std::string, ResidentSnapshot::Mapping, std::less<>> mappings;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto rss = take_hex(line, ',');
    const auto swap = rss ? take_hex(line, ',') : std::nullopt;
    if (swap) {
      mappings[std::string(line)] = {.rss_bytes = *rss, .swap_bytes = *swap};
    }
  }
  return mappings;
}

constexpr auto kPartNames =
    std::to_array<std::pair<const char*, std::uint64_t ResidentSnapshot::Parts::*>>(
        {{"pss", &ResidentSnapshot::Parts::pss_bytes},
         {"anonymous", &ResidentSnapshot::Parts::anonymous_bytes},
         {"shared_memory", &ResidentSnapshot::Parts::shared_memory_bytes},
         {"page_tables", &ResidentSnapshot::Parts::page_table_bytes},
         {"read_from_ns", &ResidentSnapshot::Parts::read_from_ns},
         {"read_to_ns", &ResidentSnapshot::Parts::read_to_ns}});

void add_parts(const ResidentSnapshot::Parts& parts, Facts& facts) {
  for (const auto& [name, member] : kPartNames) {
    facts.numbers[name] = parts.*member;
  }
  facts.texts["mappings"] = text_of(parts.mappings);
}

ResidentSnapshot::Parts parts_of(const Facts& facts) {
  ResidentSnapshot::Parts parts;
  for (const auto& [name, member] : kPartNames) {
    const std::uint64_t* number = facts.number(name);
    parts.*member = number == nullptr ? 0 : *number;
  }
  if (const std::string* mappings = facts.text("mappings")) {
    parts.mappings = mappings_of(*mappings);
  }
  return parts;
}

}  // namespace

// fs/proc/task_mmu.c writes "[anon:NAME]"; perf records have "//anon" (kernel/events/core.c).
std::string_view mapping_name(std::string_view path) {
  return path.empty() || path == "//anon" || path.starts_with("[anon:") ? "[anon]" : path;
}

void ResidentSnapshot::add_page(std::uint64_t page) {
  if (!runs.empty() && runs.back().limit == page) {
    ++runs.back().limit;
  } else {
    runs.push_back({page, page + 1});
  }
}

Facts facts_of(const ResidentSnapshot& snapshot) {
  Facts facts{.numbers = {{"pid", snapshot.pid},
                          {"rss", snapshot.rss_bytes},
                          {"swap", snapshot.swap_bytes}},
              .texts = {{"comm", snapshot.comm}, {"pages", text_of(snapshot.runs)}}};
  add_parts(snapshot.parts, facts);
  return facts;
}

std::optional<ResidentSnapshot> resident_snapshot(const Facts& facts) {
  const std::uint64_t* pid = facts.number("pid");
  const std::uint64_t* rss = facts.number("rss");
  const std::uint64_t* swap = facts.number("swap");
  const std::string* comm = facts.text("comm");
  const std::string* pages = facts.text("pages");
  if (pid == nullptr || rss == nullptr || swap == nullptr || comm == nullptr || pages == nullptr) {
    return std::nullopt;
  }
  auto runs = runs_of(*pages);
  if (!runs) {
    return std::nullopt;
  }
  return ResidentSnapshot{.pid = static_cast<std::uint32_t>(*pid),
                          .comm = *comm,
                          .rss_bytes = *rss,
                          .swap_bytes = *swap,
                          .runs = std::move(*runs),
                          .parts = parts_of(facts)};
}

}  // namespace memtrace
