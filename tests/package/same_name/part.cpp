// One of two parts, which have the same names, places and callers, and differ in what a helper does: PLUS is a number
// that same_name.sh puts in.
#include <shared.hpp>

#include <exception>

using namespace concord;

CONCORD_FUNCTION(f32, helper, (f32 x), return x + PLUS;)
CONCORD_FUNCTION(f32, step, (f32 x), return helper(x) * 2;)
CONCORD_FUNCTION(f32, combine, (f32 x, f32 y), return fmax(x, fmin(y, PLUS));)
CONCORD_FUNCTION(void, both, (f32 x, f32* y, f32* z), *y = helper(x); *z = x;)
CONCORD_KERNEL(advance, (u64 i, f32* x), x[i] = helper(x[i]);)
CONCORD_STRUCT(Ahead, float ahead[PLUS]; float value;)
CONCORD_KERNEL(with_struct, (u64 i, f32* x, Ahead a), x[i] = a.value + a.ahead[0];)
CONCORD_FUNCTION(f32, unused, (f32 x), return x;)
CONCORD_KERNEL(unused_kernel, (u64 i, f32* x), x[i] = 0;)

// Whether every call computes what this file says.
extern "C" bool PART(const char* selector, std::string& problem) try {
    const auto device = open_device(selector);
    const auto stream = device->create_stream();
    const Array<f32> x(*stream, {1, 1000}), y(*stream, 2), z(*stream, 2);
    const auto check = [&](const char* what, f32 expected) {
        const f32 got = y.to_host(*stream)[0];
        if (got != expected && problem.empty())
            problem =
                std::string(what) + ": expected " + std::to_string(expected) + ", got " + std::to_string(got);
    };
    const auto one = [&] { map(*stream, x, y, MapFunction::copy); };
    map(*stream, x, y, step);
    check("step", (1 + PLUS) * 2);
    one();
    advance(*stream, {2}, y);
    check("advance", 1 + PLUS);
    map(*stream, inputs(x), outputs(y, z), both);
    check("both", 1 + PLUS);
    reduce(*stream, x, y.span().part(0, 1), combine, -INFINITY);
    check("combine", PLUS);
    map(*stream, x, y, in_header);
    check("in_header", (1 + PLUS) * 4);
    one();
    kernel_in_header(*stream, {2}, y);
    check("kernel_in_header", (1 + PLUS) * 8);
    Ahead ahead{};
    ahead.value = PLUS;
    with_struct(*stream, {2}, y, ahead);
    check("with_struct", PLUS);
    return problem.empty();
} catch (const std::exception& error) {
    problem = error.what();
    return false;
}
