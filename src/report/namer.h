// Ids to names: session/frame_namer.h implements it over the symbolizer, tests with a map.
#pragma once

#include "base/ids.h"
#include "report/report.h"

namespace memtrace {

class Namer {
 public:
  Namer() = default;
  Namer(const Namer&) = delete;
  Namer& operator=(const Namer&) = delete;
  Namer(Namer&&) = delete;
  Namer& operator=(Namer&&) = delete;
  virtual ~Namer() = default;

  // Innermost first, inlined functions as frames of their own. A stack is valid until the next one
  // is asked for.
  virtual const Frames& stack(StackId id) = 0;
  virtual const Frames& location(LocationId id) = 0;

  // Of Frame::file_id.
  virtual CodeFile module(ModuleId /*id*/) { return {}; }
};

}  // namespace memtrace
