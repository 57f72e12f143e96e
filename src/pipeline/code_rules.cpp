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

const CodePlace& CodeRules::learn(std::uint64_t avma) {
  const CodePlace* learnt = table_.insert(space_, avma, look_up(avma));
  if (log_ != nullptr) {
    log_->add({space_, avma, *learnt});
  }
  return *learnt;
}

bool CodeRules::is_same_in(std::uint64_t other_space, std::uint64_t avma) {
  const CodePlace* other = table_.find(other_space, avma);
  if (other == nullptr) {
    return false;
  }
  const CodePlace before = *other;  // what follows may move it
  return before == at(avma);
}

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
