#include "symbolize/names/symbolizer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <algorithm>

#include "support/own_code.h"
#include "symbolize/elf/elf_file.h"
#include "symbolize/elf/vdso.h"

namespace memtrace {
namespace {

constexpr ModuleId kModule{1};

// Where code runs that asks; the place is inside the instruction, as a sampled one would be.
[[gnu::always_inline]] inline std::uint64_t this_place() {
  std::uint64_t avma = 0;
#if defined(__x86_64__)
  asm volatile("lea 0(%%rip), %0" : "=r"(avma));
#elif defined(__aarch64__)
  asm volatile("adr %0, . + 4" : "=r"(avma));
#endif
  return avma - 1;
}

constexpr std::uint32_t kInnerLine = __LINE__ + 3;

[[gnu::always_inline]] inline std::uint64_t inlined_twice() {
  return this_place();
}

constexpr std::uint32_t kMiddleLine = __LINE__ + 3;

[[gnu::always_inline]] inline std::uint64_t inlined_once() {
  return inlined_twice() + 0;
}

constexpr std::uint32_t kOuterLine = __LINE__ + 3;

[[gnu::noinline]] std::uint64_t outermost_function() {
  return inlined_once();
}

[[gnu::noinline]] int named_function(const std::vector<int>& values) {
  return values.empty() ? 0 : values.front() + 1;
}

std::vector<FrameName> name_own(std::uint64_t avma, Symbolizer::Options options = {}) {
  Symbolizer symbolizer(std::move(options));
  const auto place = mapped_place(avma);
  return symbolizer.name(kModule, file_module(place.path), place.file_offset);
}

TEST(Symbolizer, function_of_this_program_has_its_demangled_name_and_file) {
  const auto frames = name_own(address_of(&named_function));
  ASSERT_FALSE(frames.empty());
  const FrameName& frame = frames.back();
  EXPECT_NE(frame.function.find("named_function(std::vector<int"), std::string::npos);
  EXPECT_EQ(frame.offset_in_function, 0U);
  EXPECT_EQ(frame.module, "symbolize_test");
  EXPECT_TRUE(frame.file.ends_with("symbolizer_test.cpp")) << frame.file;
  EXPECT_FALSE(frame.inlined);
  EXPECT_NE(named_function({1}), 0);
}

TEST(Symbolizer, inlined_functions_are_frames_with_their_lines) {
  const auto frames = name_own(outermost_function());
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_NE(frames[0].function.find("this_place"), std::string::npos);
  EXPECT_NE(frames[1].function.find("inlined_twice"), std::string::npos);
  EXPECT_EQ(frames[1].line, kInnerLine);
  EXPECT_NE(frames[2].function.find("inlined_once"), std::string::npos);
  EXPECT_EQ(frames[2].line, kMiddleLine);
  EXPECT_NE(frames[3].function.find("outermost_function"), std::string::npos);
  EXPECT_EQ(frames[3].line, kOuterLine);
  EXPECT_TRUE(frames[2].inlined);
  EXPECT_FALSE(frames[3].inlined);
  for (const FrameName& frame : frames) {
    EXPECT_TRUE(frame.file.ends_with("symbolizer_test.cpp")) << frame.file;
  }
}

TEST(Symbolizer, inline_frames_can_be_left_out) {
  const auto frames = name_own(outermost_function(), {.inline_frames = false});
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_NE(frames[0].function.find("outermost_function"), std::string::npos);
  EXPECT_EQ(frames[0].file, "");
}

TEST(Symbolizer, libc_function_has_its_public_name) {
  const auto frames = name_own(address_of(::dlsym(RTLD_DEFAULT, "getppid")));
  EXPECT_EQ(frames.back().function, "getppid");
  EXPECT_TRUE(frames.back().module.starts_with("libc")) << frames.back().module;
}

TEST(Symbolizer, offset_outside_the_code_keeps_module_and_offset) {
  Symbolizer symbolizer({});
  const auto unknown = symbolizer.name(kModule, file_module("/proc/self/exe"), 0xfffffffffff0);
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown[0].function, "");
  EXPECT_EQ(unknown[0].module, "exe");
  EXPECT_EQ(unknown[0].module_offset, 0xfffffffffff0U);
}

TEST(Symbolizer, file_that_is_not_there_is_said_once) {
  Symbolizer symbolizer({});
  for (std::uint32_t id = 1; id <= 6; ++id) {
    const auto module = file_module("/nonexistent/lib" + std::to_string(id) + ".so");
    const auto frames = symbolizer.name(ModuleId{id}, module, 0x1234);
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_EQ(frames[0].module, "lib" + std::to_string(id) + ".so");
    EXPECT_EQ(frames[0].module_offset, 0x1234U);
  }
  ASSERT_EQ(symbolizer.caveats().size(), 1U);
  EXPECT_NE(symbolizer.caveats()[0].find("/nonexistent/lib1.so"), std::string::npos);
  EXPECT_NE(symbolizer.caveats()[0].find("and 2 more"), std::string::npos);
}

TEST(Symbolizer, file_with_another_build_id_names_nothing_and_says_so) {
  Symbolizer symbolizer({});
  const auto place = mapped_place(address_of(&named_function));
  const auto module = file_module(place.path, "00112233445566778899aabbccddeeff00112233");
  const auto frames = symbolizer.name(kModule, module, place.file_offset);
  symbolizer.name(kModule, module, place.file_offset + 1);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].function, "");
  ASSERT_EQ(symbolizer.caveats().size(), 1U);
  EXPECT_NE(symbolizer.caveats()[0].find(read_build_id(place.path)), std::string::npos);
}

