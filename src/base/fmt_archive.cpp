// {fmt} 9 itself. Debian 12 has it as a shared library and as headers, and memtrace-static needs an
// archive; to compile it into each file that formats (FMT_HEADER_ONLY) takes a second for each.
#include <fmt/core.h>

#if FMT_VERSION < 100000
#include <fmt/format-inl.h>

// The templates that format.h declares as instantiated elsewhere.
template auto fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref)
    -> fmt::detail::thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl(fmt::detail::locale_ref) -> char;
#endif
