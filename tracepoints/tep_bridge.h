// The only door to libtraceevent and libtracefs. Debian 12's event-parse.h lacks extern "C", and
// tracefs.h 1.6.4 is not strict C++ (it converts an int to an enum): so the first is wrapped here
// and the second is used by tep_bridge.c alone.
#pragma once

// Before extern "C" opens: these hold templates in C++, and event-parse.h includes them.
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include <event-parse.h>

// The tracing directory that is mounted, NULL when none is. libtracefs owns the string.
const char* mounted_tracing_directory(void);

// Mounts tracefs (else debugfs) where libtracefs looks for it; NULL with errno when it cannot.
const char* mount_tracing_directory(void);

#ifdef __cplusplus
}
#endif