TEST(Symbolizer, file_is_opened_through_the_root_of_its_process) {
  Symbolizer symbolizer({});
  const auto place = mapped_place(address_of(&named_function));
  auto module = file_module(place.path, read_build_id(place.path));
  module.pid = static_cast<std::uint32_t>(::getpid());
  const auto frames = symbolizer.name(kModule, module, place.file_offset);
  EXPECT_NE(frames.back().function.find("named_function"), std::string::npos);
}

// How often a file is mapped here.
std::ptrdiff_t mappings_of(const std::string& path) {
  const auto maps = read_file("/proc/self/maps");
  const std::string text = maps.ok() ? maps.value() : "";
  const auto lines = split(text, '\n');
  return std::count_if(
      lines.begin(), lines.end(), [&path](std::string_view line) { return line.ends_with(path); });
}

// A small real file: the vdso, with the offset of its entry point's segment as a place in it.
TEST(Symbolizer, keeps_64_files_open_and_opens_again_what_it_closed) {
  const auto vdso = open_vdso();
  if (!vdso.ok()) {
    GTEST_SKIP() << "this machine has no vdso";
  }
  std::size_t size_bytes = 0;
  const char* image = ::elf_rawfile(vdso.value().handle(), &size_bytes);
  const TemporaryFolder folder;
  const auto module = file_module(folder.write("vdso.so", std::string_view(image, size_bytes)));
  Symbolizer symbolizer({.debug_directory = "/nonexistent"});
  const auto place = address_of(::dlsym(RTLD_DEFAULT, "getppid"));
  const auto libc = mapped_place(place);
  for (int round = 0; round < 2; ++round) {
    const auto frames = symbolizer.name(ModuleId{1000}, file_module(libc.path), libc.file_offset);
    EXPECT_EQ(frames.back().function, "getppid");
    for (std::uint32_t id = 1; id <= 100; ++id) {
      symbolizer.name(ModuleId{id}, module, 0x1000);
    }
    EXPECT_EQ(mappings_of(module.path), 64);
  }
}

TEST(Symbolizer, kernel_addresses_are_named_from_kallsyms) {
  const TemporaryFolder folder;
  const auto kallsyms = folder.write("kallsyms",
                                     "ffffffff81000000 T kmalloc\n"
                                     "ffffffffc0001000 t nft_do_chain\t[nf_tables]\n");
  Symbolizer symbolizer({.kallsyms_path = kallsyms});
  const ModuleDescription kernel{ModuleKind::Kernel, "[kernel.kallsyms]", "", 0};
  const auto named = symbolizer.name(kModule, kernel, 0xffffffff81000010);
  EXPECT_EQ(named[0].function, "kmalloc");
  EXPECT_EQ(named[0].module, "[kernel]");
  EXPECT_EQ(named[0].offset_in_function, 0x10U);
  EXPECT_EQ(symbolizer.name(kModule, kernel, 0xffffffffc0001000)[0].module, "[nf_tables]");
  const auto unnamed = symbolizer.name(kModule, kernel, 0xffffffff00000000);
  EXPECT_EQ(unnamed[0].function, "");
  EXPECT_EQ(unnamed[0].module, "[kernel]");
  EXPECT_TRUE(symbolizer.caveats().empty());
}

TEST(Symbolizer, hidden_kernel_addresses_are_explained) {
  const TemporaryFolder folder;
  const auto kallsyms = folder.write("kallsyms", "0000000000000000 T kmalloc\n");
  Symbolizer symbolizer({.kallsyms_path = kallsyms});
  const ModuleDescription kernel{ModuleKind::Kernel, "[kernel.kallsyms]", "", 0};
  symbolizer.name(kModule, kernel, 0xffffffff81000010);
  symbolizer.name(kModule, kernel, 0xffffffff81000020);
  ASSERT_EQ(symbolizer.caveats().size(), 1U);
  EXPECT_NE(symbolizer.caveats()[0].find("kptr_restrict"), std::string::npos);
}

TEST(Symbolizer, anonymous_code_is_named_from_its_perf_map) {
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  std::ofstream(path) << "7f0000001000 40 jitted_function\n";
  Symbolizer symbolizer({});
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const ModuleDescription code{ModuleKind::Anonymous, "//anon", "", pid};
  const auto named = symbolizer.name(kModule, code, 0x7f0000001008);
  std::filesystem::remove(path);
  EXPECT_EQ(named[0].function, "jitted_function");
  EXPECT_EQ(named[0].offset_in_function, 8U);
  EXPECT_EQ(named[0].module, "[jit]");
  EXPECT_EQ(symbolizer.name(kModule, code, 0x10)[0].module, "[anon]");
}

TEST(Symbolizer, vdso_functions_are_named) {
  const auto* vdso = ::dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto start = ::getauxval(AT_SYSINFO_EHDR);
  void* function = vdso == nullptr ? nullptr : ::dlsym(const_cast<void*>(vdso), "__vdso_time");
  if (start == 0 || function == nullptr) {
    GTEST_SKIP() << "this machine has no vdso with __vdso_time";
  }
  Symbolizer symbolizer({});
  const ModuleDescription module{ModuleKind::Vdso, "[vdso]", "", 0};
  const auto frames = symbolizer.name(kModule, module, address_of(function) - start);
  EXPECT_EQ(frames[0].module, "[vdso]");
  EXPECT_TRUE(frames[0].function == "time" || frames[0].function == "__vdso_time");
}

}  // namespace
}  // namespace memtrace
