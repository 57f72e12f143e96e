#include "views/kernel/leak_origins.h"

#include "support/event_script.h"
#include "support/fake_namer.h"

namespace memtrace::test {
namespace {

// Kernel functions of one process, each at an address of its own.
class LeakOriginsTest : public testing::Test {
 protected:
  // Innermost first.
  StackId stack_of(std::initializer_list<const char*> functions) {
    std::vector<std::uint64_t> chain;
    for (const char* function : functions) {
      const auto [known, is_new] =
          avmas_.try_emplace(function, 0xffffffff81000001 + 16 * avmas_.size());
      chain.push_back(known->second);
    }
    const StackId stack = world_.intern_stack(0, chain);
    const std::vector<LocationId> places = world_.stacks().locations(stack);
    std::size_t at = 0;
    for (const char* function : functions) {
      namer_.locations[places[at++]] = {{.function = function, .kernel = true}};
    }
    return stack;
  }

  std::map<std::string, std::uint64_t> avmas_;
  World world_{{}};
  FakeNamer namer_;
  LeakOrigins origins_{&namer_};
};

TEST_F(LeakOriginsTest, what_one_call_makes_has_one_origin) {
  const StackId sock = stack_of(
      {"sk_alloc", "inet_create", "__x64_sys_socket", "do_syscall_64", "entry_SYSCALL_64"});
  const StackId inode =
      stack_of({"sock_alloc_inode", "__x64_sys_socket", "do_syscall_64", "entry_SYSCALL_64"});
  const StackId pipe =
      stack_of({"alloc_pipe_info", "__x64_sys_pipe2", "do_syscall_64", "entry_SYSCALL_64"});
  const StackId origin = origins_.origin_of(sock, world_);
  const std::vector<LocationId> places = world_.stacks().locations(origin);
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(namer_.location(places.front()).front().function, "__x64_sys_socket");
  EXPECT_EQ(origins_.origin_of(inode, world_), origin);
  EXPECT_NE(origins_.origin_of(pipe, world_), origin);
}

TEST_F(LeakOriginsTest, stack_of_entries_alone_is_its_own_origin) {
  const StackId stack = stack_of({"kthread", "ret_from_fork"});
  EXPECT_EQ(origins_.origin_of(stack, world_), stack);
  EXPECT_FALSE(origins_.origin_of(StackId(), world_).valid());
}

TEST_F(LeakOriginsTest, without_names_nothing_belongs_together) {
  LeakOrigins nameless(nullptr);
  const StackId stack = stack_of({"a", "b", "do_syscall_64"});
  EXPECT_EQ(nameless.origin_of(stack, world_), stack);
}

TEST_F(LeakOriginsTest, pages_of_slab_caches_are_recognized) {
  LiveBlock block{.kind = BlockKind::Page};
  block.stack = stack_of({"__alloc_pages", "allocate_slab", "kmem_cache_alloc", "d_alloc"});
  EXPECT_TRUE(origins_.is_of_slab_cache(block, world_));
  block.kind = BlockKind::Cache;
  EXPECT_FALSE(origins_.is_of_slab_cache(block, world_)) << "an object that the slab needs itself";
  block.kind = BlockKind::Page;
  block.stack = stack_of({"__alloc_pages", "alloc_pipe_info"});
  EXPECT_FALSE(origins_.is_of_slab_cache(block, world_));
}

}  // namespace
}  // namespace memtrace::test
