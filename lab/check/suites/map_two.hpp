#pragma once
// Test cases of expressions of two inputs that broadcast: functions, comparisons, logic, where and clip. A case has
// several functions, so that a device compiles few kernels.

#include "lines.hpp"

#include <concord/internal/language.hpp>
#include <concord/lab/internal/reduce_reference.hpp>

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/expression.hpp>

namespace concord::lab {

CONCORD_FUNCTION_OF(T, (i8, u8, i16, u16, i32, u32, i64, u64, f32, f64), T, one_of_four,
                    (T a, T b, T c, T d, u32 i),
                    return i % 4 == 0   ? a
                           : i % 4 == 1 ? b
                           : i % 4 == 2 ? c
                                        : d;)
CONCORD_FUNCTION(u32, truths_of_four, (bool a, bool b, bool c, bool d),
                 return (u32)a | (u32)b << 1 | (u32)c << 2 | (u32)d << 3;)
CONCORD_FUNCTION(u32, truths_of_three, (bool a, bool b, bool c), return (u32)a | (u32)b << 1 | (u32)c << 2;)

// Two inputs, and the extents to which they broadcast.
struct MapTwoCase {
    const char* title;
    std::vector<u64> x, y;  // 0: what is left of n, see extents_for()
    u64 inner;              // elements that y adds to those of x
    Layout x_layout, y_layout;
};

enum class MapTwo { arithmetic, quotients, comparisons, choices, logic };

// x to the power of y.
template <class T>
T reference_power(T x, T y) {
    if (y < T(0)) return 0;
    u64 result = 1;
    const auto exponent = static_cast<u64>(y), base = static_cast<u64>(x);
    for (int bit = 63; bit >= 0; --bit) {
        result *= result;
        if ((exponent >> bit & 1) != 0) result *= base;
    }
    return static_cast<T>(result);
}
template <class T>
T reference_difference(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
        return x - y;
    } else {
        return static_cast<T>(static_cast<u64>(x) - static_cast<u64>(y));
    }
}

template <MapTwo kind, class T>
struct MapTwoFunction {
    using Result = std::conditional_t<kind == MapTwo::comparisons || kind == MapTwo::logic, u32, T>;
    static constexpr T low = T(2), high = T(64);

    static auto expression(const NdSpan<const T>& x, const NdSpan<const T>& y) {
        using F = BinaryFunction;
        using P = BinaryPredicate;
        const auto f = [&](F function) { return transform(function, x, y).flat(); };
        const auto p = [&](P predicate) { return transform(predicate, x, y).flat(); };
        if constexpr (kind == MapTwo::arithmetic) {
            return transform(one_of_four.of<T>, f(F::add), f(F::subtract), f(F::multiply),
                             f(std::is_floating_point_v<T> ? F::maximum : F::power), counting<u32>());
        } else if constexpr (kind == MapTwo::quotients) {
            return f(F::divide);
        } else if constexpr (kind == MapTwo::comparisons) {
            return transform(truths_of_four, p(P::equal), p(P::less), p(P::less_equal), p(P::greater));
        } else if constexpr (kind == MapTwo::choices) {
            const auto unequal = where(transform(P::greater_equal, x, y), y, clip(x, low, high));
            return where(transform(P::not_equal, x, y), unequal, constant(high)).flat();
        } else {
            return transform(truths_of_three, p(P::logical_and), p(P::logical_or), p(P::logical_xor));
        }
    }
    static Result reference_of(T x, T y, u64 i) {
        const auto of = [](ReduceOp op, T a, T b) { return as_computed(reference(op, a, b)); };
        if constexpr (kind == MapTwo::arithmetic) {
            switch (i % 4) {
                case 0:
                    return of(ReduceOp::sum, x, y);
                case 1:
                    return as_computed(reference_difference(x, y));
                case 2:
                    return of(ReduceOp::product, x, y);
                default:
                    break;
            }
            if constexpr (std::is_floating_point_v<T>) {
                return of(ReduceOp::max, x, y);
            } else {
                return reference_power(x, y);
            }
        } else if constexpr (kind == MapTwo::quotients) {
            return as_computed(x / y);
        } else if constexpr (kind == MapTwo::comparisons) {
            return u32(x == y) | u32(x < y) << 1 | u32(x <= y) << 2 | u32(x > y) << 3;
        } else if constexpr (kind == MapTwo::choices) {
            if (!(x != y)) return high;
            return x >= y ? y : of(ReduceOp::min, of(ReduceOp::max, x, low), high);
        } else {
            const bool a = x != T(0), b = y != T(0);
            return u32(a && b) | u32(a || b) << 1 | u32(a != b) << 2;
        }
    }
};

inline constexpr Variant evaluate_variant{
    .name = "evaluate", .dialects = detail::all_languages(), .order = OperationOrder::canonical};

