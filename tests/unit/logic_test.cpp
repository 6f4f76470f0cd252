// bool, the functions of two elements, predicates, where and clip, broadcasting, any and all.
#include "expression_parts.hpp"

#include "devices.hpp"
#include "temporary_folder.hpp"

#include <concord/npy.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

using namespace concord;
using test::difference;
using test::each_type;
using test::random_values;
using test::throws;
using test::without_payload;

namespace {

CONCORD_FUNCTION(u32, packed_truths_test, (bool a, bool b, bool c, bool d, bool e, bool f),
                 return (u32)a | (u32)b << 1 | (u32)c << 2 | (u32)d << 3 | (u32)e << 4 | (u32)f << 5;)
CONCORD_FUNCTION(bool, differ_test, (bool a, f32 x, bool flips), return (a == (x > 0.25f)) == flips;)
CONCORD_FUNCTION(u8, plus_two_test, (bool a), return a ? 3 : 2;)
CONCORD_FUNCTION(bool, above_test, (f32 x), return x > 0.25f;)
CONCORD_FUNCTION(bool, same_test, (bool a, bool b), return a == b;)
CONCORD_FUNCTION_OF(T, (i8, u8, i16, u16, i32, u32, i64, u64, f32, f64), T, pick_result_test,
                    (T a, T b, T c, T d, T e, T f, T g, u32 k),
                    return k == 0   ? a
                           : k == 1 ? b
                           : k == 2 ? c
                           : k == 3 ? d
                           : k == 4 ? e
                           : k == 5 ? f
                                    : g;)

template <class T>
std::vector<T> value_of(Stream& stream, const Expression<T>& e) {
    return evaluate(stream, e).to_host(stream);
}
template <class T>
std::vector<T> value_of(Stream& stream, const NdExpression<T>& e) {
    return evaluate(stream, e).to_host(stream);
}

template <class T, class F>
std::vector<T> made(u64 n, const F& f) {
    std::vector<T> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<T>(f(i));
    return values;
}

// Whether a case may need a kernel for each type. Devices that compile at run time take half a second for each: they do
// it only if CONCORD_TEST_LONG is set.
bool has_time(const Device& device) {
    return device.traits().launch == LaunchModel::host || std::getenv("CONCORD_TEST_LONG") != nullptr;
}

// Calls f with a value of each type, or of those in the list if there is no time for all.
template <class F>
void each_tested(const Device& device, std::initializer_list<Type> few, const F& f) {
    each_type(device, [&]<class T>(T tag) {
        if (has_time(device) || std::find(few.begin(), few.end(), type_of<T>()) != few.end()) f(tag);
    });
}

// Numbers around which the functions differ.
template <class T>
std::vector<T> edges() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) {
        using Bits = test::BitsOf<T>;
        const Bits quiet = std::bit_cast<Bits>(test::canonical_nan<T>()),
                   sign = Bits{1} << (sizeof(T) * 8 - 1);
        return {std::bit_cast<T>(Bits(quiet | 0x1234)),
                std::bit_cast<T>(Bits(quiet | sign | 1)),
                Limits::infinity(),
                -Limits::infinity(),
                T(0),
                -T(0),
                Limits::denorm_min(),
                -Limits::denorm_min(),
                Limits::max(),
                Limits::lowest(),
                T(1),
                T(-1),
                T(0.1),
                T(2),
                T(-3),
                T(2.5)};
    } else {
        return {T(0),  T(1),
                T(2),  T(3),
                T(-1), T(-2),
                T(5),  Limits::max(),
                T(7),  Limits::min(),
                T(13), static_cast<T>(Limits::max() - 1),
                T(64), static_cast<T>(Limits::min() + 1),
                T(99), static_cast<T>(Limits::max() / 2 + 1)};
    }
}

// All pairs of edges, then random numbers: more than a block of the CPU, and a partly filled group.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs() {
    std::vector<T> x = random_values<T>(1027, 1), y = random_values<T>(1027, 2);
    const std::vector<T> all = edges<T>();
    for (u64 i = 0; i < all.size() * all.size(); ++i) {
        x[i] = all[i / all.size()];
        y[i] = all[i % all.size()];
    }
    return {x, y};
}

template <class T>
T minimum_of(T x, T y) {
    if (x != x || y != y) return without_payload(x != x ? x : y);
    if constexpr (std::is_floating_point_v<T>) {
        if (x == y) return std::signbit(x) ? x : y;
    }
    return y < x ? y : x;
}
template <class T>
T maximum_of(T x, T y) {
    if (x != x || y != y) return without_payload(x != x ? x : y);
    if constexpr (std::is_floating_point_v<T>) {
        if (x == y) return std::signbit(x) ? y : x;
    }
    return x < y ? y : x;
}

