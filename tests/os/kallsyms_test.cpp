#include "os/kallsyms.h"

#include <gtest/gtest.h>

#include <string>

namespace memtrace {
namespace {

TEST(Kallsyms, a_line_is_taken_apart) {
  const auto line = parse_kallsyms_line("ffffffffc0a1b000 t nft_do_chain\t[nf_tables]");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->address, 0xffffffffc0a1b000U);
  EXPECT_EQ(line->type, 't');
  EXPECT_TRUE(line->is_code());
  EXPECT_EQ(line->name, "nft_do_chain");
  EXPECT_EQ(line->module, "[nf_tables]");
}

TEST(Kallsyms, the_kernels_own_have_no_module) {
  const auto line = parse_kallsyms_line("ffffffff82a05940 D jiffies");
  ASSERT_TRUE(line.has_value());
  EXPECT_FALSE(line->is_code());
  EXPECT_EQ(line->name, "jiffies");
  EXPECT_EQ(line->module, "");
}

TEST(Kallsyms, a_line_that_is_cut_off_is_none) {
  const std::string whole = "ffffffff82a05940 D j";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(parse_kallsyms_line(whole.substr(0, bytes)).has_value()) << bytes;
  }
  EXPECT_TRUE(parse_kallsyms_line(whole).has_value());
  EXPECT_FALSE(parse_kallsyms_line("zz D jiffies").has_value());
  EXPECT_FALSE(parse_kallsyms_line("11111111111111111 D jiffies").has_value());  // 68 bits
  EXPECT_FALSE(parse_kallsyms_line("ffffffff82a05940 DD jiffies").has_value());
}

TEST(Kallsyms, a_symbol_is_found_by_its_whole_name) {
  constexpr std::string_view kText =
      "ffffffff81000000 T _text_start\n"
      "ffffffff81000010 T my_text\n"
      "ffffffff81000020 T _text\n"
      "ffffffffc0000000 t _text\t[a]\n"
      "ffffffffc0000001 t last\t[_text]";
  EXPECT_EQ(find_kallsyms_line(kText, "_text")->address, 0xffffffff81000020U);
  EXPECT_EQ(find_kallsyms_line(kText, "_text")->module, "");
  EXPECT_EQ(find_kallsyms_line(kText, "last")->module, "[_text]");
  EXPECT_FALSE(find_kallsyms_line(kText, "[a]").has_value());
  EXPECT_FALSE(find_kallsyms_line(kText, "text").has_value());
  EXPECT_FALSE(find_kallsyms_line(kText, "ffffffff81000020").has_value());
  EXPECT_FALSE(find_kallsyms_line(kText, "").has_value());
  EXPECT_FALSE(find_kallsyms_line("", "_text").has_value());
}

}  // namespace
}  // namespace memtrace
