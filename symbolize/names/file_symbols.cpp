#include "symbolize/names/file_symbols.h"

#include <utility>

#include "symbolize/names/plt_stubs.h"

namespace memtrace {

FileSymbols FileSymbols::load(ElfFile file,
                              const std::string& mapped_path,
                              const DebugPlaces& places,
                              bool with_dwarf) {
  FileSymbols symbols(std::move(file));
  const bool complete = symbols.file_.section_of_type(SHT_SYMTAB) &&
                        (!with_dwarf || symbols.file_.section(".debug_info"));
  if (!complete) {
    symbols.debug_file_ = find_debug_file(symbols.file_, mapped_path, places);
  }
  if (symbols.debug_file_) {
    symbols.debug_bias_ = symbols.file_.base_svma() - symbols.debug_file_->base_svma();
  }
  symbols.load_symbols();
  if (with_dwarf) {
    symbols.load_dwarf();
  }
  return symbols;
}

void FileSymbols::load_symbols() {
  std::size_t static_count = symbols_.add_section(file_, SHT_SYMTAB, 0);
  if (static_count == 0 && debug_file_) {
    static_count = symbols_.add_section(*debug_file_, SHT_SYMTAB, debug_bias_);
  }
  if (static_count == 0) {
    mini_debug_info_ = MiniDebugInfo::load(file_, symbols_);
  }
  symbols_.add_section(file_, SHT_DYNSYM, 0);
  add_plt_stubs(file_, symbols_);
  symbols_.sort();
}

void FileSymbols::load_dwarf() {
  auto own = InlineFrames::open(file_);
  const bool is_separate = own.ok() && own.value() == nullptr && debug_file_;
  if (is_separate) {
    own = InlineFrames::open(*debug_file_);
    dwarf_bias_ = debug_bias_;
  }
  if (own.ok()) {
    inline_frames_ = own.take();
  } else {
    dwarf_problem_ = own.error().message;
  }
}

std::string FileSymbols::problem() const {
  if (file_.was_cut() || (debug_file_ && debug_file_->was_cut())) {
    return "it became shorter while it was read";
  }
  if (inline_frames_ != nullptr && inline_frames_->left_out_lines()) {
    return "its source lines take too much memory";
  }
  return dwarf_problem_.empty() ? mini_debug_info_.problem() : dwarf_problem_;
}

std::vector<FrameName> FileSymbols::name(std::uint64_t file_offset) {
  const auto svma = file_.svma_of(file_offset);
  if (!svma) {
    return {};
  }
  std::vector<FrameName> frames;
  if (inline_frames_ != nullptr) {
    const std::uint64_t dwarf_svma = *svma - dwarf_bias_;
    for (SourceFrame& source : inline_frames_->at(dwarf_svma)) {
      FrameName frame;
      frame.function = std::move(source.function);
      frame.offset_in_function = dwarf_svma - source.start;
      frame.file = std::move(source.file);
      frame.line = source.line;
      frame.inlined = source.inlined;
      frames.push_back(std::move(frame));
    }
  }
  const Symbol* symbol = symbols_.find(*svma);
  if (symbol != nullptr) {
    if (frames.empty()) {
      frames.emplace_back();
    }
    // The symbol's name for what is not inlined: DWARF says __libc_malloc where people, and
    // machines without debug files, say malloc.
    frames.back().function = symbol->readable_name();
    frames.back().offset_in_function = *svma - symbol->start;
  }
  return frames;
}

}  // namespace memtrace
