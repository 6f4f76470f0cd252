// CONCORD_FUNCTION, bound parameters, operators from text, and the built-in operators on the host.
#include "devices.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/operator_text.hpp>

#include <cmath>

using namespace concord;
using test::throws;

CONCORD_FUNCTION(float, axpy_test, (float x, float y, float a), return a * x + y;)
CONCORD_FUNCTION(double, mixed_test, (float x, signed char a, double b, short c), return x * a + b * c;)

TEST_SUITE_BEGIN("core");

TEST_CASE("a function is called, bound and described") {
    CHECK(axpy_test(2.0f, 1.0f, 3.0f) == 7.0f);
    CHECK(axpy_test.bind(3.0f)(2.0f, 1.0f) == 7.0f);
    CHECK(axpy_test.bind(3)(2.0f, 1.0f) == 7.0f);  // converted to the parameter's type
    const auto bound = axpy_test.bind(3.0f);
    const Operator& op = bound.erased();
    CHECK(op.signature() == "f32(f32, f32)");
    CHECK(op.bound == std::vector<Type>{Type::f32});
    CHECK(op.text == "float concord_function(float x, float y, float a) { return a * x + y; }");
    CHECK(op.file.find("function_test.cpp") != std::string::npos);
    // Another value uses the same kernel.
    CHECK(axpy_test.bind(4.0f).erased().hash == op.hash);
    CHECK(axpy_test.erased().hash != op.hash);
}

CONCORD_FUNCTION(int, shifted_test, (int x, int by, u8 and_by, u64 more), return x + by + and_by + (int)more;)

TEST_CASE("bind refuses values that the parameter does not have") {
    const auto refused = [](const std::string& words, const auto&... values) {
        CHECK(throws(ErrorCode::invalid_argument,
                     "shifted_test.bind: no value of the parameter, got " + words,
                     [&] { static_cast<void>(shifted_test.bind(values...)); }));
    };
    CHECK(shifted_test.bind(2, 3, 4)(1) == 10);
    CHECK(shifted_test.bind(2U, i64{255}, u8{0})(0) == 257);
    refused("256; its type is u8", 1, 256, 0);
    refused("-1; its type is u8", 1, -1, 0);
    refused("-1; its type is u64", 1, 1, -1);
    refused("2147483648; its type is i32", 2147483648U, 1, 1);
    CHECK(axpy_test.bind(16777216)(1.0f, 0.0f) == 16777216.0f);
    CHECK(axpy_test.bind(i64{1} << 62)(1.0f, 0.0f) == 0x1p62f);
    CHECK(axpy_test.bind(0.1)(1.0f, 0.0f) == 0.1f);  // rounded, as in an assignment
    CHECK(std::isinf(axpy_test.bind(HUGE_VAL)(1.0f, 0.0f)));
    CHECK(throws(ErrorCode::invalid_argument, "got 16777217; its type is f32",
                 [] { static_cast<void>(axpy_test.bind(16777217)); }));
    CHECK(throws(ErrorCode::invalid_argument, "its type is f32",
                 [] { static_cast<void>(axpy_test.bind(1e39)); }));
}

TEST_CASE("bound values are packed as a C struct") {
    struct Struct {
        signed char a;
        double b;
        short c;
    };
    const auto bound = mixed_test.bind(-3, 2.5, 7);
    const auto bytes = bound.packed();
    REQUIRE(bytes.size() == sizeof(Struct));
    Struct values;
    std::memcpy(&values, bytes.data(), sizeof values);
    CHECK(values.a == -3);
    CHECK(values.b == 2.5);
    CHECK(values.c == 7);
    typename decltype(bound)::Host host;
    std::memcpy(host.values, bytes.data(), bytes.size());
    CHECK(host(2.0f) == 2.0f * -3 + 2.5 * 7);
    CHECK(axpy_test.packed().size() == 4);  // never empty, even without bound values
}

TEST_CASE("calls that devices may compute differently are found in every spelling") {
    const auto call = [](const std::string& body) {
        return operator_from_text("float f(float x, int flag) { " + body + " }").unportable;
    };
    for (const char* body : {"return remainder(x);", "return (remainder)(x);", "return ((remainder)) (x);",
                             "return remainder/**/(x);", "return remainder // (\n(x);",
                             "float y = 2 * (remainder)(x); return y;", "return (float)(remainder)(x);",
                             "return rem\\\nainder(x);", "if (flag) return (remainder)(x); return x;"}) {
        CAPTURE(body);
        CHECK(call(body) == "remainder");
    }
    for (const char* body :
         {"return x; // remainder(x)", "return /* remainder(x) */ x;", "return (float)(x);",
          "if (flag) (void)x; return x;", "if (flag) (x) += 1; return x;", "return (int)(x);",
          "return (sqrt)(x) + (unsigned int)(x);"}) {
        CAPTURE(body);
        CHECK(call(body).empty());
    }
}

