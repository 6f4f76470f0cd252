#pragma once
/// Textbook variants on the CPU for operators made with CONCORD_FUNCTION.
///
///     #include <concord/scan_textbook.hpp>
///     scan(stream, in, out, textbook(last_set), 0, ScanKind::inclusive, {.variant = "blelloch"});
///
/// A host kernel is a template of the operator, and your compiler instantiates it. For an operator as CONCORD_FUNCTION makes
/// it that is done for the variants that `auto` takes, and for `serial`. The others are unsupported on the CPU, unless the call
/// passes textbook(op), for which all of them are instantiated: <concord/ALGORITHM_textbook.hpp> has an algorithm's.
/// GPUs, and built-in operators on all devices, have every variant without this header.
///
/// textbook(op) has a type of its own. So files with and without this header never define one function differently.

#include <concord/operators.hpp>

namespace concord {

namespace detail {

/// Marks the struct that CONCORD_FUNCTION defines.
template <class F>
struct Textbook : F {};

template <class F, std::size_t Free>
struct HostOperator<HostFunction<Textbook<F>, Free>> {
    using Type = HostFunction<F, Free>;
    static constexpr bool textbook = true;
};

}  // namespace detail

/// The same operator, with its values bound, for which all host kernels are compiled. Results have the same bits.
template <class F, class... B>
constexpr auto textbook(const Function<F, B...>& op) {
    return Function<detail::Textbook<F>, B...>(op.values());
}

}  // namespace concord
