#include "symbolize/names/plt_stubs.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace memtrace {
namespace {

TEST(PltStubs, stubs_of_this_program_carry_the_names_of_their_functions) {
#ifndef __x86_64__
  GTEST_SKIP() << "stubs are read on x86-64 only";
#endif
  auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file.ok());
  const auto section = file.value().section(".plt");
  if (!section) {
    GTEST_SKIP() << "this program is linked without stubs";
  }
  ASSERT_GT(::getppid(), 0);  // calls a stub
  SymbolTable table;
  add_plt_stubs(file.value(), table);
  table.sort();
  bool found_getppid = false;
  for (std::uint64_t at = 0; at < section->header.sh_size; at += 16) {
    const Symbol* stub = table.find(section->header.sh_addr + at);
    found_getppid = found_getppid || (stub != nullptr && stub->readable_name() == "getppid@plt");
  }
  EXPECT_TRUE(found_getppid);
}

}  // namespace
}  // namespace memtrace
