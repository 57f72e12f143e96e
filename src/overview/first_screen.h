// What a recording shows, on one screen: its findings in order of weight, each with the command
// that shows more.
#pragma once

#include <string>

#include "base/result.h"
#include "session/session.h"

namespace memtrace {

// options.views and .choices are filled in here. `arguments` is what each command needs beside the
// view's name to read the same recording: " -i FILE", or nothing.
Result<Report> make_first_screen(RecordSource& source,
                                 SessionOptions options,
                                 const std::string& arguments);

}  // namespace memtrace
