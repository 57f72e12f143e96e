#include "views/kit/shmem_pages.h"

#include "support/fake_namer.h"
#include "views/fault/fault_script.h"

namespace memtrace::test::shmem_pages_test {
namespace {

constexpr std::uint64_t kMovable = 8;
constexpr const char* kTitle = "pages of shared memory and tmpfs, by the process that added them";

Frames kernel_frames(std::initializer_list<std::string> functions) {
  Frames named = frames(functions);
  for (Frame& frame : named) {
    frame.kernel = true;
  }
  return named;
}

const Table* growth(const Report& report) {
  const auto found = std::ranges::find(report.tables, kTitle, &Table::title);
  return found == report.tables.end() ? nullptr : &*found;
}

// As the stacks of pages are from 3.10 to 6.18.
TEST(ShmemWay, is_told_by_the_functions_of_all_kernels) {
  EXPECT_EQ(shmem_way(kernel_frames({"__alloc_pages_nodemask",
                                     "alloc_pages_vma",
                                     "shmem_alloc_page",
                                     "shmem_getpage_gfp",
                                     "shmem_write_begin",
                                     "generic_file_buffered_write"})),
            "write");
  EXPECT_EQ(shmem_way(kernel_frames({"shmem_alloc_folio",
                                     "shmem_alloc_and_add_folio",
                                     "shmem_get_folio_gfp",
                                     "shmem_write_begin",
                                     "generic_perform_write",
                                     "shmem_file_write_iter"})),
            "write");
  EXPECT_EQ(shmem_way(kernel_frames({"shmem_getpage_gfp.isra.0", "shmem_fault", "__do_fault"})),
            "fault");
  EXPECT_EQ(shmem_way(kernel_frames({"shmem_get_folio", "shmem_fallocate", "vfs_fallocate"})),
            "fallocate");
  EXPECT_EQ(shmem_way(kernel_frames({"shmem_swapin_folio", "shmem_get_folio_gfp", "shmem_fault"})),
            "swap in");
  EXPECT_EQ(shmem_way(kernel_frames({"shmem_read_mapping_page_gfp", "shmem_get_pages"})), "other");
  EXPECT_EQ(shmem_way(kernel_frames({"__filemap_get_folio", "ext4_da_write_begin"})), "");
  EXPECT_EQ(shmem_way(frames({"shmem_fault"})), "") << "a program's own function";
}

// Stack 5 writes to tmpfs, stack 6 to a disk, stack 7 faults in a segment.
class ShmemPagesTest : public testing::TestWithParam<const char*> {
 protected:
  ShmemPagesTest() {
    namer_.locations[LocationId{5}] =
        kernel_frames({"shmem_alloc_folio", "shmem_write_begin", "shmem_file_write_iter"});
    namer_.locations[LocationId{6}] = kernel_frames({"ext4_write_begin"});
    namer_.locations[LocationId{7}] = kernel_frames({"shmem_alloc_folio", "shmem_fault"});
  }

  // With the calls and events that the two views rest on.
  Report report_of(const std::vector<Step>& steps, const Observation& observation = {}) {
    EventScript script(GetParam(), {.namer = &namer_});
    if (!observation.reader.empty()) {
      script.world().observations().add(observation);
    }
    script.name_process(100, "dd");
    script.add_field("kmem:mm_page_alloc", "gfp_flags").flags = {{kMovable, "__GFP_MOVABLE"}};
    script.type("syscalls:sys_exit_shmget");
    script.type("filemap:mm_filemap_add_to_page_cache");
    script.type("filemap:mm_filemap_delete_from_page_cache");
    EXPECT_TRUE(script.check().ok());
    script.play(steps);
    return script.finish();
  }

  FakeNamer namer_;
};

TEST_P(ShmemPagesTest, are_told_from_others_by_way_and_process) {
  const Report report = report_of({with_stack(5, page_alloc(0, kMovable)),
                                   with_stack(5, page_alloc(9, kMovable)),
                                   with_stack(5, page_alloc(0, 0)),  // a node of the file's tree
                                   with_stack(5, page_alloc(0, kMovable, true)),
                                   with_stack(6, page_alloc(0, kMovable)),
                                   weighing(3, with_stack(7, page_alloc(0, kMovable)))});
  const Table* table = growth(report);
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows.size(), 2U);
  const auto* written = find_row(*table, {text("write"), text("dd"), number(100)});
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->at(3), number(513));
  EXPECT_EQ(written->at(4), number(513 * 4096));
  const auto* faulted = find_row(*table, {text("fault"), text("dd"), number(100)});
  ASSERT_NE(faulted, nullptr);
  EXPECT_EQ(faulted->at(3), number(3));
  EXPECT_EQ(total(report, "shmem_pages"), 516U);
}

TEST_P(ShmemPagesTest, files_on_tmpfs_that_grew_are_named) {
  const std::vector<Step> steps = {with_stack(5, page_alloc(0, kMovable))};
  const Report report = report_of(steps,
                                  {.reader = "tmpfs",
                                   .rows = {{.numbers = {{"bytes", 8192}, {"grown", 4096}},
                                             .texts = {{"path", "/dev/shm/x"}}}}});
  const auto table =
      std::ranges::find(report.tables, "files on tmpfs that grew, of all processes", &Table::title);
  ASSERT_NE(table, report.tables.end());
  EXPECT_NE(find_row(*table, {text("/dev/shm/x"), number(4096), number(8192)}), nullptr);
  const Report without = report_of(steps, {.reader = "tmpfs"});
  EXPECT_EQ(std::ranges::find(without.tables, table->title, &Table::title), without.tables.end());
}

TEST_P(ShmemPagesTest, are_not_known_without_names_or_stacks) {
  EXPECT_TRUE(has_note(report_of({}), "has no kmem:mm_page_alloc"));
  namer_.locations[LocationId{6}] = kernel_frames({"[kernel]+0x1234"});
  const Report unnamed = report_of({with_stack(6, page_alloc(0, kMovable))});
  EXPECT_TRUE(has_note(unnamed, "the kernel's functions have no names"));
  EXPECT_EQ(growth(unnamed), nullptr);
}

INSTANTIATE_TEST_SUITE_P(in,
                         ShmemPagesTest,
                         testing::Values("shm", "filepages"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace memtrace::test::shmem_pages_test
