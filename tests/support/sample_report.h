// A report with every shape and every kind of cell, for the golden files of the renderers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"

namespace memtrace::test {

inline constexpr StackId kSlabStack{1};
inline constexpr StackId kUserStack{2};
inline constexpr LocationId kSeqRead{1};
inline constexpr LocationId kLongName{2};

inline constexpr ModuleId kKernelFile{1};
inline constexpr ModuleId kLibcFile{2};
inline constexpr ModuleId kDemoFile{3};

inline Frames kernel_frames() {
  return {{.function = "__kmalloc_noprof",
           .module = "[kernel]",
           .kernel = true,
           .file_id = kKernelFile,
           .address = 0xffffffff81230010},
          {.function = "nf_ct_alloc",
           .module = "[nf_conntrack]",
           .kernel = true,
           .file_id = kKernelFile,
           .address = 0xffffffffc0100020},
          {.function = "do_syscall_64",
           .module = "[kernel]",
           .kernel = true,
           .file_id = kKernelFile,
           .address = 0xffffffff81900030},
          {.function = "read", .module = "libc.so.6", .file_id = kLibcFile, .address = 0xf1000},
          {.function = "main",
           .module = "demo",
           .file = "/src/demo.cpp",
           .line = 42,
           .file_id = kDemoFile,
           .address = 0x1150}};
}

inline Frames user_frames() {
  return {{.function = "operator new(unsigned long)", .module = "/usr/lib/libstdc++.so.6"},
          {.function = "std::vector<int>::push_back(int const&)",
           .module = "demo",
           .file = "/usr/include/c++/12/bits/stl_vector.h",
           .line = 1280,
           .inlined = true,
           .file_id = kDemoFile,
           .address = 0x1200},
          {.function = "std::unordered_map<std::string, std::vector<std::pair<int, double>>, "
                       "std::hash<std::string>>::operator[](std::string const&)",
           .module = "demo",
           .file = "map.h",
           .line = 7,
           .file_id = kDemoFile,
           .address = 0x1200},
          {.function = "demo+0x1234", .module = "demo"},
          {.function = "lambda;with;semicolons", .module = "demo"}};
}

inline Table stack_table() {
  return {
      .title = "By stack",
      .columns = {{"comm", Unit::Text},
                  {"pid", Unit::Number},
                  {"stack", Unit::Stack},
                  {"count", Unit::Count},
                  {"bytes_alloc", Unit::Bytes},
                  {"avg_bytes", Unit::Bytes},
                  {"kept_percent", Unit::Percent}},
      .key_count = 3,
      .sort = "bytes_alloc",
      .weight = "bytes_alloc",
      .rows = {{"demo",
                std::uint64_t{4711},
                kSlabStack,
                std::uint64_t{1454312},
                std::uint64_t{1489215488},
                1024.0,
                96.25},
               {"a, \"b\"",
                std::uint64_t{12},
                kUserStack,
                std::uint64_t{3},
                std::uint64_t{96},
                32.0,
                3.75},
               {"", Cell(), StackId{}, std::uint64_t{1}, std::uint64_t{7}, Cell(), Cell()},
               {"other", Cell(), Cell(), std::uint64_t{1000}, std::uint64_t{2048}, Cell(), Cell()}},
      .note = "3 rows of 3,415; the other 3,412 are in the last line",
      .last_is_rest = true,
      .share_of = "bytes_alloc",
      .whole = 1489217639};
}

inline Table location_table() {
  return {.title = "By call site",
          .columns = {{"call_site", Unit::Text},
                      {"flags", Unit::Address},
                      {"change", Unit::Bytes},
                      {"rate", Unit::PerSecond},
                      {"speed", Unit::BytesPerSecond},
                      {"age", Unit::Nanoseconds}},
          .key_count = 2,
          .weight = "change",
          .rows = {{kSeqRead,
                    std::uint64_t{0xcc0},
                    std::int64_t{-4096},
                    1234.56,
                    std::uint64_t{1572864},
                    std::uint64_t{12300}},
                   {kLongName, std::uint64_t{0}, std::int64_t{4096}, 0.04, 0.0, Cell()},
                   {LocationId{}, Cell(), Cell(), Cell(), Cell(), Cell()}}};
}

inline Report sample_report() {
  Report report{.view = "kmalloc",
                .title = "Kernel memory by stack",
                .start_ns = 1'000'000'000,
                .end_ns = 11'500'000'000};
  report.totals = {{"count", Unit::Count, 1455316}, {"bytes_alloc", Unit::Bytes, 1489217639}};
  report.tables = {
      stack_table(), location_table(), {.title = "Empty", .columns = {{"count", Unit::Count}}}};
  report.histograms = {{"Sizes", Unit::Bytes, {{64, 127, 123}, {128, 255, 0}, {1024, 2047, 1}}},
                       {"Lifetimes", Unit::Nanoseconds, {{512, 1023, 7}, {1024, 2047, 14}}},
                       {"Orders", Unit::Number, {{0, 0, 5}, {1, 1, 10}}}};
  report.series = {
      {"Free memory", Unit::Bytes, {{1'000'000'000, 1073741824}, {2'250'000'000, 512}}}};
  report.caveats = {.lost = 1200,
                    .late = 34,
                    .cut = 2,
                    .unmatched = 17,
                    .notes = {"kptr_restrict hides kernel addresses: names of modules are missing; "
                              "run as root, or set kernel.kptr_restrict=0 to see them"}};
  report.stacks = {{kSlabStack, kernel_frames()}, {kUserStack, user_frames()}};
  report.modules = {
      {kKernelFile, {.path = "[kernel.kallsyms]"}},
      {kLibcFile,
       {.path = "/usr/lib/libc.so.6", .build_id = "0a0b0c0d0e0f101112131415161718191a1b1c1d"}},
      {kDemoFile, {.path = "/usr/bin/demo <&>", .build_id = "ff"}}};
  report.origin = {.host = "example",
                   .boot_id = "6a6e0fd2",
                   .kernel_release = "6.1.0",
                   .architecture = "x86_64",
                   .target = "demo \"-x\""};
  report.locations = {
      {kSeqRead, {{.function = "seq_read_iter", .module = "[kernel]", .kernel = true}}},
      {kLongName, {{.function = std::string(60, 'a') + std::string(60, 'z'), .module = "demo"}}}};
  return report;
}

// Two views of one recording: the first says what the overview says, the second has more to say.
inline Report sample_overview() {
  Report overview{.view = "overview", .title = "Overview", .start_ns = 0, .end_ns = 2'000'000'000};
  overview.totals = {{"events", Unit::Count, 4}};
  Report faults{.view = "faults", .title = "Page faults by process"};
  faults.totals = {{"count", Unit::Count, 3}};
  faults.tables = {{.title = "By process",
                    .columns = {{"comm", Unit::Text}, {"count", Unit::Count}},
                    .key_count = 1,
                    .sort = "count",
                    .weight = "count",
                    .rows = {{"bash", std::uint64_t{2}}, {"ls\x1b[2J", std::uint64_t{1}}}}};
  Report oom{.view = "oom", .title = "Processes killed for want of memory"};
  oom.caveats.notes = {"oom:mark_victim tells no names on this kernel"};
  oom.tables = {{.title = "Kills",
                 .columns = {{"comm", Unit::Text}, {"count", Unit::Count}},
                 .key_count = 1}};
  overview.reports = {std::move(faults), std::move(oom)};
  return overview;
}

}  // namespace memtrace::test
