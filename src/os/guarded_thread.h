// Threads whose exceptions end the program in an orderly way: the code that waits for them asks
// here, ends, and removes probes; main says why. An exception that left a thread would end the
// process on the spot.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/result.h"

namespace memtrace {

// `lost` is called, in the thread, when an exception has left `work`: it must not throw.
std::thread start_guarded_thread(std::function<void()> work, std::function<void()> lost = {});

// Some thread has been ended by an exception.
bool has_failed_thread();

// What the first of them said; "" without one.
std::string thread_failure();

// The exception that is being handled, in words: "out of memory" for std::bad_alloc.
std::string describe_exception();

// The same with what helps against it.
Error error_of_exception();

// Memory that is given back when there is no more: what is done on the way out needs a little. An
// allocation that fails after that throws std::bad_alloc as usual.
void keep_reserve();

}  // namespace memtrace
