#include "overview/stack_words.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

Frame kernel(const char* function) {
  return {.function = function, .module = "[kernel]", .kernel = true};
}

Frame user(const char* function, const char* module = "server") {
  return {.function = function, .module = module};
}

TEST(StackWords, culprit_is_the_first_function_that_is_no_allocator) {
  EXPECT_EQ(culprit_of({kernel("exc_page_fault"),
                        kernel("asm_exc_page_fault"),
                        user("_int_malloc", "libc.so.6"),
                        user("malloc", "libc.so.6"),
                        user("operator new(unsigned long)", "libstdc++.so.6"),
                        user("Cache::insert(int)"),
                        user("main")}),
            "Cache::insert");
}

TEST(StackWords, frames_without_names_are_passed_over) {
  EXPECT_EQ(culprit_of({user("server+0x1234"), user("[unknown]"), user("main")}), "main");
}

TEST(StackWords, containers_are_no_culprits_where_the_program_has_a_function_of_its_own) {
  const Frame inlined{.function = "construct",
                      .module = "server",
                      .file = "/usr/include/c++/12/bits/alloc_traits.h",
                      .inlined = true};
  const Frame construct = user(
      "decltype (::new ((void*)(0)) Block(declval<Block>())) std::construct_at<Block>(Block*)");
  const Frame insert = user("tsl::robin_map<int, Block>::insert(int)");
  const Frame thread = user("execute_native_thread_routine", "libstdc++.so.6");
  EXPECT_EQ(culprit_of({inlined, construct, insert, user("Cache::insert(int)"), user("main")}),
            "Cache::insert");
  EXPECT_EQ(culprit_of({insert, user("std::thread::_M_run()"), thread, user("start_thread")}),
            "tsl::robin_map<int, Block>::insert");
  EXPECT_EQ(culprit_of({insert, user("server+0x12"), user("_start")}),
            "tsl::robin_map<int, Block>::insert");
}

TEST(StackWords, without_user_code_it_is_a_function_of_the_kernel) {
  EXPECT_EQ(culprit_of({kernel("kmem_cache_alloc_noprof"), kernel("alloc_inode"), kernel("iget")}),
            "alloc_inode");
  EXPECT_EQ(kernel_culprit_of({kernel("__kmalloc"), kernel("nf_ct_alloc"), user("main")}),
            "nf_ct_alloc");
}

TEST(StackWords, nothing_is_said_of_a_stack_without_names) {
  EXPECT_EQ(culprit_of({}), "");
  EXPECT_EQ(culprit_of({user("a+0x1")}), "");
  EXPECT_EQ(most_in(""), "");
  EXPECT_EQ(most_in("f"), ", most in f");
}

TEST(StackWords, only_the_types_of_arguments_are_left_out) {
  EXPECT_EQ(culprit_of({user("decltype (make(1)) visit<int>(Visitor&, void (*)(int)) const")}),
            "decltype (make(1)) visit<int>");
  EXPECT_EQ(culprit_of({user("f(g()")}), "f(g");
  EXPECT_EQ(culprit_of({user("(anonymous namespace)::run(int)")}), "(anonymous namespace)::run");
  EXPECT_EQ(culprit_of({user("Task::operator()(int)")}), "Task::operator()");
  EXPECT_EQ(culprit_of({user("Task::operator()")}), "Task::operator()");
  EXPECT_EQ(culprit_of({user("plain")}), "plain");
}

TEST(StackWords, purpose_is_the_most_particular_one) {
  EXPECT_EQ(purpose_of({kernel("shmem_alloc_folio"), kernel("handle_mm_fault")}),
            "tmpfs and shared memory");
  EXPECT_EQ(purpose_of({kernel("do_anonymous_page"), kernel("__mm_populate")}),
            "memory populated at once (mlock, MAP_POPULATE)");
  EXPECT_EQ(purpose_of({kernel("do_anonymous_page"), kernel("handle_mm_fault")}),
            "anonymous memory");
  EXPECT_EQ(purpose_of({kernel("kmem_cache_alloc"), kernel("d_alloc")}), "");
  EXPECT_EQ(purpose_of({user("shmem_of_a_program")}), "");
}

TEST(StackWords, memory_of_programs_and_page_cache_come_back) {
  EXPECT_TRUE(comes_back("anonymous memory copied on write"));
  EXPECT_FALSE(comes_back("tmpfs and shared memory"));
  EXPECT_TRUE(comes_back("page cache"));
  EXPECT_FALSE(comes_back("kernel memory"));
}

TEST(StackWords, pages_of_slab_caches_are_known) {
  EXPECT_TRUE(is_slab_page({kernel("__alloc_pages"), kernel("allocate_slab")}));
  EXPECT_FALSE(is_slab_page({kernel("__alloc_pages"), user("new_slab")}));
}

}  // namespace
}  // namespace memtrace
