// Baselines of CLBlast. Its vector operations take floats; it has no out-of-place vector sum, and its max and
// min are indices that stay on the device.

#include "opencl.hpp"

#include <clblast.h>

#include <limits>

namespace concord::baselines {
namespace {

void check(const char* call, clblast::StatusCode status) {
    baselines::check(call, static_cast<int>(status));
}

template <class F>
Call visit_float(Type type, F&& f) {
    return type == Type::f32 ? f(Tag<f32>{}) : f(Tag<f64>{});
}

Call copy(Stream& stream, const Work& work, Views in, Views out) {
    return visit_float(work.type(), [&](auto tag) -> Call {
        using T = typename decltype(tag)::type;
        return [queue = queue_of(stream), from = in[0], to = out[0], n = work.n]() mutable {
            check("clblast::Copy", clblast::Copy<T>(n, memory_of(from), offset_of(from), 1, memory_of(to),
                                                    offset_of(to), 1, &queue));
        };
    });
}

Call sum(Stream& stream, const Work& work, Views in, Views out) {
    return visit_float(work.type(), [&](auto tag) -> Call {
        using T = typename decltype(tag)::type;
        return [queue = queue_of(stream), from = in[0], to = out[0], n = work.n]() mutable {
            check("clblast::Sum", clblast::Sum<T>(n, memory_of(to), offset_of(to), memory_of(from),
                                                  offset_of(from), 1, &queue));
        };
    });
}

void clblast_rows(std::vector<Baseline>& list) {
    constexpr u64 most = std::numeric_limits<int>::max();  // its kernels count in int
    append(list, {"clblast", "CLBlast" CONCORD_CLBLAST_VERSION, "opencl"},
           {{"map", {"copy"}, float_types, copy, false, most},
            {"reduce", {"sum"}, float_types, sum, false, most}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::clblast_rows)
