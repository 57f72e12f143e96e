#include "tracepoints/probe/heap_functions.h"

#include <array>

#include "os/host_machine.h"

namespace memtrace {
namespace {

constexpr std::int8_t kNone = -1;

constexpr HeapFunction alloc(std::string_view name, std::int8_t size, std::int8_t count = kNone) {
  return {.name = name, .size = size, .count = count};
}

constexpr HeapFunction resize(std::string_view name, std::int8_t size, std::int8_t count = kNone) {
  return {.name = name, .op = HeapOp::Realloc, .ptr = 0, .size = size, .count = count};
}

constexpr HeapFunction release(std::string_view name) {
  return {.name = name, .op = HeapOp::Free, .ptr = 0, .returns_block = false};
}

constexpr HeapFunction operator_new(std::string_view name) {
  return {.name = name, .size = 0, .is_operator = true};
}

constexpr HeapFunction operator_delete(std::string_view name) {
  return {.name = name, .op = HeapOp::Free, .ptr = 0, .returns_block = false, .is_operator = true};
}

constexpr auto kFunctions = std::to_array<HeapFunction>({
    alloc("malloc", 0),
    alloc("calloc", 1, 0),
    resize("realloc", 1),
    resize("reallocarray", 2, 1),
    alloc("memalign", 1),
    alloc("aligned_alloc", 1),
    {.name = "posix_memalign", .size = 2, .returns_block = false, .memory_pointer = 0},
    alloc("valloc", 0),
    alloc("pvalloc", 0),
    release("free"),
    release("cfree"),
    release("free_sized"),
    release("free_aligned_sized"),
    alloc("mallocx", 0),
    resize("rallocx", 1),
    release("dallocx"),
    release("sdallocx"),
    operator_new("_Znwm"),
    operator_new("_Znam"),
    operator_new("_ZnwmRKSt9nothrow_t"),
    operator_new("_ZnamRKSt9nothrow_t"),
    operator_new("_ZnwmSt11align_val_t"),
    operator_new("_ZnamSt11align_val_t"),
    operator_delete("_ZdlPv"),
    operator_delete("_ZdaPv"),
    operator_delete("_ZdlPvm"),
    operator_delete("_ZdaPvm"),
    operator_delete("_ZdlPvSt11align_val_t"),
    operator_delete("_ZdaPvSt11align_val_t"),
    operator_delete("_ZdlPvmSt11align_val_t"),
    operator_delete("_ZdaPvmSt11align_val_t"),
});

// mallocgc(size uintptr, typ *_type, needzero bool): every object of Go's heap.
constexpr HeapFunction kGo = {
    .name = "runtime.mallocgc", .size = 0, .returns_block = false, .is_go = true};

constexpr auto kPrefixes = std::to_array<std::string_view>({"", "je_", "tc_", "mi_"});

#if defined(__x86_64__)
constexpr std::array<std::string_view, 6> kArgumentRegisters = {
    "%di", "%si", "%dx", "%cx", "%r8", "%r9"};
constexpr std::string_view kResult = "%ax";
constexpr std::string_view kGoFirst = "%ax";
constexpr std::string_view kStackPointer = "%sp";
#elif defined(__aarch64__)
constexpr std::array<std::string_view, 6> kArgumentRegisters = {
    "%x0", "%x1", "%x2", "%x3", "%x4", "%x5"};
constexpr std::string_view kResult = "%x0";
constexpr std::string_view kGoFirst = "%x0";
constexpr std::string_view kStackPointer = "%sp";
#endif

void add(std::string& text, std::string_view field, std::int8_t place) {
  if (place != kNone) {
    text += std::string(field) + "=" + std::string(argument_register(place)) + ":u64 ";
  }
}

}  // namespace

std::span<const HeapFunction> heap_functions() {
  return kFunctions;
}

const HeapFunction& go_allocation() {
  return kGo;
}

std::span<const std::string_view> heap_prefixes() {
  return kPrefixes;
}

std::string_view argument_register(std::int8_t place) {
  const auto index = static_cast<std::uint8_t>(place);
  return place >= 0 && index < kArgumentRegisters.size() ? kArgumentRegisters[index]
                                                         : std::string_view();
}

std::string_view result_register() {
  return kResult;
}

std::string entry_arguments(const HeapFunction& function, bool has_inner) {
  std::string text;
  if (function.is_go) {
    return "size=" + std::string(kGoFirst) + ":u64 sp=" + std::string(kStackPointer) + ":u32";
  }
  add(text, "ptr", function.ptr);
  add(text, "count", function.count);
  add(text, "size", function.size);
  if (function.op == HeapOp::Free) {
    text.pop_back();
    return text;
  }
  const std::string stack_pointer = "=" + std::string(kStackPointer) + ":u32";
  return text + "sp" + stack_pointer + (has_inner ? " inner" + stack_pointer : "");
}

std::string return_arguments(bool chunk) {
  const std::string result(kResult);
  return "result=" + result + ":u64" + (chunk ? " chunk=-8(" + result + "):u64" : "");
}

}  // namespace memtrace