// x to the power of y by repeated multiplication.
template <class T>
T power_of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
        return without_payload(Vocabulary::pow(x, y));
    } else {
        if (y < 0) return 0;
        // Powers of 64 bits repeat after 2^62 steps at most; the last 64 exponents of a power of two suffice for
        // even x, and odd x have the order 2^62.
        u64 result = 1;
        const u64 base = static_cast<u64>(x);
        for (int bit = 63; bit >= 0; --bit) {
            result *= result;
            if ((static_cast<u64>(y) >> bit & 1) != 0) result *= base;
        }
        return static_cast<T>(result);
    }
}

// The comparisons of a and b as bits.
template <class T>
auto comparisons_of(const Array<T>& a, const Array<T>& b) {
    using P = BinaryPredicate;
    const auto of = [&](P f) { return transform(f, a, b); };
    return transform(packed_truths_test, of(P::equal), of(P::not_equal), of(P::less), of(P::less_equal),
                     of(P::greater), of(P::greater_equal));
}

// The logic of a and b as bits.
template <class T>
auto logic_of(const Array<T>& a, const Array<T>& b) {
    using P = BinaryPredicate;
    const auto of = [&](P f) { return transform(f, a, b); };
    const auto fifth = [&] {
        if constexpr (std::is_floating_point_v<T>) {
            return transform(UnaryPredicate::is_nan, a);
        } else {
            return convert<bool>(b);
        }
    }();
    return transform(packed_truths_test, of(P::logical_and), of(P::logical_or), of(P::logical_xor),
                     transform(UnaryPredicate::logical_not, a), fifth, convert<bool>(a));
}

// One of the functions of a and b.
template <class T>
auto functions_of(const Array<T>& a, const Array<T>& b, u32 k) {
    using F = BinaryFunction;
    const auto of = [&](F f) { return transform(f, a, b); };
    return transform(pick_result_test.of<T>.bind(k), of(F::add), of(F::subtract), of(F::multiply),
                     of(F::minimum), of(F::maximum), of(F::power),
                     of(std::is_floating_point_v<T> ? F::divide : F::add));
}

// Bytes as bool.
Span<const bool> as_bools(const Array<u8>& bytes) {
    View view = bytes.view();
    view.type = Type::boolean;
    return Span<const bool>(view);
}

