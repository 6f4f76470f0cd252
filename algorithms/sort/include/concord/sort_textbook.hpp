#pragma once
/// @file
/// Textbook variants of sort on the CPU for comparators made with CONCORD_FUNCTION; see `concord/textbook.hpp`.

#include <concord/sort.hpp>
#include <concord/textbook.hpp>

namespace concord::detail {

template <class T, class V, class Less>
struct SortTextbook {
    static constexpr SortHost kernels{
        .merge_tiles = plain_host_kernel<&detail::host::merge_tiles<T, V, Less>>(),
        .merge_runs = plain_host_kernel<&detail::host::merge_runs<T, V, Less>>(),
        .std_sort = plain_host_kernel<&detail::host::sort_std<T, V, Less>>()};
};

}  // namespace concord::detail
