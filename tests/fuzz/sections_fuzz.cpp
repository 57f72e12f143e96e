// What memtrace itself put into a recording, which anybody may have changed since: names, facts,
// the file's part, whose the processes were.
#include <string>

#include "fuzz/fuzz_target.h"
#include "identity/identity_log.h"
#include "sections/embedded_symbols.h"
#include "sections/recording_facts.h"
#include "sections/recording_part.h"

namespace memtrace::fuzz {

void fuzz_sections(Input input) {
  const std::string text(text_of(input));
  auto symbols = EmbeddedSymbols::parse(text);
  if (symbols.ok()) {
    const std::string written = symbols.value().to_json();
    EmbeddedSymbols merged;
    merged.merge(symbols.take());
    static_cast<void>(EmbeddedSymbols::parse(written));
  }
  static_cast<void>(to_json(parse_recording_facts(text)));
  static_cast<void>(to_json(parse_recording_part(text)));
  World world({});
  Recording recording;
  recording.identities = text;
  IdentityReplay replay(world, recording);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  replay.advance(kSecond);
  replay.advance(UINT64_MAX);
}

}  // namespace memtrace::fuzz
