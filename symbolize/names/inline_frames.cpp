#include "symbolize/names/inline_frames.h"

#include <dwarf.h>

#include <algorithm>
#include <array>

#include "symbolize/names/demangle.h"

namespace memtrace {

namespace {

constexpr int kMaxNesting = 256;  // of blocks and inlined calls; a broken file may claim any depth

struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
};

SourceLine make_line(const char* file, std::uint64_t line) {
  if (file == nullptr || line == 0) {  // line 0: code that the compiler made up
    return {};
  }
  return {file, static_cast<std::uint32_t>(line)};
}

SourceLine line_at(DwarfUnit& unit, std::uint64_t svma) {
  Dwarf_Line* row = unit.line_at(svma);
  int line = 0;
  if (row == nullptr || ::dwarf_lineno(row, &line) != 0 || line < 0) {
    return {};
  }
  return make_line(::dwarf_linesrc(row, nullptr, nullptr), static_cast<std::uint64_t>(line));
}

std::uint64_t number_attribute(Dwarf_Die& entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (::dwarf_attr(&entry, name, &attribute) == nullptr ||
      ::dwarf_formudata(&attribute, &value) != 0) {
    return 0;
  }
  return value;
}

// Where an inlined function was called, which is where its caller was.
SourceLine call_line(DwarfUnit& unit, Dwarf_Die& call) {
  std::size_t count = 0;
  Dwarf_Files* files = unit.files(count);
  const std::uint64_t file = number_attribute(call, DW_AT_call_file);
  if (files == nullptr || file >= count) {
    return {};
  }
  return make_line(::dwarf_filesrc(files, file, nullptr, nullptr),
                   number_attribute(call, DW_AT_call_line));
}

// The linkage name where there is one: it has the namespaces and parameters that DW_AT_name lacks.
std::string function_name(Dwarf_Die& entry) {
  constexpr auto kNames =
      std::to_array<unsigned>({DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name});
  for (const unsigned name : kNames) {
    Dwarf_Attribute attribute;
    const char* text = ::dwarf_formstring(::dwarf_attr_integrate(&entry, name, &attribute));
    if (text != nullptr && *text != '\0') {
      return demangle(text);
    }
  }
  return "";
}

}  // namespace

Result<std::unique_ptr<InlineFrames>> InlineFrames::open(const ElfFile& file) {
  std::unique_ptr<InlineFrames> none;
  const auto section = file.section(".debug_info");
  const bool has_content = section && section->header.sh_type != SHT_NOBITS;
  if (!has_content && !file.section(".zdebug_info")) {
    return none;
  }
  auto dwarf = DwarfFile::open(file);
  if (!dwarf.ok()) {
    return dwarf.error().message.empty() ? Result(std::move(none)) : dwarf.take_error();
  }
  return std::unique_ptr<InlineFrames>(new InlineFrames(dwarf.take()));
}

InlineFrames::InlineFrames(DwarfFile dwarf) : dwarf_(std::move(dwarf)), units_(dwarf_.handle()) {}

std::vector<SourceFrame> InlineFrames::at(std::uint64_t svma) {
  DwarfUnit* unit = units_.at(svma);
  if (unit == nullptr) {
    return {};
  }
  std::vector<SourceFrame> frames;
  SourceLine line = line_at(*unit, svma);
  left_out_lines_ = left_out_lines_ || unit->left_out_lines();
  const DwarfFunction* function = unit->function_at(svma);
  if (function == nullptr) {
    if (line.line != 0) {  // assembly has lines, and its functions only in the symbol table
      frames.push_back({"", svma, line.file, line.line, false});
    }
    return frames;
  }
  const auto& calls = calls_in(*function);
  std::for_each(calls.rbegin(), calls.rend(), [&](const InlinedCall& call) {
    if (svma < call.start || svma >= call.limit) {
      return;
    }
    Dwarf_Die entry = call.entry;
    frames.push_back({function_name(entry), call.start, line.file, line.line, true});
    line = call_line(*unit, entry);
  });
  Dwarf_Die entry = function->entry;
  frames.push_back({function_name(entry), function->start, line.file, line.line, false});
  return frames;
}

const std::vector<InlineFrames::InlinedCall>& InlineFrames::calls_in(
    const DwarfFunction& function) {
  const auto [place, is_new] = calls_.try_emplace(function.entry.addr);
  if (is_new) {
    Dwarf_Die entry = function.entry;
    collect_calls(entry, 0, place->second);
  }
  return place->second;
}

void InlineFrames::collect_calls(Dwarf_Die& parent, int nesting, std::vector<InlinedCall>& calls) {
  Dwarf_Die child;
  if (nesting > kMaxNesting || ::dwarf_child(&parent, &child) != 0) {
    return;
  }
  const auto add_range = [&](std::uint64_t start, std::uint64_t limit) {
    calls.push_back({start, limit, child});
    return calls.size() < kMaxRanges;
  };
  do {
    if (calls.size() >= kMaxRanges) {
      return;
    }
    const int tag = ::dwarf_tag(&child);
    if (tag == DW_TAG_inlined_subroutine) {
      for_each_range(child, add_range);
    }
    if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
        tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
      collect_calls(child, nesting + 1, calls);
    }
  } while (::dwarf_siblingof(&child, &child) == 0);
}

}  // namespace memtrace
