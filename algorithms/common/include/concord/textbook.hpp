#pragma once
/// @file
/// Textbook variants on the CPU for user operators (CONCORD_FUNCTION).
///
///     #include <concord/scan_textbook.hpp>
///     scan(stream, in, out, textbook(last_set), 0, ScanKind::inclusive, {.variant = "blelloch"});
///
/// A CPU kernel is a template that the host compiler instantiates for each operator. For a user operator, the
/// algorithms instantiate the variants that `auto` uses and `serial`. The textbook variants are unsupported on the
/// CPU unless the call passes textbook(op). <concord/ALGORITHM_textbook.hpp> defines them for one algorithm. GPUs
/// support every variant without this header, and so do built-in operators on all devices. compact and histogram
/// support every variant on the CPU for every operator.
///
/// textbook(op) is a distinct type. Translation units with and without this header therefore never define one
/// function differently.

#include <concord/operators.hpp>

namespace concord {

namespace detail {

// Marks the struct that CONCORD_FUNCTION defines.
template <class F>
struct Textbook : F {};

template <class F, std::size_t Free>
struct HostOperator<HostFunction<Textbook<F>, Free>> {
    using Type = HostFunction<F, Free>;
    static constexpr bool textbook = true;
};

}  // namespace detail

/// Returns the operator with its bound values as a type for which all CPU kernels are compiled. Results are bitwise
/// identical.
template <class F, class... B>
constexpr auto textbook(const Function<F, B...>& op) {
    return Function<detail::Textbook<F>, B...>(op.values());
}

}  // namespace concord
