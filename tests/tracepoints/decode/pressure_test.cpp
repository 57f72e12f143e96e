// Kills for lack of memory, compaction, migration, huge pages and writeback, as saved kernels and
// older ones have them.
#include <gtest/gtest.h>

#include <string>

#include "support/filled_sample.h"

namespace memtrace {
namespace {

constexpr auto kKernels = {"5.10", "6.1", "6.12", "6.18"};

TEST(Oom, victim_of_5_10_0_is_a_pid_alone) {
  const auto victim =
      FilledSample(saved_format("5.10", "oom:mark_victim")).put("pid", 42).decode<OomVictim>();
  EXPECT_EQ(victim.pid, 42U);
  EXPECT_FALSE(victim.has_memory);
}

TEST(Oom, victim_has_its_memory_in_bytes_where_the_event_tells) {
  for (const char* kernel : {"6.1", "6.12", "6.18"}) {
    FilledSample sample(saved_format(kernel, "oom:mark_victim"));
    sample.put("pid", 42).put("total_vm", 2000).put("anon_rss", 1000).put("file_rss", 8);
    sample.put("shmem_rss", 4).put("uid", 1000).put("pgtables", 100).put_text("comm", "hog");
    const auto victim = sample.put("oom_score_adj", 0xfff6).decode<OomVictim>();
    EXPECT_TRUE(victim.has_memory) << kernel;
    EXPECT_EQ(victim.comm, "hog");
    EXPECT_EQ(victim.total_vm_bytes, 2000U * 1024);
    EXPECT_EQ(victim.anon_bytes, 1000U * 1024);
    EXPECT_EQ(victim.file_bytes, 8U * 1024);
    EXPECT_EQ(victim.shmem_bytes, 4U * 1024);
    EXPECT_EQ(victim.page_table_bytes, 100U * 1024);
    EXPECT_EQ(victim.uid, 1000U);
    EXPECT_EQ(victim.oom_score_adj, -10);
  }
}

TEST(Oom, signal_has_whom_it_is_sent_to) {
  FilledSample sample(saved_format("6.18", "signal:signal_generate"));
  const auto signal =
      sample.put("sig", 9).put("pid", 7).put_text("comm", "hog").decode<SignalSent>();
  EXPECT_EQ(signal.signal, 9);
  EXPECT_EQ(signal.pid, 7U);
  EXPECT_EQ(signal.comm, "hog");
}

TEST(Compaction, begin_and_end_have_the_same_zone_start) {
  for (const char* kernel : kKernels) {
    FilledSample begin(saved_format(kernel, "compaction:mm_compaction_begin"));
    const auto begun = begin.put("zone_start", 0x1000).put("sync", 1).decode<WorkBegin>();
    EXPECT_EQ(begun.kind, WorkKind::Compaction) << kernel;
    EXPECT_EQ(begun.sync, 1);
    FilledSample end(saved_format(kernel, "compaction:mm_compaction_end"));
    const auto ended = end.put("zone_start", 0x1000).put("status", 8).decode<WorkEnd>();
    EXPECT_EQ(ended.object, begun.object);
    EXPECT_EQ(ended.status, 8);
  }
}

TEST(Compaction, end_of_3_16_has_a_status_alone) {
  FilledSample end(made_format("compaction", "mm_compaction_end", {"status"}));
  const auto ended = end.put("status", 2).decode<WorkEnd>();
  EXPECT_EQ(ended.object, 0U);
  EXPECT_EQ(ended.status, 2);
}

TEST(Compaction, what_it_is_for_and_what_it_moved_is_read) {
  for (const char* kernel : kKernels) {
    for (const char* name : {"suitable", "finished"}) {
      FilledSample sample(saved_format(kernel, std::string("compaction:mm_compaction_") + name));
      const auto goal =
          sample.put("nid", 1).put("idx", 2).put("order", 0xffffffff).decode<CompactionGoal>();
      EXPECT_EQ(goal.node, 1) << kernel;
      EXPECT_EQ(goal.zone, 2);
      EXPECT_EQ(goal.order, -1);
    }
    FilledSample attempt(saved_format(kernel, "compaction:mm_compaction_try_to_compact_pages"));
    EXPECT_EQ(attempt.put("order", 9).put("gfp_mask", 0xcc0).decode<CompactionTry>().gfp, 0xcc0U);
    FilledSample moved(saved_format(kernel, "compaction:mm_compaction_migratepages"));
    EXPECT_EQ(moved.put("nr_migrated", 30).put("nr_failed", 2).decode<CompactionMoved>().put_back,
              2U);
  }
}

TEST(Migration, what_moved_and_what_did_not) {
  for (const char* kernel : kKernels) {
    FilledSample end(saved_format(kernel, "migrate:mm_migrate_pages"));
    const auto ended = end.put("succeeded", 30).put("failed", 2).put("reason", 5).decode<WorkEnd>();
    EXPECT_EQ(ended.kind, WorkKind::Migration) << kernel;
    EXPECT_EQ(ended.pages, 30U);
    EXPECT_EQ(ended.failed, 2U);
    EXPECT_EQ(ended.reason, 5);
  }
  FilledSample old(made_format("migrate", "mm_migrate_pages", {"succeeded", "failed", "mode"}));
  EXPECT_EQ(old.put("succeeded", 3).decode<WorkEnd>().reason, -1);
  FilledSample begin(saved_format("6.1", "migrate:mm_migrate_pages_start"));
  EXPECT_EQ(begin.decode<WorkBegin>().kind, WorkKind::Migration);
}

TEST(HugePages, results_have_three_names) {
  for (const char* kernel : kKernels) {
    FilledSample scan(saved_format(kernel, "huge_memory:mm_khugepaged_scan_pmd"));
    EXPECT_EQ(scan.put("status", 5).decode<Collapse>().status, 5) << kernel;
    FilledSample swapin(saved_format(kernel, "huge_memory:mm_collapse_huge_page_swapin"));
    EXPECT_EQ(swapin.put("ret", 1).decode<Collapse>().step, CollapseStep::SwapIn);
  }
  FilledSample file(saved_format("6.12", "huge_memory:mm_khugepaged_collapse_file"));
  EXPECT_EQ(file.put("result", 26).decode<Collapse>().status, 26);
}

TEST(Writeback, dirtied_pages_have_a_device_and_an_inode_under_both_names) {
  FilledSample folio(saved_format("6.18", "writeback:writeback_dirty_folio"));
  const auto dirtied =
      folio.put_text("name", "254:0").put("ino", 12).put("index", 64).decode<PageDirtied>();
  EXPECT_EQ(dirtied.device, "254:0");
  EXPECT_EQ(dirtied.inode, 12U);
  EXPECT_EQ(dirtied.index, 64U);
  FilledSample page(made_format("writeback", "writeback_dirty_page", {"ino", "index"}));
  EXPECT_EQ(page.put("ino", 13).decode<PageDirtied>().inode, 13U);
}

TEST(Writeback, pause_is_in_milliseconds_and_never_negative) {
  FilledSample sample(saved_format("6.18", "writeback:balance_dirty_pages"));
  sample.put_text("bdi", "254:0").put("dirtied", 100);
  EXPECT_EQ(sample.put("pause", 200).decode<DirtyBalance>().pause_ns, 200'000'000U);
  EXPECT_EQ(sample.put("pause", ~std::uint64_t{0}).decode<DirtyBalance>().pause_ns, 0U);
}

TEST(Writeback, written_pages_by_work_and_by_inode) {
  FilledSample work(saved_format("6.18", "writeback:writeback_pages_written"));
  EXPECT_EQ(work.put("pages", 1024).decode<PagesWritten>().pages, 1024U);
  FilledSample inode(saved_format("6.18", "writeback:writeback_single_inode"));
  EXPECT_EQ(inode.put("wrote", 9).decode<InodeWritten>().pages, 9U);
}

TEST(Writeback, rounds_of_flushers_have_a_reason_where_the_kernel_tells) {
  FilledSample begin(saved_format("6.18", "writeback:writeback_start"));
  const auto begun = begin.put("reason", 3).decode<FlushRound>();
  EXPECT_TRUE(begun.begins);
  EXPECT_EQ(begun.reason, 3);
  FilledSample end(saved_format("6.18", "writeback:writeback_written"));
  EXPECT_FALSE(end.put("reason", 2).decode<FlushRound>().begins);
  FilledSample old(made_format("writeback", "writeback_start", {"nr_pages"}));
  EXPECT_EQ(old.decode<FlushRound>().reason, -1);
}

TEST(Writeback, writes_to_block_devices_are_in_bytes_and_reads_are_none) {
  FilledSample sample(saved_format("6.18", "block:block_bio_queue"));
  sample.put("nr_sector", 16);
  EXPECT_EQ(sample.put_text("rwbs", "WS").decode<BlockWrite>().bytes, 8192U);
  EXPECT_EQ(sample.put_text("rwbs", "FW").decode<BlockWrite>().bytes, 8192U);
  EXPECT_EQ(sample.put_text("rwbs", {"R\0", 2}).decode<BlockWrite>().bytes, 0U);
}

TEST(Percpu, memory_of_each_cpu_is_an_object_of_a_cache) {
  FilledSample sample(saved_format("6.18", "percpu:percpu_alloc_percpu"));
  sample.put("size", 64).put("ptr", 0x60a0).put("bytes_alloc", 128).put("call_site", 0xf00);
  const auto alloc = sample.decode<SlabAlloc>();
  EXPECT_EQ(alloc.bytes_req, 64U);
  EXPECT_EQ(alloc.bytes_alloc, 128U);
  EXPECT_EQ(alloc.ptr, 0x60a0U);
  EXPECT_EQ(alloc.call_site, 0xf00U);
  EXPECT_EQ(alloc.cache, kPercpuCache);
  EXPECT_FALSE(alloc.kmalloc);
  const auto free = FilledSample(saved_format("6.18", "percpu:percpu_free_percpu"))
                        .put("ptr", 0x60a0)
                        .decode<SlabFree>();
  EXPECT_EQ(free.ptr, 0x60a0U);
  FilledSample old(made_format("percpu", "percpu_alloc_percpu", {"size", "align", "ptr"}));
  EXPECT_EQ(old.put("size", 8).decode<SlabAlloc>().bytes_alloc, 8U);
}

}  // namespace
}  // namespace memtrace
