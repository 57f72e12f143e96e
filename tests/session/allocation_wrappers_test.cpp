#include "session/allocation_wrappers.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

bool is_wrapper(const std::string& function) {
  return is_allocation_wrapper(Frame{.function = function, .module = "demo"});
}

TEST(AllocationWrappers, of_all_languages_are_known) {
  for (const char* function :
       {"operator new(unsigned long)",
        "operator new[](unsigned long, std::nothrow_t const&)",
        "std::allocator<int>::allocate(unsigned long)",
        "std::__new_allocator<std::_Rb_tree_node<int> >::allocate(unsigned long, void const*)",
        "__gnu_cxx::new_allocator<char>::allocate(unsigned long, void const*)",
        "std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&, unsigned "
        "long)",
        "std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)",
        "std::_Rb_tree<int, std::pair<int const, std::function<void (int)> > >::_M_get_node()",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
        ">::_M_create(unsigned long&, unsigned long)",
        "std::__detail::_Hashtable_alloc<std::allocator<int> >::_M_allocate_buckets(unsigned long)",
        "std::__1::__libcpp_allocate[abi:ne180100](unsigned long, unsigned long)",
        "std::vector<int>::push_back(int const&)",
        "void std::vector<int>::_M_realloc_insert<int const&>(int const&) [clone .isra.0]",
        "decltype (::new ((void*)(0)) Block(declval<Block>())) std::construct_at<Block, "
        "Block>(Block*)",
        "decltype ((a->b)()) std::invoke<int>(int)",
        "std::ostream& std::operator<< <char>(std::ostream&, char)",
        "std::function<void (int)>::operator()(int) const",
        "boost::container::vector<int>::priv_insert(int*) const &",
        "absl::container_internal::raw_hash_set<int>::resize(unsigned long)",
        "void absl::lts_20220623::container_internal::raw_hash_set<int>::resize(unsigned long)",
        "tsl::detail_robin_hash::robin_hash<int>::rehash_impl(unsigned long)",
        "strdup",
        "__strdup",
        "strndup",
        "asprintf",
        "__asprintf_chk",
        "xmalloc",
        "xmalloc.part.0",
        "x2nrealloc",
        "g_malloc0",
        "g_strdup",
        "PyMem_RawMalloc",
        "_PyMem_DebugRawAlloc",
        "PyObject_Malloc",
        "__rust_alloc",
        "__rust_alloc_zeroed",
        "alloc::alloc::alloc",
        "alloc::raw_vec::RawVec<T,A>::reserve_for_push",
        "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
        "runtime.mallocgc",
        "runtime.makeslice",
        "malloc@plt"}) {
    EXPECT_TRUE(is_wrapper(function)) << function;
  }
}

TEST(AllocationWrappers, functions_that_want_memory_themselves_are_not) {
  for (const char* function : {"main",
                               "xmalloc_init",
                               "strdup_all",
                               "g_malloc_test",
                               "allocate",
                               "pool::allocate(unsigned long)",
                               "Py_InitializeEx",
                               "allocations::count",
                               "runtime.main",
                               "operator()(int)",
                               "my_operator new(int)",
                               "[unknown]",
                               "demo+0x1234",
                               "",
                               "standard::f()",
                               "std",
                               "std>><(::",
                               "mystd::vector<int>::push_back(int const&)",
                               "run(std::vector<int>&)",
                               "void run<std::vector<int> >(int) const",
                               "std::vector<int> run<int>()",
                               "decltype (std::f()) run<int>(int)",
                               "absl::Mutex::Lock()",
                               "absl::f<absl::lts_1::container_internal::Set>()",
                               "boost::asio::detail::run()"}) {
    EXPECT_FALSE(is_wrapper(function)) << function;
  }
  EXPECT_FALSE(is_allocation_wrapper(Frame{.function = "malloc", .kernel = true}));
}

// DWARF has no more than the last name of some functions that are inlined.
TEST(AllocationWrappers, last_names_are_enough_in_headers_of_the_library) {
  Frame frame{
      .function = "allocate", .file = "/usr/include/c++/12/bits/new_allocator.h", .inlined = true};
  EXPECT_TRUE(is_allocation_wrapper(frame));
  frame.file = "/src/pool.h";
  EXPECT_FALSE(is_allocation_wrapper(frame));
}

TEST(AllocationWrappers, a_place_is_one_if_all_of_its_functions_are) {
  const Frame wrapper{.function = "std::allocator<int>::allocate(unsigned long)", .inlined = true};
  const Frame grow{.function = "grow"};
  EXPECT_FALSE(is_allocation_wrapper(Frames()));
  EXPECT_TRUE(is_allocation_wrapper(Frames{wrapper, {.function = "xmalloc"}}));
  EXPECT_FALSE(is_allocation_wrapper(Frames{wrapper, grow}));
}

TEST(AllocationWrappers, what_is_inlined_is_left_out_of_a_place) {
  const Frame wrapper{.function = "std::allocator<int>::allocate(unsigned long)", .inlined = true};
  const Frame grow{.function = "grow"};
  const Frames left = without_wrappers({wrapper, wrapper, grow});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].function, "grow");
  EXPECT_EQ(without_wrappers({grow, wrapper}).size(), 2U);
  EXPECT_EQ(without_wrappers({{.function = "strdup"}}).size(), 1U);
  EXPECT_TRUE(without_wrappers({}).empty());
}

}  // namespace
}  // namespace memtrace