std::vector<bool> truths(u64 n, u32 seed) {
    const auto bytes = random_values<u8>(n, seed);
    std::vector<bool> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = bytes[i] % 2 == 1;
    return values;
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(logic_compares_all_types) {
    each_tested(device, {Type::i8, Type::f32}, [&]<class T>(T) {
        CAPTURE(std::string(name_of(type_of<T>())));
        const auto [x, y] = pairs<T>();
        const Array<T> a(stream, x), b(stream, y);
        const auto compared = comparisons_of(a, b);
        CHECK(difference(made<u32>(x.size(),
                                   [&, &x = x, &y = y](u64 i) {
                                       return u32(x[i] == y[i]) | u32(x[i] != y[i]) << 1 |
                                              u32(x[i] < y[i]) << 2 | u32(x[i] <= y[i]) << 3 |
                                              u32(x[i] > y[i]) << 4 | u32(x[i] >= y[i]) << 5;
                                   }),
                         value_of(stream, compared)) == "");
        if (!has_time(device) && type_of<T>() != Type::f32) return;
        const auto logical = logic_of(a, b);
        CHECK(difference(made<u32>(x.size(),
                                   [&, &x = x, &y = y](u64 i) {
                                       const bool p = x[i] != 0, q = y[i] != 0;
                                       const bool fifth = std::is_floating_point_v<T> ? x[i] != x[i] : q;
                                       return u32(p && q) | u32(p || q) << 1 | u32(p != q) << 2 |
                                              u32(!p) << 3 | u32(fifth) << 4 | u32(p) << 5;
                                   }),
                         value_of(stream, logical)) == "");
    });
    // Each on its own, so that a result of bool is one of a kernel.
    const auto [x, y] = pairs<i32>();
    const Array<i32> a(stream, x), b(stream, y);
    CHECK(value_of(stream, transform(BinaryPredicate::less, a, b)) ==
          made<bool>(x.size(), [&, &x = x, &y = y](u64 i) { return x[i] < y[i]; }));
}

STREAM_TEST(logic_computes_in_all_types) {
    each_tested(device, {Type::i64, Type::f32}, [&]<class T>(T) {
        CAPTURE(std::string(name_of(type_of<T>())));
        constexpr bool is_float = std::is_floating_point_v<T>;
        const auto [x, y] = pairs<T>();
        const Array<T> a(stream, x), b(stream, y);
        u32 k = 0;
        const auto check = [&, &x = x, &y = y](const auto& f) {
            CAPTURE(k);
            const auto expected =
                made<T>(x.size(), [&](u64 i) { return without_payload(static_cast<T>(f(x[i], y[i]))); });
            CHECK(difference(expected, value_of(stream, functions_of(a, b, k++))) == "");
        };
        using W = std::conditional_t<is_float, T, u64>;  // wraps
        check([](T p, T q) { return static_cast<T>(static_cast<W>(p) + static_cast<W>(q)); });
        check([](T p, T q) { return static_cast<T>(static_cast<W>(p) - static_cast<W>(q)); });
        check([](T p, T q) { return static_cast<T>(static_cast<W>(p) * static_cast<W>(q)); });
        check([](T p, T q) { return minimum_of(p, q); });
        check([](T p, T q) { return maximum_of(p, q); });
        check([](T p, T q) { return power_of(p, q); });
        if constexpr (is_float) {
            if (device.traits().exact_divide_sqrt) check([](T p, T q) { return p / q; });
        }
    });
    const Array<i32> whole(stream, {1, 2});
    CHECK(throws(ErrorCode::unsupported, "divide supports f32 and f64, got i32",
                 [&] { (void)transform(BinaryFunction::divide, whole, whole); }));
    CHECK(throws(ErrorCode::unsupported, "is_nan supports f32 and f64, got i32",
                 [&] { (void)transform(UnaryPredicate::is_nan, whole); }));
}

STREAM_TEST(logic_where_and_clip) {
    const auto bytes = made<u8>(1027, [](u64 i) { return static_cast<u8>(i % 7 == 0 ? 0 : i); });
    const Array<u8> condition(stream, bytes);
    each_tested(device, {Type::i16, Type::f32}, [&]<class T>(T) {
        CAPTURE(std::string(name_of(type_of<T>())));
        const auto [x, y] = pairs<T>();
        const Array<T> a(stream, x), b(stream, y);
        // NaNs keep their payload.
        const auto chosen =
            made<T>(x.size(), [&, &x = x, &y = y](u64 i) { return bytes[i] != 0 ? x[i] : y[i]; });
        CHECK(difference(chosen, value_of(stream, where(condition, a, b))) == "");
        if (sizeof(T) == 4 || has_time(device))
            CHECK(difference(chosen, value_of(stream, where(as_bools(condition), a, b))) == "");
        if (!has_time(device)) return;
        const T low = T(2), high = T(64);
        CHECK(difference(
                  made<T>(x.size(), [&, &x = x](u64 i) { return minimum_of(maximum_of(x[i], low), high); }),
                  value_of(stream, clip(a, low, high))) == "");
        CHECK(difference(made<T>(x.size(), [&, &x = x, &y = y](
                                               u64 i) { return minimum_of(maximum_of(x[i], y[i]), high); }),
                         value_of(stream, clip(a, b, constant(high)))) == "");
    });
    const Array<bool> p(stream, truths(600, 1)), q(stream, truths(600, 2)), r(stream, truths(600, 3));
    const auto x = p.to_host(stream), y = q.to_host(stream), z = r.to_host(stream);
    CHECK(value_of(stream, where(p, q, r)) == made<bool>(600, [&](u64 i) { return x[i] ? y[i] : z[i]; }));
    CHECK(value_of(stream, transform(BinaryFunction::minimum, p, q)) ==
          made<bool>(600, [&](u64 i) { return x[i] && y[i]; }));
    if (has_time(device))
        CHECK(value_of(stream, transform(BinaryFunction::maximum, p, q)) ==
              made<bool>(600, [&](u64 i) { return x[i] || y[i]; }));
    CHECK(throws(ErrorCode::unsupported, "add does not support bool",
                 [&] { (void)transform(BinaryFunction::add, p, q); }));
    CHECK(throws(ErrorCode::unsupported, "clip does not support bool", [&] { (void)clip(p, q, r); }));
}

STREAM_TEST(logic_takes_any_byte_but_0_as_true) {
    std::vector<u8> bytes(1025);
    std::iota(bytes.begin(), bytes.end(), u8{0});
    const Array<u8> memory(stream, bytes);
    const Span<const bool> x = as_bools(memory);
    const u64 n = bytes.size();
    const auto as_bytes = [&](const Expression<bool>& e) {
        const Array<u8> out(stream, std::vector<u8>(e.size(), 0xaa));
        View view = out.view();
        view.type = Type::boolean;
        evaluate(stream, e, Span<bool>(view));
        return out.to_host(stream);
    };
    const auto expected = made<u8>(n, [&](u64 i) { return bytes[i] != 0 ? 1 : 0; });
    const auto inverse = made<u8>(n, [&](u64 i) { return bytes[i] != 0 ? 0 : 1; });
    CHECK(difference(expected, value_of(stream, convert<u8>(x))) == "");
    CHECK(difference(expected, as_bytes(transform(BinaryPredicate::equal, x, constant(true)))) == "");
    CHECK(difference(inverse, as_bytes(transform(UnaryPredicate::logical_not, x))) == "");
    CHECK(difference(expected, as_bytes(where(x, x, x))) == "");
    // Functions of the user.
    CHECK(difference(made<u8>(n, [&](u64 i) { return bytes[i] != 0 ? 3 : 2; }),
                     value_of(stream, transform(plus_two_test, x))) == "");
    CHECK(difference(made<u8>(n, [&](u64 i) { return bytes[i] != 0 ? 3 : 2; }),
                     map(stream, x, plus_two_test).to_host(stream)) == "");
    const auto f = random_values<f32>(n, 3);
    const Array<f32> floats(stream, f);
    for (const bool flips : {false, true}) {
        CHECK(value_of(stream, transform(differ_test.bind(flips), x, floats)) ==
              made<bool>(n, [&](u64 i) { return ((bytes[i] != 0) == (f[i] > 0.25f)) == flips; }));
    }
    // Arrays.
    const auto values = truths(777, 4);
    Array<bool> array(stream, values);
    CHECK(array.to_host(stream) == values);
    CHECK(array.clone(stream).to_host(stream) == values);
    fill(stream, array, true);
    CHECK(array.to_host(stream) == std::vector<bool>(777, true));
    CHECK(Array<bool>(stream, {true, false}).to_host(stream) == std::vector<bool>{true, false});
    // Predicates of the user.
    CHECK(count_if(stream, floats, above_test).get() ==
          static_cast<u64>(std::count_if(f.begin(), f.end(), [](f32 v) { return v > 0.25f; })));
    if (!has_time(device)) return;
    CHECK(difference(inverse, as_bytes(transform(BinaryPredicate::less, x, constant(true)))) == "");
    CHECK(difference(inverse, as_bytes(transform(BinaryPredicate::not_equal, x, constant(true)))) == "");
    CHECK(map(stream, x, x, same_test).to_host(stream) == std::vector<bool>(n, true));
    CHECK(map(stream, floats, above_test).to_host(stream) ==
          made<bool>(n, [&](u64 i) { return f[i] > 0.25f; }));
    // Parts that move elements.
    std::vector<u8> back(expected.rbegin(), expected.rend());
    CHECK(difference(back, as_bytes(reversed(x))) == "");
    const Array<u32> index(stream, {256, 3, 0, 255, 512});
    CHECK(as_bytes(gather(x, index)) == std::vector<u8>{0, 1, 0, 1, 0});
    CHECK(difference(std::vector<u8>(10, 1), as_bytes(strided(x, {2, 5}, {100, 0}, 7))) == "");
    // Copies keep bytes.
    const Array<u8> copied(stream, n);
    View to = copied.view();
    to.type = Type::boolean;
    map(stream, x.view(), to, MapFunction::copy);
    CHECK(copied.to_host(stream) == bytes);
    const Array<u8> turned(stream, 1024);
    View square = turned.view(), from = x.view().part(0, 1024);
    square.type = Type::boolean;
    transpose(stream, MatrixView{from, 4, 256}, MatrixView{square, 256, 4});
    CHECK(turned.to_host(stream)[5] == bytes[256 + 1]);
}

STREAM_TEST(logic_converts_to_bool) {
    each_tested(device, {Type::f32}, [&]<class T>(T) {
        CAPTURE(std::string(name_of(type_of<T>())));
        const auto x = pairs<T>().first;
        const Array<T> in(stream, x);
        const auto expected = made<bool>(x.size(), [&](u64 i) { return x[i] != 0; });
        CHECK(value_of(stream, convert<bool>(in)) == expected);
        const Array<bool> flags(stream, expected);
        CHECK(difference(made<T>(x.size(), [&](u64 i) { return static_cast<T>(x[i] != 0 ? 1 : 0); }),
                         value_of(stream, convert<T>(flags))) == "");
    });
}

STREAM_TEST(logic_refuses_bool_where_it_computes) {
    const Array<bool> x(stream, truths(100, 1)), out(stream, 100), one(stream, 1);
    const auto refuses = [&](const char* part, const auto& f) {
        CAPTURE(part);
        CHECK(throws(ErrorCode::unsupported, part, f));
    };
    refuses("in: reduce does not support bool", [&] { reduce(stream, x, one); });
    refuses("in: reduce does not support bool", [&] { (void)sum(stream, reversed(x)).get(); });
    refuses("in: reduce does not support bool",
            [&] { reduce(stream, transform(BinaryPredicate::equal, x, x), one); });
    refuses("scan does not support bool", [&] { scan(stream, x, out); });
    refuses("add does not support bool", [&] { add(stream, x.view(), x.view(), out.view()); });
    refuses("in: map does not support bool", [&] { map(stream, x, out, MapFunction::negate); });
    refuses("bool", [&] { (void)transform(MapFunction::square, x); });
    refuses("bool", [&] { (void)mean(stream, x).get(); });
}

namespace {

struct Shape {
    std::vector<u64> extents;
    u64 size() const { return std::accumulate(extents.begin(), extents.end(), u64{1}, std::multiplies<>()); }
    NdExtents nd() const { return NdExtents(std::span<const u64>(extents)); }
};

// The value of an array in row-major order at the indices of a larger one, to which it broadcasts.
template <class T>
T broadcast_value(const std::vector<T>& values, const Shape& own, const Shape& common, u64 index) {
    u64 at = 0, stride = 1;
    for (u64 back = 0; back < common.extents.size(); ++back) {
        const u64 extent = common.extents[common.extents.size() - 1 - back], digit = index % extent;
        index /= extent;
        if (back >= own.extents.size()) continue;
        const u64 mine = own.extents[own.extents.size() - 1 - back];
        at += (mine == 1 ? 0 : digit) * stride;
        stride *= mine;
    }
    return values[at];
}

}  // namespace

STREAM_TEST(logic_broadcasts) {
    struct Case {
        Shape a, b, common;
    };
    const Case cases[] = {
        {{{}}, {{}}, {{}}},
        {{{}}, {{3}}, {{3}}},
        {{{0}}, {{}}, {{0}}},
        {{{0}}, {{1}}, {{0}}},
        {{{0, 3}}, {{1, 3}}, {{0, 3}}},
        {{{700}}, {{1}}, {{700}}},
        {{{1}}, {{1, 1}}, {{1, 1}}},
        {{{5}}, {{130, 5}}, {{130, 5}}},
        {{{130, 1}}, {{5}}, {{130, 5}}},
        {{{130, 1}}, {{1, 5}}, {{130, 5}}},
        {{{3, 5, 7}}, {{3, 5, 7}}, {{3, 5, 7}}},
        {{{3, 1, 7}}, {{5, 1}}, {{3, 5, 7}}},
        {{{3, 5, 1, 1}}, {{2, 7}}, {{3, 5, 2, 7}}},
        {{{2, 1, 3, 1, 5}}, {{4, 1, 6, 1}}, {{2, 4, 3, 6, 5}}},
    };
    for (const Case& c : cases) {
        CAPTURE(detail::shape_name(c.a.nd()));
        CAPTURE(detail::shape_name(c.b.nd()));
        const auto x = random_values<i32>(c.a.size(), 1), y = random_values<i32>(c.b.size(), 2);
        const Array<i32> a(stream, x), b(stream, y);
        const auto expected = made<i32>(c.common.size(), [&](u64 i) {
            return static_cast<i32>(static_cast<u32>(broadcast_value(x, c.a, c.common, i)) -
                                    static_cast<u32>(broadcast_value(y, c.b, c.common, i)));
        });
        const NdSpan p(a, c.a.nd()), q(b, c.b.nd());
        const NdExpression<i32> e = transform(BinaryFunction::subtract, p, q);
        CHECK(e.extents() == c.common.nd());
        CHECK(e.size() == c.common.size());
        CHECK(difference(expected, value_of(stream, e)) == "");
        // The other order of operands has the same shape.
        CHECK(transform(BinaryPredicate::less, q, p).extents() == c.common.nd());
        // Of an expression with extents.
        if (!has_time(device)) continue;
        const auto zero = transform(BinaryFunction::subtract, e, e);
        CHECK(difference(std::vector<i32>(c.common.size(), 0), value_of(stream, zero)) == "");
    }
}

STREAM_TEST(logic_broadcasts_views_and_expressions) {
    const u64 rows = 37, columns = 21;
    const auto x = random_values<f32>(rows * columns, 1), y = random_values<f32>(columns, 2),
               z = random_values<f32>(rows, 3);
    const Array<f32> a(stream, x), row(stream, y), column(stream, z);
    const NdSpan table(a, {rows, columns});
    const auto at = [&](u64 i, u64 j) { return x[i * columns + j]; };
    // A range is the last axis.
    CHECK(value_of(stream, transform(BinaryPredicate::less, table, row)) ==
          made<bool>(x.size(), [&](u64 i) { return x[i] < y[i % columns]; }));
    CHECK(value_of(stream, transform(BinaryPredicate::less, row, table)) ==
          made<bool>(x.size(), [&](u64 i) { return y[i % columns] < x[i]; }));
    // Views that are not contiguous.
    // An expression that is broadcast: the sum of a row and a column is computed for each element.
    const NdSpan standing(column, {rows, 1});
    const auto outer = transform(BinaryFunction::add, standing, transform(MapFunction::negate, row));
    CHECK(outer.extents() == NdExtents{rows, columns});
    CHECK(difference(made<f32>(x.size(), [&](u64 i) { return z[i / columns] + -y[i % columns]; }),
                     value_of(stream, outer)) == "");
    const auto selected = where(transform(BinaryPredicate::greater, table, constant(0.0f)), table,
                                transform(MapFunction::copy, row));
    const auto chosen = made<f32>(x.size(), [&](u64 i) { return x[i] > 0 ? x[i] : y[i % columns]; });
    CHECK(difference(chosen, value_of(stream, selected)) == "");
    // A matrix, and outputs with extents.
    const Matrix<const f32> matrix(a, rows, columns);
    const Array<f32> out(stream, x.size());
    evaluate(stream, transform(BinaryFunction::multiply, matrix, row), NdSpan(out, {rows, columns}));
    CHECK(difference(made<f32>(x.size(), [&](u64 i) { return x[i] * y[i % columns]; }),
                     out.to_host(stream)) == "");
    CHECK(difference(chosen, [&] {
              evaluate(stream, selected, out);
              return out.to_host(stream);
          }()) == "");
    // In place: each element of the output is used at its own index.
    const Array<f32> own(stream, x);
    const NdSpan whole(own, {rows, columns});
    evaluate(stream, transform(BinaryFunction::subtract, whole, row), whole);
    CHECK(difference(made<f32>(x.size(), [&](u64 i) { return x[i] - y[i % columns]; }),
                     own.to_host(stream)) == "");
    CHECK(throws(ErrorCode::invalid_argument, "overlaps", [&] {
        evaluate(stream, transform(BinaryFunction::subtract, whole.reversed(0), row), whole);
    }));
    if (!has_time(device)) return;
    CHECK(difference(made<f32>(x.size(), [&](u64 i) { return at(i % rows, i / rows) - z[i % rows]; }),
                     value_of(stream, transform(BinaryFunction::subtract, table.transposed(), column))) ==
          "");
    CHECK(
        difference(made<f32>(x.size(),
                             [&](u64 i) { return at(rows - 1 - i / columns, i % columns) * y[i % columns]; }),
                   value_of(stream, transform(BinaryFunction::multiply, table.reversed(0), row))) == "");
    CHECK(difference(
              made<f32>(10 * columns, [&](u64 i) { return at(5 + i / columns, i % columns) + 2.0f; }),
              value_of(stream, transform(BinaryFunction::add, table.part(0, 5, 10), constant(2.0f)))) == "");
    CHECK(difference(made<f32>(rows * 4, [&](u64 i) { return at(i / 4, 3 + i % 4) + 2.0f; }),
                     value_of(stream, transform(BinaryFunction::add, table.part(1, 3, 4), constant(2.0f)))) ==
          "");
    const auto narrow = transform(MapFunction::square, standing);
    CHECK(difference(made<f32>(x.size(), [&](u64 i) { return z[i / columns] * z[i / columns] - x[i]; }),
                     value_of(stream, transform(BinaryFunction::subtract, narrow, table))) == "");
    CHECK(difference(
              made<f32>(x.size(), [&](u64 i) { return minimum_of(maximum_of(x[i], -0.5f), y[i % columns]); }),
              value_of(stream, clip(table, constant(-0.5f), row))) == "");
    CHECK(difference(made<f32>(x.size(), [&](u64 i) { return x[i] < y[i % columns] ? 1.0f : 0.0f; }),
                     value_of(stream, convert<f32>(transform(BinaryPredicate::less, table, row)))) == "");
}

STREAM_TEST(logic_refuses_shapes) {
    const Array<f32> a(stream, std::vector<f32>(24, 1.0f)), out(stream, 24);
    const Array<bool> flag(stream, 1);
    const NdSpan table(a, {2, 3, 4});
    CHECK(throws(ErrorCode::invalid_argument, "shapes do not broadcast, got 2 x 3 x 4 and 3 x 2", [&] {
        (void)transform(BinaryFunction::add, table, NdSpan(a, {3, 2}));
    }));
    CHECK(throws(ErrorCode::invalid_argument, "shapes do not broadcast, got 2 x 3 x 4 and 24",
                 [&] { (void)transform(BinaryFunction::add, table, a); }));
    CHECK(throws(ErrorCode::invalid_argument, "where: shapes do not broadcast, got 3 x 1 and 2 x 4", [&] {
        (void)where(NdSpan(flag, {1}), NdSpan(a, {3, 1}), NdSpan(a, {2, 4}));
    }));
    // The first shape that has the extent is named, not the common one.
    CHECK(throws(ErrorCode::invalid_argument, "shapes do not broadcast, got 0 and 4", [&] {
        (void)clip(NdSpan(a, {1, 1}), NdSpan(a, {0}), NdSpan(a, {4}));
    }));
    const auto sum = transform(BinaryFunction::add, table, table);
    CHECK(throws(ErrorCode::invalid_argument, "the extents of the expression, 2 x 3 x 4, got 4 x 6", [&] {
        evaluate(stream, sum, NdSpan(out, {4, 6}));
    }));
    CHECK(throws(ErrorCode::invalid_argument, "indices of out may share elements", [&] {
        evaluate(stream, sum, NdSpan(out, {2, 3, 4}, {4, 0, 1}));
    }));
    // An output with strides may not be an input.
    const NdSpan square(a, {2, 2}), turned = square.transposed();
    CHECK(throws(ErrorCode::invalid_argument, "overlap",
                 [&] { evaluate(stream, transform(BinaryFunction::add, square, constant(1.0f)), turned); }));
    CHECK(throws(ErrorCode::invalid_argument, "24", [&] { evaluate(stream, sum, out.span().part(0, 23)); }));
}

STREAM_TEST(logic_evaluates_to_any_strides) {
    for (const NdExtents& extents :
         {NdExtents{5}, NdExtents{37, 700}, NdExtents{2, 1, 3}, NdExtents{9, 2, 4, 5}}) {
        CAPTURE(detail::shape_name(extents));
        const u32 rank = extents.size();
        u64 n = 1;
        for (const u64 extent : extents)
            n *= extent;
        const auto x = random_values<u16>(n, 1);
        const Array<u16> a(stream, x);
        const NdSpan in(a, extents);
        // Gaps of one element, and the axes in reverse order, each of them or one backwards.
        NdStrides strides;
        u64 width = 2;
        for (const u64 extent : extents) {
            strides.add(static_cast<i64>(width));
            width *= extent;
        }
        const std::vector<u16> empty(width + 3, 7);
        for (const i64 backwards : {-1, 0, static_cast<int>(rank) - 1}) {
            CAPTURE(backwards);
            const Array<u16> out(stream, empty);
            NdSpan<u16> to(out.span(), extents, strides, 3);
            if (backwards >= 0) to = to.reversed(backwards);
            evaluate(stream, transform(ReduceOp::sum, in, constant(u16{1})), to);
            std::vector<u16> expected = empty;
            for (u64 i = 0; i < n; ++i) {
                i64 at = static_cast<i64>(to.view().origin() + to.view().range().offset / sizeof(u16));
                for (u64 k = rank, rest = i; k-- > 0; rest /= extents[static_cast<u32>(k)])
                    at += static_cast<i64>(rest % extents[static_cast<u32>(k)]) *
                          to.stride(static_cast<u32>(k));
                expected[static_cast<std::size_t>(at)] = static_cast<u16>(x[i] + 1);
            }
            CHECK(out.to_host(stream) == expected);
        }
    }
    // A copy: no function.
    const Array<f64> a(stream, random_values<f64>(6, 1)), out(stream, std::vector<f64>(12, 0.0));
    evaluate(stream, convert<f64>(NdSpan(a, {2, 3})), NdSpan(out, {2, 3}, {2, 4}));
    const auto from = a.to_host(stream), to = out.to_host(stream);
    for (u64 i = 0; i < 6; ++i)
        CHECK(to[i / 3 * 2 + i % 3 * 4] == from[i]);
}

STREAM_TEST(logic_any_and_all) {
    for (const u64 n : {0, 1, 2, 1023, 1025, 5000}) {
        CAPTURE(n);
        for (const u64 kind : {0, 1, 2, 3}) {
            CAPTURE(kind);
            // All zero, all one, a single one at the end, a single zero at the end.
            std::vector<bool> values(n, kind % 2 == 1);
            if (n > 0 && kind >= 2) values[n - 1] = !values[n - 1];
            const bool any_one = std::count(values.begin(), values.end(), true) > 0,
                       all_one = std::count(values.begin(), values.end(), false) == 0;
            const Array<bool> x(stream, values);
            CHECK(any(stream, x).get() == any_one);
            CHECK(all(stream, x).get() == all_one);
        }
    }
    each_tested(device, {}, [&]<class T>(T) {
        if (sizeof(T) == 2 || (sizeof(T) == 1 && std::is_signed_v<T>)) return;
        CAPTURE(std::string(name_of(type_of<T>())));
        std::vector<T> values(1500, T(0));
        if constexpr (std::is_floating_point_v<T>) values[3] = -T(0);
        const Array<T> none(stream, values);
        CHECK(!any(stream, none).get());
        // In integers of several bytes the lowest one is 0.
        values[1499] = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN()
                                                   : static_cast<T>(sizeof(T) == 1 ? 0x80 : 0x100);
        const Array<T> one(stream, values);
        CHECK(any(stream, one).get());
        CHECK(!all(stream, one).get());
        CHECK(all(stream, one.span().part(1499, 1)).get());
    });
    // Any byte but 0 is true, and results are 0 or 1.
    const Array<u8> bytes(stream, std::vector<u8>(300, 0x80));
    CHECK(all(stream, as_bools(bytes)).get());
    const Array<u8> result(stream, std::vector<u8>(1, 0xaa));
    View to = result.view();
    to.type = Type::boolean;
    any(stream, as_bools(bytes), Span<bool>(to));
    CHECK(result.to_host(stream) == std::vector<u8>{1});
    all(stream, as_bools(bytes).part(0, 0), Span<bool>(to));
    CHECK(result.to_host(stream) == std::vector<u8>{1});
    // Over axes, also of an expression.
    const u64 rows = 70, columns = 33;
    const auto x =
        made<i32>(rows * columns, [](u64 i) { return i % 33 == 5 ? 0 : static_cast<i32>(i / 33 % 3); });
    const Array<i32> a(stream, x);
    const NdSpan table(a, {rows, columns});
    CHECK(any(stream, table, -1).to_host(stream) == made<bool>(rows, [](u64 i) { return i % 3 != 0; }));
    CHECK(all(stream, transform(BinaryPredicate::less, table, constant(2)), 1).to_host(stream) ==
          made<bool>(rows, [](u64 i) { return i % 3 != 2; }));
    CHECK(all(stream, NdSpan(a.span().part(0, 0), {3, 0}), 1).to_host(stream) == std::vector<bool>(3, true));
    CHECK(any(stream, NdSpan(a.span().part(0, 0), {3, 0}), 1).to_host(stream) == std::vector<bool>(3, false));
    CHECK(throws(ErrorCode::invalid_argument, "out must have type bool", [&] {
        const Array<u8> out(stream, 1);
        detail::quantify(stream, detail::Quantifier::any, detail::Input(a.view()), out.view(), {});
    }));
    if (!has_time(device)) return;
    CHECK(all(stream, table, 0).to_host(stream) == std::vector<bool>(columns, false));
    CHECK(any(stream, table.transposed(), -1).to_host(stream) ==
          made<bool>(columns, [](u64 i) { return i != 5; }));
    CHECK(any(stream, table).get());
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core");

TEST_CASE("bool is an element type of its own") {
    CHECK(type_of<bool>() == Type::boolean);
    CHECK(name_of(Type::boolean) == "bool");
    CHECK(type_named("bool") == Type::boolean);
    CHECK(size_of(Type::boolean) == 1);
    CHECK(is_boolean(Type::boolean));
    CHECK(!is_boolean(Type::u8));
    CHECK(std::find(all_types.begin(), all_types.end(), Type::boolean) == all_types.end());
    CHECK(throws(ErrorCode::unsupported, "bool", [] { detail::visit_type(Type::boolean, [](auto) {}); }));
    for (const BinaryFunction f : all_binary_functions)
        CHECK(binary_function_named(name_of(f)) == f);
    for (const BinaryPredicate f : all_binary_predicates)
        CHECK(binary_predicate_named(name_of(f)) == f);
    for (const UnaryPredicate f : all_unary_predicates)
        CHECK(unary_predicate_named(name_of(f)) == f);
    CHECK(!binary_function_named("less"));
}

TEST_CASE(".npy files hold bool") {
    const test::TemporaryFolder folder("bool");
    const std::vector<bool> values = truths(12, 1);
    port::write_npy(folder.path() / "mask.npy", values, {3, 4});
    const auto read = port::read_npy<bool>(folder.path() / "mask.npy");
    CHECK(read.values == values);
    CHECK(read.shape == std::vector<u64>{3, 4});
    CHECK(throws(ErrorCode::invalid_argument, "wrong element type",
                 [&] { (void)port::read_npy<u8>(folder.path() / "mask.npy"); }));
}

TEST_CASE("kernels of logic compile for CUDA") {
    const auto device = test::cuda_compiler();
    REQUIRES(device, test::needs::nvrtc);
    const auto stream = device->create_stream();
    const Array<f32> x(*stream, 64), y(*stream, 64);
    const Array<bool> flags(*stream, 64);
    const NdSpan table(x, {8, 8});
    const auto less = transform(BinaryPredicate::less, table, NdSpan(y, {8, 8}).transposed());
    CHECK_NOTHROW(evaluate(*stream, less, flags));
    CHECK_NOTHROW(evaluate(*stream, where(flags, x, y), Array<f32>(*stream, 64)));
    CHECK_NOTHROW(evaluate(*stream, transform(BinaryPredicate::logical_xor, flags, flags), flags));
    each_tested(*device, {Type::u8, Type::i64, Type::f32}, [&]<class T>(T) {
        const Array<T> a(*stream, 64), b(*stream, 64);
        CHECK_NOTHROW((void)evaluate(*stream, comparisons_of(a, b)));
        CHECK_NOTHROW((void)evaluate(*stream, logic_of(a, b)));
        CHECK_NOTHROW((void)evaluate(*stream, functions_of(a, b, 0)));
        CHECK_NOTHROW((void)evaluate(*stream, where(flags, a, b)));
        CHECK_NOTHROW((void)evaluate(*stream, convert<T>(flags)));
    });
    CHECK_NOTHROW(evaluate(*stream, transform(differ_test.bind(true), flags, x), flags));
    CHECK_NOTHROW(any(*stream, less, Array<bool>(*stream, 1)));
}

TEST_SUITE_END();
