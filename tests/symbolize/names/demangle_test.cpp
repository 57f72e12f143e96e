#include "symbolize/names/demangle.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(Demangle, c_names_stay) {
  EXPECT_EQ(demangle("malloc"), "malloc");
  EXPECT_EQ(demangle(""), "");
  EXPECT_EQ(demangle("_start"), "_start");
}

TEST(Demangle, cpp_names_become_readable) {
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(demangle("_ZN3foo3barEv.cold"), "foo::bar() [clone .cold]");
}

TEST(Demangle, broken_cpp_names_stay) {
  EXPECT_EQ(demangle("_ZNSt6vectorIi"), "_ZNSt6vectorIi");
  EXPECT_EQ(demangle("_Z"), "_Z");
}

TEST(Demangle, names_of_absurd_length_stay) {
  const std::string name = "_Z" + std::string(100'000, 'P') + "i";
  EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, text_that_doubles_with_each_reference_is_given_up) {
  std::string name = "_Z1fSt4pairIiiE";  // then pairs of the pair before
  for (const char digit : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    const std::string before = std::string("S") + digit + "_";
    name += "S_I" + before + before + "E";
  }
  EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, rust_hash_is_cut) {
  EXPECT_EQ(demangle("_ZN4core3fmt5write17h01234567890abcdeE"), "core::fmt::write");
  EXPECT_EQ(demangle("_ZN4core3fmt5write17h01234567890abcdeE.llvm.123456"), "core::fmt::write");
}

TEST(Demangle, rust_escapes_are_undone) {
  EXPECT_EQ(demangle("_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt"
                     "17h0123456789abcdefE"),
            "<alloc::string::String as core::fmt::Debug>::fmt");
  EXPECT_EQ(demangle("_ZN4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"),
            "main::{{closure}}");
}

TEST(Demangle, cpp_function_that_only_looks_hashed_keeps_its_name) {
  EXPECT_EQ(demangle("_ZN3foo4hashEv"), "foo::hash()");
}

}  // namespace
}  // namespace memtrace
