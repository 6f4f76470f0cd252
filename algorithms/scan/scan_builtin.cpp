// Scan with the built-in operators: a file of its own, because their host kernels take long to compile.

#include <concord/scan.hpp>

#include <array>

namespace concord {

Run scan(Stream& stream, const View& in, const View& out, ReduceOp op, ScanKind kind,
         const Options& options) {
    static constexpr std::array<std::byte, 4> no_values{};
    return visit(in.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T identity = identity_of<T>(op);
        // Wrapping arithmetic is the same for signed and unsigned integers: their kernels are compiled once.
        constexpr bool integral = std::is_integral_v<T>;
        using Wrapping =
            typename std::conditional_t<integral, std::make_unsigned<T>, std::type_identity<T>>::type;
        const detail::ScanHost* host = op == ReduceOp::sum ? &detail::scan_host<Wrapping, ops::Sum>()
                                       : op == ReduceOp::product
                                           ? &detail::scan_host<Wrapping, ops::Product>()
                                       : op == ReduceOp::min ? &detail::scan_host<T, ops::Min>()
                                                             : &detail::scan_host<T, ops::Max>();
        return detail::scan(stream,
                            {in,
                             out,
                             builtin(op, in.type),
                             {no_values},
                             {std::as_bytes(std::span(&identity, 1))},
                             kind,
                             host},
                            options);
    });
}

}  // namespace concord