template <MapTwo kind, class T>
Work map_two_work(const MapTwoCase& of, u64 n, Pattern pattern, u64 seed) {
    using F = MapTwoFunction<kind, T>;
    using U = typename F::Result;
    const LaidOut x(extents_for(of.x, n / of.inner), of.x_layout),
        y(extents_for(of.y, x.extents()[0] * of.inner), of.y_layout);
    // Plain rules of broadcasting: axes align at the last one.
    NdExtents extents;
    const u32 rank = std::max(x.rank(), y.rank());
    for (u32 k = 0; k < rank; ++k) {
        const u32 back = rank - k;
        const u64 a = back <= x.rank() ? x.extents()[x.rank() - back] : 1,
                  b = back <= y.rank() ? y.extents()[y.rank() - back] : 1;
        extents.add(a == 1 ? b : a);
    }
    const Input in[] = {{type_of<T>(), x.memory(), pattern, seed},
                        {type_of<T>(), y.memory(), pattern, seed + 1}};
    Work work;
    work.algorithm = "map";
    work.title = of.title;
    work.inputs = {in[0], in[1]};
    work.n = LaidOut(extents, Layout::dense).size();
    work.outputs = {{type_of<U>(), work.n}};
    work.traffic = work.bytes();
    work.in_place = std::is_same_v<T, U> && x.layout() == Layout::dense && x.extents() == extents;
    work.variant = &evaluate_variant;
    work.verify = [x, y, extents, first_input = in[0], second_input = in[1]](
                      const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                      Verdict& verdict) {
        std::vector<std::byte> scratch[2];
        const auto a = first_input.piece(0, first_input.count, scratch[0]),
                   b = second_input.piece(0, second_input.count, scratch[1]);
        const auto element_of = [&](const LaidOut& operand, std::span<const std::byte> bytes,
                                    const std::vector<u64>& index) {
            std::vector<u64> own(index.end() - operand.rank(), index.end());
            for (u32 k = 0; k < operand.rank(); ++k)
                if (operand.extents()[k] == 1) own[k] = 0;
            return element<T>(bytes, operand.place(own));
        };
        for (u64 i = 0; i < got.size() / sizeof(U); ++i) {
            const std::vector<u64> index = index_at(extents, first + i);
            const U expected = F::reference_of(element_of(x, a, index), element_of(y, b, index), first + i),
                    value = element<U>(got, i);
            if (!same(expected, value)) return verdict.differ(difference_of(first + i, expected, value));
        }
    };
    work.call = [x, y](Stream& stream, std::span<const View> operands, std::span<const View> out,
                       const Options& options) {
        const auto e =
            F::expression(NdSpan<const T>(x.view(operands[0])), NdSpan<const T>(y.view(operands[1])));
        // Refused where the device does not round as others do.
        const Options canonical{.order = options.order.value_or(OperationOrder::canonical)};
        if (x.layout() != Layout::dense && sizeof(T) >= sizeof(U) && e.size() > 0) {
            View in_place = operands[0];
            in_place.type = type_of<U>();
            in_place.count = e.size();
            check_refused("evaluate", [&] { (void)evaluate(stream, e, Span<U>(in_place), canonical); });
        }
        return evaluate(stream, e, Span<U>(out[0]), canonical);
    };
    return work;
}

// Calls emit(make) for each kind, where make(n, pattern, seed) is its work.
template <class T, class Emit>
void each_map_two(const Emit& emit) {
    using L = Layout;
    emit([](u64 n, Pattern p, u64 seed) {
        return map_two_work<MapTwo::arithmetic, T>(
            {"arithmetic of a table and a row", {0, 24}, {24}, 1, L::dense, L::reversed}, n, p, seed);
    });
    if constexpr (std::is_floating_point_v<T>) {
        emit([](u64 n, Pattern p, u64 seed) {
            return map_two_work<MapTwo::quotients, T>(
                {"quotients of a table and a row", {0, 24}, {24}, 1, L::dense, L::reversed}, n, p, seed);
        });
    }
    emit([](u64 n, Pattern p, u64 seed) {
        return map_two_work<MapTwo::comparisons, T>(
            {"comparisons of rows and a column", {0, 24}, {0, 1}, 1, L::reversed, L::dense}, n, p, seed);
    });
    emit([](u64 n, Pattern p, u64 seed) {
        return map_two_work<MapTwo::choices, T>(
            {"choices of 5 axes", {0, 1, 3, 1, 2}, {5, 1, 4, 1}, 20, L::transposed, L::part}, n, p, seed);
    });
    emit([](u64 n, Pattern p, u64 seed) {
        return map_two_work<MapTwo::logic, T>(
            {"logic of a column and a row", {0, 1}, {24}, 24, L::part, L::dense}, n, p, seed);
    });
}

}  // namespace concord::lab
