#include "pipeline/heap_probes.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "symbolize/function_table.h"
#include "tracepoints/heap.h"
#include "tracepoints/heap_functions.h"

namespace memtrace {

// A function of an allocator where it is in its file.
struct HeapProbes::Place {
  const HeapFunction* role = nullptr;
  std::string name;  // with the allocator's prefix
  const Function* function = nullptr;
};

namespace {

using FunctionIndex = std::unordered_map<std::string_view, const Function*>;

FunctionIndex index_by_name(const FunctionTable& table) {
  FunctionIndex index;
  for (const Function& function : table.functions()) {
    for (const std::string& name : function.names) {
      index.emplace(name, &function);
    }
  }
  return index;
}

// The dynamic loader has a malloc for itself, until libc's takes over (elf/rtld.c).
bool is_loader(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("ld-linux") || name.starts_with("ld64.so") || name.starts_with("ld-2.");
}

// jemalloc can be built with any prefix; its mallctl gives it away.
std::vector<std::string> prefixes_in(const FunctionIndex& index) {
  constexpr std::string_view kMark = "mallctl";
  std::vector<std::string> prefixes(heap_prefixes().begin(), heap_prefixes().end());
  for (const auto& [name, function] : index) {
    const bool marked = name.ends_with(kMark) && name.size() > kMark.size();
    const std::string prefix(marked ? name.substr(0, name.size() - kMark.size()) : "");
    if (marked && std::find(prefixes.begin(), prefixes.end(), prefix) == prefixes.end()) {
      prefixes.push_back(prefix);
    }
  }
  return prefixes;
}

std::string size_filter(const HeapFunction& role, const HeapNeeds& needs) {
  constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
  const bool limited = needs.min_bytes > 0 || needs.max_bytes != kNoLimit;
  // The kernel's filters do not multiply, and the old block of a realloc must be seen to go.
  if (!limited || role.op != HeapOp::Alloc || role.count >= 0) {
    return "";
  }
  std::string filter = format("size >= %llu", static_cast<unsigned long long>(needs.min_bytes));
  if (needs.max_bytes != kNoLimit) {
    filter += format(" && size <= %llu", static_cast<unsigned long long>(needs.max_bytes));
  }
  return filter;
}

}  // namespace

Result<std::vector<EventRequest>> HeapProbes::add(const std::vector<TargetObject>& objects) {
  std::vector<EventRequest> requests;
  for (const TargetObject& object : objects) {
    if (!is_loader(object.mapped_path)) {
      TRY(add_object(object, requests));
    }
  }
  return requests;
}

Result<> HeapProbes::add_object(const TargetObject& object, std::vector<EventRequest>& requests) {
  const auto table = FunctionTable::load(object.path, object.mapped_path);
  if (!table.ok()) {
    return kDone;  // no ELF file, or gone since
  }
  const FunctionIndex index = index_by_name(table.value());
  std::set<std::uint64_t> probed;  // aliases are one function
  std::vector<std::string> names;
  for (const std::string& prefix : prefixes_in(index)) {
    for (const HeapFunction& role : heap_functions()) {
      const std::string name = prefix + std::string(role.name);
      const auto found = index.find(name);
      if (found == index.end() || role.is_operator || found->second->is_ifunc ||
          !probed.insert(found->second->file_offset).second) {
        continue;
      }
      names.push_back(name);
      TRY(add_function(object, {&role, name, found->second}, requests));
    }
  }
  if (!names.empty()) {
    found_.push_back(object.mapped_path + ": " + join(names, ", "));
  }
  return kDone;
}

Result<> HeapProbes::add_function(const TargetObject& object,
                                  const Place& place,
                                  std::vector<EventRequest>& requests) {
  const std::string name = unique_name(place.name);
  ProbeDefinition probe{.event = name,
                        .path = object.path,
                        .file_offset = place.function->file_offset,
                        .arguments = entry_arguments(*place.role)};
  const bool is_free = place.role->op == HeapOp::Free;
  if (is_free ? needs_.frees : needs_.calls && !needs_.one_probe) {
    TRY(define(probe, !is_free, requests));
    requests.back().filter = size_filter(*place.role, needs_);
  }
  if (!is_free && place.role->returns_block && (needs_.returns || needs_.one_probe)) {
    const std::string_view number =
        std::string_view(name).substr(probe_event_name(place.name).size());
    probe.event = probe_event_name(place.name) + std::string(kReturnSuffix) + std::string(number);
    probe.is_return = true;
    probe.arguments = return_arguments(needs_.one_probe);
    TRY(define(std::move(probe), needs_.one_probe, requests));
  }
  return kDone;
}

Result<> HeapProbes::define(ProbeDefinition probe,
                            bool is_call,
                            std::vector<EventRequest>& requests) {
  auto defined = group_.define(probe);
  if (!defined.ok()) {
    return defined.take_error();
  }
  DefinedProbe event = defined.take();
  requests.push_back({.info = {.name = std::move(event.name),
                               .kind = EventKind::Tracepoint,
                               .config = event.id,
                               .period = is_call ? needs_.period : 1,
                               .format = std::move(event.format)},
                      .type = kTypeTracepoint,
                      .stacks = is_call});
  return kDone;
}

// "malloc", and "malloc_2" in the next file that has one.
std::string HeapProbes::unique_name(const std::string& function) {
  const std::string name = probe_event_name(function);
  std::string unique = name;
  for (int number = 2; std::find(names_.begin(), names_.end(), unique) != names_.end(); ++number) {
    unique = name + "_" + std::to_string(number);
  }
  names_.push_back(unique);
  return unique;
}

}  // namespace memtrace
