#include "symbolize/code/tail_code.h"

#include <algorithm>
#include <set>
#include <utility>

#include "symbolize/names/plt_stubs.h"

namespace memtrace {
namespace {

constexpr std::size_t kMaxFollowed = 16;
constexpr std::size_t kMaxPieces = 128;
constexpr std::size_t kLongestFunction = 8192;

bool goes_on(InstructionKind kind) {
  return kind != InstructionKind::Jump && kind != InstructionKind::IndirectJump &&
         kind != InstructionKind::Return && kind != InstructionKind::Unknown;
}

// As function_extent(), but most functions are short, and decoding all bytes takes milliseconds.
std::size_t extent_within(std::span<const std::byte> bytes) {
  constexpr std::size_t kFirstWindow = 256;
  constexpr std::size_t kLongestInstruction = 15;
  for (std::size_t window = kFirstWindow; window < bytes.size(); window *= 2) {
    // At its very end an instruction may be cut, and look like the end of the function.
    const std::size_t extent = function_extent(bytes.first(window));
    if (extent + kLongestInstruction <= window) {
      return extent;
    }
  }
  return function_extent(bytes);
}

// As much as the file has there.
std::vector<std::byte> read_code(const std::string& path, std::uint64_t file_offset) {
  for (std::size_t size = kLongestFunction; size >= 16; size /= 2) {
    if (auto bytes = code_bytes(path, file_offset, size); bytes.ok()) {
      bytes.value().resize(extent_within(bytes.value()));
      return bytes.take();
    }
  }
  return {};
}

}  // namespace

std::size_t function_extent(std::span<const std::byte> bytes) {
  std::int64_t furthest = 0;
  for (const Instruction& one : decode_x86(bytes)) {
    if (one.kind == InstructionKind::ConditionalJump) {
      furthest = std::max(furthest, one.target);
    }
    if (!goes_on(one.kind) && static_cast<std::int64_t>(one.limit()) > furthest) {
      return std::min<std::size_t>(one.limit(), bytes.size());
    }
  }
  return bytes.size();
}

TailCode::TailCode(const std::string& path, const FunctionTable& table)
    : path_(path), table_(table) {
  auto file = ElfFile::open(path);
  if (file.ok()) {
    file_.emplace(file.take());
    add_plt_stubs(*file_, stubs_);
    stubs_.sort();
  }
  if (stubs_.empty()) {
    return;
  }
  for (const Function& function : table_.functions()) {
    for (const std::string& name : function.names) {
      offsets_.try_emplace(name, function.file_offset);
    }
  }
}

// For a stub of a function of this very file, which other files may replace: the function.
std::uint64_t TailCode::behind_stub(std::uint64_t file_offset) const {
  const auto svma = file_ ? file_->svma_of(file_offset) : std::nullopt;
  const Symbol* stub = svma ? stubs_.find(*svma) : nullptr;
  if (stub == nullptr) {
    return file_offset;
  }
  const auto found = offsets_.find(stub->name);
  return found == offsets_.end() ? file_offset : found->second;
}

std::vector<CodePiece> TailCode::of(CodePiece function) const {
  std::set<std::uint64_t> seen = {function.file_offset};
  std::vector<CodePiece> pieces;
  pieces.push_back(std::move(function));
  const auto add = [&](std::uint64_t target) {
    if (pieces.size() < kMaxPieces && seen.insert(target).second) {
      pieces.push_back({target, read_code(path_, target)});
    }
  };
  for (std::size_t i = 0; i < std::min(pieces.size(), kMaxFollowed); ++i) {
    const std::uint64_t start = pieces[i].file_offset;
    const ReturnPlaces places =
        find_return_places({.bytes = pieces[i].bytes, .machine = table_.machine()});
    for (const ReturnPlaces::TailCall& tail : places.tail_calls) {
      add(behind_stub(start + static_cast<std::uint64_t>(tail.target)));
    }
  }
  return pieces;
}

}  // namespace memtrace
