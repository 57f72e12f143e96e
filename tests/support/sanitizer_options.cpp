// What the sanitizers' run-time libraries ask a program when it starts.

// Reading behind the end of a file raises SIGBUS, which os/foreign_file.h handles.
extern "C" const char* __asan_default_options() {
  return "handle_sigbus=0";
}

extern "C" const char* __tsan_default_options() {
  return "handle_sigbus=0";
}

extern "C" const char* __ubsan_default_options() {
  return "print_stacktrace=1";
}
