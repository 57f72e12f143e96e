#include "tracepoints/format/tep_bridge.h"

#include <errno.h>
#include <tracefs.h>

const char* find_tracing_directory(void) {
  tracefs_set_loglevel(TEP_LOG_NONE);  // our own Error says it, with a hint
  errno = 0;
  return tracefs_tracing_dir();
}

char** list_event_groups(const char* tracing_directory) {
  return tracefs_event_systems(tracing_directory);
}

char** list_events_of_group(const char* tracing_directory, const char* group) {
  return tracefs_system_events(tracing_directory, group);
}

void free_names(char** names) {
  tracefs_list_free(names);
}
