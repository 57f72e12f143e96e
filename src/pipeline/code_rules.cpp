#include "pipeline/code_rules.h"

#include "symbolize/module_file.h"
#include "symbolize/symbolizer.h"

namespace memtrace {
namespace {

bool is_plain(const FrameRule& rule) {
  return rule.kind == FrameRule::Kind::Simple && rule.ra_offset_bytes != FrameRule::kInRegister &&
         (rule.cfa_register == kHostRegisters.stack_pointer ||
          rule.cfa_register == kHostRegisters.frame_pointer);
}

}  // namespace

CodePlace CodeRules::look_up(std::uint64_t avma) {
  using Where = CodePlace::Where;
  const CodeLocation location = process_->space.locate(avma, false);
  if (!location.module.valid()) {
    return {{}, Where::Unmapped};
  }
  if (world_.modules().at(location.module).path.starts_with("[uprobes")) {
    return {{}, Where::Trampoline};
  }
  FrameRules* rules = of_module(location.module);
  const auto rule = rules == nullptr ? std::nullopt : rules->at(location.offset);
  return rule ? CodePlace{*rule, Where::Code, is_plain(*rule)} : CodePlace{{}, Where::WithoutRules};
}

const FullFrameRule* CodeRules::full_at(std::uint64_t avma) {
  const CodeLocation location = process_->space.locate(avma, false);
  FrameRules* rules = location.module.valid() ? of_module(location.module) : nullptr;
  return rules == nullptr ? nullptr : rules->full_at(location.offset);
}

FrameRules* CodeRules::of_module(ModuleId id) {
  const auto [found, is_new] = by_module_.try_emplace(id);
  if (is_new) {
    const Module& module = world_.modules().at(id);
    const ModuleDescription description{
        .kind = module.kind, .path = module.path, .build_id = module.build_id, .pid = module.pid};
    found->second = FrameRules::open(
        description, {Symbolizer::Options{}.debug_directory, roots_of(description)});
  }
  return found->second.get();
}

}  // namespace memtrace
