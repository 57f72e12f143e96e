// {fmt} 9 itself. Debian 12 has it as a shared library and as headers, and memtrace-static needs an
// archive. FMT_HEADER_ONLY would compile it again in each file that formats, a second each time.
#include <fmt/core.h>

#if FMT_VERSION < 100000
#include <fmt/format-inl.h>

// The templates that format.h declares as instantiated elsewhere.
template auto fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref)
    -> fmt::detail::thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(fmt::detail::locale_ref) -> char;
#endif