CONCORD_FUNCTION(float, third_test, (float x), return x / 3;)
CONCORD_FUNCTION(float, two_thirds_test, (float x), return 2 * third_test(x);)

TEST_CASE("divisions of f32 are found") {
    CHECK(two_thirds_test.erased().may_divide_f32);  // in a function that it calls
    CHECK_FALSE(axpy_test.erased().may_divide_f32);
    CHECK(detail::builtin(MapFunction::sqrt, Type::f32).may_divide_f32);
    const auto divides = [](const char* text) { return operator_from_text(text).may_divide_f32; };
    CHECK(divides("float f(float x) { return x / 3; }"));
    CHECK(divides("float f(float x) { x /= 3; return x; }"));
    CHECK(divides("float f(float x) { return (sqrt)(x); }"));
    CHECK(divides("double f(double x) { return (float)x / 3; }"));
    CHECK_FALSE(divides("double f(double x) { return sqrt(x) / 3; }"));
    CHECK_FALSE(divides("float f(float x) { return x; /* x / 3 */ } // x / 3"));
    CHECK_FALSE(divides("int f(int x) { return x / 3; }"));
}

TEST_CASE("operators from source text") {
    const Operator op =
        operator_from_text("unsigned int mix3(unsigned char x, u64 y) { return x + (u32)y; }");
    CHECK(op.name == "mix3");
    CHECK(op.signature() == "u32(u8, u64)");
    for (const char* bad :
         {"", "float f", "float f(float x)", "f(float x) { return x; }", "half f(half x) { return x; }",
          "float f(float) { return 1; }", "float f() { return 1; }"}) {
        CAPTURE(bad);
        CHECK(throws(ErrorCode::invalid_argument,
                     "operator_from_text: ", [&] { (void)operator_from_text(bad); }));
    }
}

TEST_CASE("built-in operators fulfil their contract on the host") {
    const float nan = std::nanf(""), inf = INFINITY;
    CHECK(std::signbit(detail::ops::Min{}(0.0f, -0.0f)));
    CHECK(std::signbit(detail::ops::Min{}(-0.0f, 0.0f)));
    CHECK_FALSE(std::signbit(detail::ops::Max{}(-0.0f, 0.0f)));
    CHECK(std::signbit(detail::ops::Max{}(-0.0f, -0.0f)));
    CHECK(std::isnan(detail::ops::Min{}(nan, -inf)));
    CHECK(std::isnan(detail::ops::Min{}(-inf, nan)));
    CHECK(std::isnan(detail::ops::Max{}(inf, nan)));
    CHECK(detail::ops::Min{}(inf, 3.0f) == 3.0f);
    CHECK(detail::ops::Sum{}(u8{200}, u8{100}) == u8{44});
    CHECK(detail::ops::Sum{}(i32{2147483647}, i32{1}) == std::numeric_limits<i32>::min());
    CHECK(detail::ops::Product{}(u16{65535}, u16{65535}) == u16{1});
    CHECK(detail::ops::Abs{}(std::numeric_limits<i8>::min()) == std::numeric_limits<i8>::min());
    CHECK(detail::ops::Negate{}(u32{1}) == 0xffffffffu);
    for (ReduceOp op : all_reduce_ops) {
        CHECK(reduce_op_named(name_of(op)) == op);
        detail::ops::visit(op, [&](auto f) {
            CHECK(f(identity_of<float>(op), 1.5f) == 1.5f);
            CHECK(f(identity_of<i16>(op), i16{-7}) == i16{-7});
            CHECK(f(identity_of<u64>(op), ~u64{0} - 1) == ~u64{0} - 1);
        });
    }
    for (MapFunction function : all_map_functions)
        CHECK(map_function_named(name_of(function)) == function);
    CHECK_FALSE(reduce_op_named("mean").has_value());
}

namespace {
CONCORD_FUNCTION(u32, rotate, (u32 x), return x;)
CONCORD_FUNCTION(u32, calls_own_rotate, (u32 x), return rotate(x, x);)
}  // namespace

TEST_CASE("a function with a name of the vocabulary is refused where it is called") {
    CHECK(rotate.erased().helpers.empty());
    CHECK(throws(ErrorCode::invalid_argument, "rename your own", [] { (void)calls_own_rotate.erased(); }));
}

TEST_SUITE_END();
