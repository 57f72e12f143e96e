#include "symbolize/mini_debug_info.h"

namespace memtrace {

namespace {

// We look for debug files ourselves: libdwfl would ask debuginfod servers too.
int find_no_debuginfo(Dwfl_Module* /*module*/,
                      void** /*user_data*/,
                      const char* /*module_name*/,
                      Dwarf_Addr /*base*/,
                      const char* /*file_name*/,
                      const char* /*debuglink_file*/,
                      GElf_Word /*debuglink_crc*/,
                      char** /*debuginfo_file_name*/) {
  return -1;
}

constexpr Dwfl_Callbacks kCallbacks = {.find_elf = ::dwfl_build_id_find_elf,
                                       .find_debuginfo = find_no_debuginfo,
                                       .section_address = ::dwfl_offline_section_address,
                                       .debuginfo_path = nullptr};

void add_symbols(Dwfl_Module* module, SymbolTable& table) {
  const int count = ::dwfl_module_getsymtab(module);
  for (int i = 0; i < count; ++i) {
    GElf_Sym source;
    GElf_Addr address = 0;
    GElf_Addr bias = 0;
    const char* name =
        ::dwfl_module_getsym_info(module, i, &source, &address, nullptr, nullptr, &bias);
    // The compressed table holds only functions; those without a type are in .dynsym, if anywhere.
    if (name == nullptr || *name == '\0' || GELF_ST_TYPE(source.st_info) != STT_FUNC ||
        !is_function(source)) {
      continue;
    }
    Symbol symbol = make_symbol(source, name);
    symbol.section_limit = symbol.limit;
    table.add(symbol);
  }
}

}  // namespace

MiniDebugInfo MiniDebugInfo::load(const ElfFile& file, SymbolTable& table) {
  MiniDebugInfo info;
  if (file.path().empty() || !file.section(".gnu_debugdata")) {
    return info;
  }
  info.session_.reset(::dwfl_begin(&kCallbacks));
  if (info.session_ == nullptr) {
    return info;
  }
  ::dwfl_report_begin(info.session_.get());
  Dwfl_Module* module =
      ::dwfl_report_offline(info.session_.get(), "module", file.path().c_str(), -1);
  ::dwfl_report_end(info.session_.get(), nullptr, nullptr);
  if (module != nullptr) {
    add_symbols(module, table);
  }
  return info;
}

}  // namespace memtrace
