// Whether this program was built with AddressSanitizer or ThreadSanitizer. GoogleTest's skip says
// why a test does not go with them.
#pragma once

namespace memtrace::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kIsSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace memtrace::test
