// Baselines of CLBlast, which supports floats only. Not used: out-of-place vector sums, which it lacks, and max and
// min, which return indices in device memory.

#include "opencl.hpp"

#include <clblast.h>

#include <limits>

namespace concord::baselines {
namespace {

void check(const char* call, clblast::StatusCode status) {
    baselines::check(call, static_cast<int>(status));
}

Call copy(Stream& stream, const Work& work, Views in, Views out) {
    return detail::visit_float(work.type(), [&](auto tag) -> Call {
        using T = typename decltype(tag)::type;
        return [queue = queue_of(stream), from = in[0], to = out[0], n = work.n]() mutable {
            check("clblast::Copy", clblast::Copy<T>(n, memory_of(from), offset_of(from), 1, memory_of(to),
                                                    offset_of(to), 1, &queue));
        };
    });
}

Call sum(Stream& stream, const Work& work, Views in, Views out) {
    return detail::visit_float(work.type(), [&](auto tag) -> Call {
        using T = typename decltype(tag)::type;
        return [queue = queue_of(stream), from = in[0], to = out[0], n = work.n]() mutable {
            check("clblast::Sum", clblast::Sum<T>(n, memory_of(to), offset_of(to), memory_of(from),
                                                  offset_of(from), 1, &queue));
        };
    });
}

Call matmul(Stream& stream, const Work& work, Views in, Views out) {
    return detail::visit_float(work.type(), [&](auto tag) -> Call {
        using T = typename decltype(tag)::type;
        return [queue = queue_of(stream), a = in[0], b = in[1], c = out[0], s = work.shape]() mutable {
            const auto op_a = s[3] != 0 ? clblast::Transpose::kYes : clblast::Transpose::kNo,
                       op_b = s[4] != 0 ? clblast::Transpose::kYes : clblast::Transpose::kNo;
            check("clblast::GemmStridedBatched",
                  clblast::GemmStridedBatched<T>(clblast::Layout::kRowMajor, op_a, op_b, s[0], s[1], s[2],
                                                 T(1), memory_of(a), offset_of(a), s[3] != 0 ? s[0] : s[2],
                                                 s[0] * s[2], memory_of(b), offset_of(b),
                                                 s[4] != 0 ? s[2] : s[1], s[1] * s[2], T(0), memory_of(c),
                                                 offset_of(c), s[1], s[0] * s[1], s[5], &queue));
        };
    });
}

// A single product, which CLBlast tunes its kernels for.
Call one_matmul(Stream& stream, const Work& work, Views in, Views out) {
    return detail::visit_float(work.type(), [&](auto tag) -> Call {
        using T = typename decltype(tag)::type;
        return [queue = queue_of(stream), a = in[0], b = in[1], c = out[0], s = work.shape]() mutable {
            const auto op_a = s[3] != 0 ? clblast::Transpose::kYes : clblast::Transpose::kNo,
                       op_b = s[4] != 0 ? clblast::Transpose::kYes : clblast::Transpose::kNo;
            check("clblast::Gemm", clblast::Gemm<T>(clblast::Layout::kRowMajor, op_a, op_b, s[0], s[1], s[2],
                                                    T(1), memory_of(a), offset_of(a), s[3] != 0 ? s[0] : s[2],
                                                    memory_of(b), offset_of(b), s[4] != 0 ? s[2] : s[1], T(0),
                                                    memory_of(c), offset_of(c), s[1], &queue));
        };
    });
}

void clblast_rows(std::vector<Baseline>& list) {
    constexpr u64 most = std::numeric_limits<int>::max();  // its kernels count in int
    const std::vector<std::string_view> one_product(matmul_titles.begin(), matmul_titles.end() - 1);
    append(list, {"clblast", "CLBlast" CONCORD_CLBLAST_VERSION, "opencl"},
           {{.algorithm = "map",
             .titles = {"copy"},
             .types = float_types,
             .prepare = copy,
             .call = "clblast::Copy",
             .blocking = false,
             .most = most},
            {.algorithm = "reduce",
             .titles = {"sum"},
             .types = float_types,
             .prepare = sum,
             .call = "clblast::Sum",
             .blocking = false,
             .most = most},
            {.algorithm = "matmul",
             .titles = one_product,
             .types = float_types,
             .prepare = one_matmul,
             .call = "clblast::Gemm",
             .blocking = false,
             .most = most,
             .also = matmul_support},
            {.algorithm = "matmul",
             .titles = {"batch"},
             .types = float_types,
             .prepare = matmul,
             .call = "clblast::GemmStridedBatched",
             .blocking = false,
             .most = most,
             .also = matmul_support}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::clblast_rows)
