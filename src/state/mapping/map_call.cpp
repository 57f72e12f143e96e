#include "state/mapping/map_call.h"

namespace memtrace {
namespace {

std::optional<MapCall> call_of(const SystemCallDone& done) {
  const SystemCallArguments& argument = done.arguments;
  MapCall call{.address = argument[0], .bytes = argument[1]};
  switch (done.call) {
    case SystemCall::Mmap:
      call.protection = argument[2];
      call.flags = argument[3];
      return call;
    case SystemCall::Munmap:
      call.op = MapOp::Unmap;
      return call;
    case SystemCall::Mprotect:
    case SystemCall::PkeyMprotect:
      call.op = MapOp::Protect;
      call.protection = argument[2];
      return call;
    case SystemCall::Mremap:
      call.op = MapOp::Remap;
      call.new_bytes = argument[2];
      call.flags = argument[3];
      return call;
    case SystemCall::Madvise:
      call.op = MapOp::Advise;
      call.flags = argument[2];
      return call;
    case SystemCall::Brk:
      return MapCall{.op = MapOp::Break, .address = argument[0]};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Map> map_of(const SystemCallDone& done) {
  const auto call = call_of(done);
  if (!call || done.failed()) {
    return std::nullopt;
  }
  return Map{.call = *call, .result = static_cast<std::uint64_t>(done.result)};
}

}  // namespace memtrace
