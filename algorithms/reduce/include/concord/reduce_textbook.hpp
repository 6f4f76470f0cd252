#pragma once
/// @file
/// Textbook variants of reduce on the CPU for user operators (CONCORD_FUNCTION). See concord/textbook.hpp.

#include <concord/reduce.hpp>
#include <concord/textbook.hpp>

namespace concord::detail {

// Adds the kernels of the textbook variants. They use elements only through the operator and the identity: for built-in
// operators on signed integers, T is the unsigned type.
template <class T, class Op>
constexpr ReduceHost with_textbook(ReduceHost kernels) {
    kernels.global_step = plain_host_kernel<&detail::host::reduce_global_step<T, Op>>();
    kernels.interleaved = plain_host_kernel<&detail::host::reduce_interleaved<T, Op>>();
    kernels.sequential = plain_host_kernel<&detail::host::reduce_sequential<T, Op>>();
    kernels.first_add = plain_host_kernel<&detail::host::reduce_first_add<T, Op>>();
    return kernels;
}

template <class T, class Op>
struct ReduceTextbook {
    static constexpr ReduceHost kernels = with_textbook<T, Op>(ReduceProduction<T, Op>::kernels);
};

}  // namespace concord::detail
