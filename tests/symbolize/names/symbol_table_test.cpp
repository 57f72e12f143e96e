#include "symbolize/names/symbol_table.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

Symbol symbol(const char* name, std::uint64_t start, std::uint64_t size_bytes, unsigned binding) {
  GElf_Sym source{};
  source.st_info = static_cast<unsigned char>(GELF_ST_INFO(binding, STT_FUNC));
  source.st_shndx = 1;
  source.st_value = start;
  source.st_size = size_bytes;
  Symbol made = make_symbol(source, name);
  made.section_limit = 0x2000;
  return made;
}

std::string name_at(const SymbolTable& table, std::uint64_t svma) {
  const Symbol* found = table.find(svma);
  return found == nullptr ? "" : found->readable_name();
}

SymbolTable table_of(const std::vector<Symbol>& symbols) {
  SymbolTable table;
  for (const Symbol& each : symbols) {
    table.add(each);
  }
  table.sort();
  return table;
}

TEST(SymbolTable, address_between_functions_has_no_name) {
  const auto table = table_of(
      {symbol("second", 0x1100, 0x20, STB_GLOBAL), symbol("first", 0x1000, 0x20, STB_GLOBAL)});
  EXPECT_EQ(name_at(table, 0x1000), "first");
  EXPECT_EQ(name_at(table, 0x101f), "first");
  EXPECT_EQ(name_at(table, 0x1020), "");
  EXPECT_EQ(name_at(table, 0x1100), "second");
  EXPECT_EQ(name_at(table, 0xfff), "");
}

TEST(SymbolTable, symbol_without_size_reaches_to_the_next_or_the_sections_end) {
  const auto table = table_of({symbol("assembly", 0x1000, 0, STB_GLOBAL),
                               symbol("sized", 0x1100, 0x10, STB_GLOBAL),
                               symbol("last", 0x1f00, 0, STB_GLOBAL)});
  EXPECT_EQ(name_at(table, 0x10ff), "assembly");
  EXPECT_EQ(name_at(table, 0x1110), "");
  EXPECT_EQ(name_at(table, 0x1fff), "last");
  EXPECT_EQ(name_at(table, 0x2000), "");
}

TEST(SymbolTable, function_goes_on_behind_one_inside_it) {
  const auto table = table_of(
      {symbol("outer", 0x1000, 0x100, STB_GLOBAL), symbol("inner", 0x1040, 0x10, STB_LOCAL)});
  EXPECT_EQ(name_at(table, 0x1048), "inner");
  EXPECT_EQ(name_at(table, 0x1050), "outer");
}

TEST(SymbolTable, exported_name_with_the_fewest_underscores_is_shown) {
  const auto table = table_of({symbol("__libc_write", 0x1000, 0x10, STB_GLOBAL),
                               symbol("__GI___write", 0x1000, 0x10, STB_LOCAL),
                               symbol("write", 0x1000, 0x10, STB_WEAK),
                               symbol("__write", 0x1000, 0x10, STB_GLOBAL)});
  EXPECT_EQ(name_at(table, 0x1008), "write");
}

TEST(SymbolTable, stub_is_marked) {
  Symbol stub = symbol("_ZdlPv", 0x1000, 0x10, STB_GLOBAL);
  stub.is_plt_stub = true;
  EXPECT_EQ(name_at(table_of({stub}), 0x1000), "operator delete(void*)@plt");
}

TEST(SymbolTable, empty_table_finds_nothing) {
  SymbolTable table;
  table.sort();
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.find(0), nullptr);
}

}  // namespace
}  // namespace memtrace
