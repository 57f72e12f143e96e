// A module of the world as the symbolizer wants it described.
#pragma once

#include "state/process/module_table.h"
#include "symbolize/elf/module_description.h"

namespace memtrace {

inline ModuleDescription describe_module(const Module& module) {
  return {.kind = module.kind,
          .path = module.path,
          .build_id = module.build_id,
          .pid = module.pid,
          .root = module.root,
          .file = {.major = module.major, .minor = module.minor, .inode = module.inode}};
}

}  // namespace memtrace
