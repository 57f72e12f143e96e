// How this program was built, and of what. Defined in a file that packaging/components.cmake
// generates.
#pragma once

#include <span>
#include <string_view>

namespace memtrace {

// A library, or headers, of others.
struct Component {
  std::string_view name;
  std::string_view version;  // NOASSERTION: not known
  std::string_view licence;  // an SPDX licence expression
};

struct BuildFacts {
  std::string_view compiler;  // "GNU 12.2.0"
  std::string_view flags;
  std::span<const Component> components;
};

BuildFacts build_facts();

}  // namespace memtrace
