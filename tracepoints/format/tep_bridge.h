// The only door to libtraceevent and libtracefs. Debian 12's event-parse.h lacks extern "C", and
// tracefs.h 1.6.4 is not strict C++ (it converts an int to an enum): so the first is wrapped here
// and the second is used by tep_bridge.c alone.
#pragma once

#ifdef __cplusplus
// event-parse.h includes them, and in C++ they hold templates: so before extern "C" opens.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
extern "C" {
#endif

#include <event-parse.h>

// The tracing directory, which is mounted first if need be and possible; NULL with errno when there
// is none. libtracefs owns the string.
const char* find_tracing_directory(void);

// Names in no order, ended by NULL; NULL when there are none. Groups without a file "enable" are
// left out: that is ftrace's own. free_names() takes them back.
char** list_event_groups(const char* tracing_directory);
char** list_events_of_group(const char* tracing_directory, const char* group);
void free_names(char** names);

#ifdef __cplusplus
}
#endif
