#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "symbolize/names/demangle.h"

namespace memtrace {
namespace {

// As names hold them: "_" is 0, "0_" is 1.
std::string base62(std::size_t value) {
  constexpr std::string_view kDigits =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string text = "_";
  if (value != 0) {
    std::size_t rest = value - 1;
    do {
      text.insert(0, 1, kDigits[rest % 62]);
      rest /= 62;
    } while (rest != 0);
  }
  return text;
}

TEST(RustV0, paths_lose_their_crate_hashes) {
  EXPECT_EQ(demangle("_RNvCs1234_7mycrate4main"), "mycrate::main");
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
}

TEST(RustV0, closures_are_numbered) {
  EXPECT_EQ(demangle("_RNCNvCs1234_7mycrate4main0B3_"), "mycrate::main::{closure#0}");
  EXPECT_EQ(demangle("_RNCNCNvCs1234_7mycrate4main00B5_"),
            "mycrate::main::{closure#0}::{closure#0}");
  EXPECT_EQ(demangle("_RNCNvCs1234_7mycrate4mains_0B3_"), "mycrate::main::{closure#1}");
}

TEST(RustV0, generics_and_backward_references_are_written_out) {
  EXPECT_EQ(
      demangle("_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeNtNtCs1_5alloc6string6StringEB4_"),
      "core::ptr::drop_in_place::<alloc::string::String>");
  EXPECT_EQ(demangle("_RINvC1a1fRAhj10_TlmEE"), "a::f::<&[u8; 16], (i32, u32)>");
  EXPECT_EQ(demangle("_RINvC1a1fDNtC1a1TEL_FUKCPbEuE"),
            "a::f::<dyn a::T, unsafe extern \"C\" fn(*const bool)>");
}

TEST(RustV0, trait_methods_name_type_and_trait) {
  EXPECT_EQ(demangle("_RNvXCs1_7mycrateNtB2_3FooNtNtCs2_4core5clone5Clone5clone"),
            "<mycrate::Foo as core::clone::Clone>::clone");
}

TEST(RustV0, broken_names_stay_as_they_are) {
  for (const char* name : {"_R",
                           "_RNv",
                           "_RNvC5a",
                           "_RNvC1a999999999999999999999b",
                           "_RB_",
                           "_RIB_E",
                           "_RNvXC1a",
                           "_Rxyz",
                           "_RINvC1a1fRRRR"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

TEST(RustV0, text_that_doubles_with_each_reference_is_given_up) {
  std::string name = "_RINvC1a1f";
  std::size_t previous = name.size() - 2;
  name += "TmmE";
  for (int i = 0; i < 30; ++i) {
    const std::size_t here = name.size() - 2;
    const std::string reference = "B" + base62(previous);
    name += "T" + reference + reference + "E";
    previous = here;
  }
  EXPECT_EQ(demangle(name + "E"), name + "E");
  for (const std::size_t depth : {2'000, 8'000, 100'000}) {
    const std::string deep = "_RINvC1a1f" + std::string(depth, 'R') + "mE";
    EXPECT_EQ(demangle(deep), deep);
  }
}

}  // namespace
}  // namespace memtrace
