#include "tracepoints/tep_bridge.h"

#include <errno.h>
#include <tracefs.h>

const char* mounted_tracing_directory(void) {
  const char* path = NULL;
  tracefs_set_loglevel(TEP_LOG_NONE);  // our own Error says it, with a hint
  return tracefs_tracing_dir_is_mounted(false, &path) == 1 ? path : NULL;
}

const char* mount_tracing_directory(void) {
  const char* path = NULL;
  tracefs_set_loglevel(TEP_LOG_NONE);
  errno = 0;
  return tracefs_tracing_dir_is_mounted(true, &path) >= 0 ? path : NULL;
}
