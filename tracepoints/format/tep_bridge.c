#include "tracepoints/format/tep_bridge.h"

#include <errno.h>
#include <tracefs.h>

const char* find_tracing_directory(void) {
  tracefs_set_loglevel(TEP_LOG_NONE);  // our own Error says it, with a hint
  errno = 0;
  return tracefs_tracing_dir();
}
