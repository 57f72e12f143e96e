// Colours of the text format. Text from outside is made visible last, and that takes escape
// sequences away: what is to be coloured is marked first, and the marks become escape sequences at
// the end.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace memtrace {

enum class Ink : char {
  Title = 'a',  // of a report
  Header,       // of columns
  Caveat,       // what limits the figures
  Large,        // a share of at least 5 %, as perf report has it
  Small,        // a share of at least 0.5 %
  Plain,
};

// Marks are only set in text that is written to a stream which takes them.
void take_ink(std::ostream& out);

// The text, marked if the stream takes marks.
std::string inked(std::string text, Ink ink, std::ostream& out);

// Marks to escape sequences (ECMA-48, SGR); everything else as visible_lines() makes it.
std::string painted(std::string_view lines);

}  // namespace memtrace
