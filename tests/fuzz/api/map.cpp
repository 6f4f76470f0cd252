// Calls of map.
#include "../api.hpp"

namespace concord::fuzz {

template <class T>
static T wrapped_negative(T x) {
    return static_cast<T>(u64{0} - static_cast<u64>(x));
}

FUZZ_CALLS(map) {
    const Type type = any_type();
    fill(type);
    auto function = choices_.any(all_map_functions);
    // exp and the other math functions take the same way. Their values are tested elsewhere.
    if (function > MapFunction::sqrt && is_float(type)) function = MapFunction::sqrt;
    const View in = range(type, elements(type, 2400)), out = output(in, type, in.count % 65536);
    if (in.count != out.count) outcome_ = Outcome::refused;
    if (function >= MapFunction::sqrt && !is_float(type)) outcome_ = Outcome::refused;
    in_place(in, out);
    const Options asked = options(map_algorithm);
    verify(
        type, [&] { concord::map(stream(), in, out, function, asked); },
        [&]<class T>(Bytes& to, T) {
            for (u64 i = 0; i < in.count; ++i) {
                const T x = load<T>(before(), in, i);
                T y = x;
                if (function == MapFunction::negate)
                    y = std::is_floating_point_v<T> ? -x : wrapped_negative(x);
                if (function == MapFunction::abs && x < T{})
                    y = std::is_floating_point_v<T> ? -x : wrapped_negative(x);
                if (function == MapFunction::square) y = wrapped(ReduceOp::product, x, x);
                if constexpr (std::is_floating_point_v<T>) {
                    if (function == MapFunction::sqrt) y = detail::canonical(std::sqrt(x));
                }
                store(to, out, i, y);
            }
        });
}

}  // namespace concord::fuzz
