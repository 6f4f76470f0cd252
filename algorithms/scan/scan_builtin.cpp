// Scan with the built-in operators, in a separate file because their host kernels take long to compile.

#include <concord/scan_textbook.hpp>

#include <array>

namespace concord {

namespace detail {
namespace {

constexpr std::array<std::byte, 4> no_values{};

}  // namespace

ScanProblem scan_problem(const View& in, const View& out, ReduceOp op, ScanKind kind) {
    return visit_type(in.type, [&](auto tag) -> ScanProblem {
        using T = typename decltype(tag)::type;
        static constexpr T identities[] = {identity_of<T>(ReduceOp::sum), identity_of<T>(ReduceOp::product),
                                           identity_of<T>(ReduceOp::min), identity_of<T>(ReduceOp::max)};
        // Wrapping arithmetic is the same for signed and unsigned integers, so their kernels are compiled once.
        constexpr bool integral = std::is_integral_v<T>;
        using Wrapping =
            typename std::conditional_t<integral, std::make_unsigned<T>, std::type_identity<T>>::type;
        const ScanHost* host = op == ReduceOp::sum       ? &ScanTextbook<Wrapping, ops::Sum>::kernels
                               : op == ReduceOp::product ? &ScanTextbook<Wrapping, ops::Product>::kernels
                               : op == ReduceOp::min     ? &ScanTextbook<T, ops::Min>::kernels
                                                         : &ScanTextbook<T, ops::Max>::kernels;
        return {.in = in,
                .out = out,
                .op = builtin(op, in.type),
                .values = {no_values},
                .identity = {std::as_bytes(std::span(&identities[static_cast<std::size_t>(op)], 1))},
                .kind = kind,
                .host = host};
    });
}

ScanBefore scan_before(Type type, ReduceOp op) {
    return visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return ops::visit(op, [&](auto functor) { return scan_before(identity_of<T>(op), functor); });
    });
}

}  // namespace detail

Enqueued scan(Stream& stream, const View& in, const View& out, ReduceOp op, ScanKind kind,
              const Options& options) {
    return detail::scan(stream, detail::scan_problem(in, out, op, kind), options);
}

}  // namespace concord
