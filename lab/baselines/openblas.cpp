// Baselines of OpenBLAS, with as many threads as the tbb device, or fewer (OPENBLAS_NUM_THREADS). It supports floats
// only, and lacks an out-of-place vector sum.

#include "rows.hpp"

#include <cblas.h>

#include <limits>

namespace concord::baselines {
namespace {

using lab::native_pointer;

Call copy(Stream&, const Work& work, Views in, Views out) {
    const auto n = static_cast<blasint>(work.n);
    if (work.type() == Type::f32)
        return [n, from = native_pointer<f32>(in[0]), to = native_pointer<f32>(out[0])] {
            cblas_scopy(n, from, 1, to, 1);
        };
    return [n, from = native_pointer<f64>(in[0]), to = native_pointer<f64>(out[0])] {
        cblas_dcopy(n, from, 1, to, 1);
    };
}

// OpenBLAS returns the index of the minimum or maximum.
Call reduce(Stream&, const Work& work, Views in, Views out) {
    const auto n = static_cast<blasint>(work.n);
    auto with = [&](auto tag, auto sum, auto min, auto max) -> Call {
        using T = typename decltype(tag)::type;
        const auto* from = native_pointer<const T>(in[0]);
        auto* to = native_pointer<T>(out[0]);
        if (work.title == "sum") return [=] { *to = sum(n, from, 1); };
        const auto find = work.title == "min" ? min : max;
        return [=] { *to = from[find(n, from, 1)]; };
    };
    if (work.type() == Type::f32) return with(detail::TypeTag<f32>{}, cblas_ssum, cblas_ismin, cblas_ismax);
    return with(detail::TypeTag<f64>{}, cblas_dsum, cblas_idmin, cblas_idmax);
}

// OpenBLAS 0.3.21 computes wrong f32 sums on CPUs with AVX-512, so this tests one.
detail::Support reduce_support(const Device&, const Work& work) {
    if (work.title != "sum" || work.type() != Type::f32) return {};
    f32 values[64], sum = 0;
    for (int i = 0; i < 64; ++i)
        sum += values[i] = static_cast<f32>(i % 2 != 0 ? -1 - i % 7 : 1 + i % 7);
    if (cblas_ssum(64, values, 1) == sum) return {};
    return detail::Support::no("its cblas_ssum gives wrong sums on this CPU (" +
                               std::string(openblas_get_corename()) + ")");
}

Call transpose(Stream&, const Work& work, Views in, Views out) {
    const auto rows = static_cast<blasint>(work.shape[0]), columns = static_cast<blasint>(work.shape[1]);
    if (work.type() == Type::f32)
        return [=, from = native_pointer<f32>(in[0]), to = native_pointer<f32>(out[0])] {
            cblas_somatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, from, columns, to, rows);
        };
    return [=, from = native_pointer<f64>(in[0]), to = native_pointer<f64>(out[0])] {
        cblas_domatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, from, columns, to, rows);
    };
}

// A batch is one call per product, because OpenBLAS 0.3.21 lacks a batched product.
Call matmul(Stream&, const Work& work, Views in, Views out) {
    const auto m = static_cast<blasint>(work.shape[0]), n = static_cast<blasint>(work.shape[1]),
               k = static_cast<blasint>(work.shape[2]);
    const bool turn_a = work.shape[3] != 0, turn_b = work.shape[4] != 0;
    const u64 batch = work.shape[5], a_step = work.shape[0] * work.shape[2],
              b_step = work.shape[1] * work.shape[2], c_step = work.shape[0] * work.shape[1];
    auto with = [&](auto tag, auto gemm) -> Call {
        using T = typename decltype(tag)::type;
        return
            [=, a = native_pointer<T>(in[0]), b = native_pointer<T>(in[1]), c = native_pointer<T>(out[0])] {
                for (u64 g = 0; g < batch; ++g)
                    gemm(CblasRowMajor, turn_a ? CblasTrans : CblasNoTrans,
                         turn_b ? CblasTrans : CblasNoTrans, m, n, k, 1, a + g * a_step, turn_a ? m : k,
                         b + g * b_step, turn_b ? k : n, 0, c + g * c_step, n);
            };
    };
    return work.type() == Type::f32 ? with(detail::TypeTag<f32>{}, cblas_sgemm)
                                    : with(detail::TypeTag<f64>{}, cblas_dgemm);
}

void openblas(std::vector<Baseline>& list) {
    openblas_set_num_threads(std::min(openblas_get_num_threads(), static_cast<int>(host_threads())));
    const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
    const std::string version = config.substr(0, config.find(' ', config.find(' ') + 1));
    constexpr u64 most = std::numeric_limits<blasint>::max();
    append(list, {"openblas", version, "tbb"},
           {{.algorithm = "map",
             .titles = {"copy"},
             .types = float_types,
             .prepare = copy,
             .blocking = true,
             .most = most},
            {.algorithm = "reduce",
             .titles = {"sum", "min", "max"},
             .types = float_types,
             .prepare = reduce,
             .blocking = true,
             .most = most,
             .also = reduce_support},
            {.algorithm = "transpose",
             .titles = transpose_titles,
             .types = float_types,
             .prepare = transpose,
             .blocking = true,
             .most = most},
            {.algorithm = "matmul",
             .titles = matmul_titles,
             .types = float_types,
             .prepare = matmul,
             .blocking = true,
             .most = most,
             .also = matmul_support}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::openblas)
