// Baselines of OpenBLAS, with as many threads as the tbb device, or fewer (OPENBLAS_NUM_THREADS). It supports floats
// only, and lacks an out-of-place vector sum.

#include "rows.hpp"

#include <cblas.h>

#include <cstddef>
#include <limits>
#include <type_traits>

// The library of the wheel scipy-openblas32 has a prefix in its names, so that a process can also load another
// OpenBLAS.
#if defined(CONCORD_OPENBLAS_PREFIXED)
#define BLAS(NAME) scipy_##NAME
#define CONCORD_OPENBLAS_ROWS "openblas_wheel"
#else
#define BLAS(NAME) NAME
#define CONCORD_OPENBLAS_ROWS "openblas"
#endif

namespace concord::baselines {
namespace {

using lab::native_pointer;

Call copy(Stream&, const Work& work, Views in, Views out) {
    const auto n = static_cast<blasint>(work.n);
    if (work.type() == Type::f32)
        return [n, from = native_pointer<f32>(in[0]), to = native_pointer<f32>(out[0])] {
            BLAS(cblas_scopy)(n, from, 1, to, 1);
        };
    return [n, from = native_pointer<f64>(in[0]), to = native_pointer<f64>(out[0])] {
        BLAS(cblas_dcopy)(n, from, 1, to, 1);
    };
}

// OpenBLAS returns the index of the minimum or maximum.
Call reduce(Stream&, const Work& work, Views in, Views out) {
    const auto n = static_cast<blasint>(work.n);
    auto with = [&]<class T>(detail::TypeTag<T>, auto sum, auto min, auto max) -> Call {
        const auto* from = native_pointer<const T>(in[0]);
        auto* to = native_pointer<T>(out[0]);
        if (work.title == "sum") return [=] { *to = sum(n, from, 1); };
        const auto find = work.title == "min" ? min : max;
        return [=] { *to = from[find(n, from, 1)]; };
    };
    if (work.type() == Type::f32)
        return with(detail::TypeTag<f32>{}, BLAS(cblas_ssum), BLAS(cblas_ismin), BLAS(cblas_ismax));
    return with(detail::TypeTag<f64>{}, BLAS(cblas_dsum), BLAS(cblas_idmin), BLAS(cblas_idmax));
}

// OpenBLAS 0.3.21 computes wrong f32 sums on CPUs with AVX-512, so this tests one.
detail::Support reduce_support(const Device&, const Work& work) {
    if (work.title != "sum" || work.type() != Type::f32) return {};
    f32 values[64], sum = 0;
    for (int i = 0; i < 64; ++i)
        sum += values[i] = static_cast<f32>(i % 2 != 0 ? -1 - i % 7 : 1 + i % 7);
    if (BLAS(cblas_ssum)(64, values, 1) == sum) return {};
    return detail::Support::no("its cblas_ssum gives wrong sums on this CPU ({})",
                               BLAS(openblas_get_corename)());
}

Call transpose(Stream&, const Work& work, Views in, Views out) {
    const auto rows = static_cast<blasint>(work.shape[0]), columns = static_cast<blasint>(work.shape[1]);
    if (work.type() == Type::f32)
        return [=, from = native_pointer<f32>(in[0]), to = native_pointer<f32>(out[0])] {
            BLAS(cblas_somatcopy)(CblasRowMajor, CblasTrans, rows, columns, 1, from, columns, to, rows);
        };
    return [=, from = native_pointer<f64>(in[0]), to = native_pointer<f64>(out[0])] {
        BLAS(cblas_domatcopy)(CblasRowMajor, CblasTrans, rows, columns, 1, from, columns, to, rows);
    };
}

// A batch is one call per product where the library lacks batched products, as OpenBLAS 0.3.21 does.
Call matmul(Stream&, const Work& work, Views in, Views out) {
    const auto m = static_cast<blasint>(work.shape[0]), n = static_cast<blasint>(work.shape[1]),
               k = static_cast<blasint>(work.shape[2]);
    const bool turn_a = work.shape[3] != 0, turn_b = work.shape[4] != 0;
    const u64 batch = work.shape[5], a_step = work.shape[0] * work.shape[2],
              b_step = work.shape[1] * work.shape[2], c_step = work.shape[0] * work.shape[1];
    auto with = [&]<class T>(detail::TypeTag<T>, auto gemm, [[maybe_unused]] auto batched) -> Call {
        return [=, a = native_pointer<T>(in[0]), b = native_pointer<T>(in[1]),
                c = native_pointer<T>(out[0])] {
            const auto op_a = turn_a ? CblasTrans : CblasNoTrans, op_b = turn_b ? CblasTrans : CblasNoTrans;
            const blasint a_pitch = turn_a ? m : k, b_pitch = turn_b ? k : n;
            if constexpr (!std::is_null_pointer_v<decltype(batched)>) {
                if (batch > 1)
                    return batched(CblasRowMajor, op_a, op_b, m, n, k, 1, a, a_pitch,
                                   static_cast<blasint>(a_step), b, b_pitch, static_cast<blasint>(b_step), 0,
                                   c, n, static_cast<blasint>(c_step), static_cast<blasint>(batch));
            }
            for (u64 g = 0; g < batch; ++g)
                gemm(CblasRowMajor, op_a, op_b, m, n, k, 1, a + g * a_step, a_pitch, b + g * b_step, b_pitch,
                     0, c + g * c_step, n);
        };
    };
#if defined(CONCORD_OPENBLAS_PREFIXED)
    constexpr auto singles = BLAS(cblas_sgemm_batch_strided);
    constexpr auto doubles = BLAS(cblas_dgemm_batch_strided);
#else
    constexpr std::nullptr_t singles = nullptr, doubles = nullptr;
#endif
    return work.type() == Type::f32 ? with(detail::TypeTag<f32>{}, BLAS(cblas_sgemm), singles)
                                    : with(detail::TypeTag<f64>{}, BLAS(cblas_dgemm), doubles);
}

const char* reduce_name(const Work& work) {
    return work.title == "sum" ? "cblas_?sum" : work.title == "min" ? "cblas_i?min" : "cblas_i?max";
}
const char* matmul_name(const Work& work) {
#if defined(CONCORD_OPENBLAS_PREFIXED)
    if (work.shape[5] > 1) return "cblas_?gemm_batch_strided";
#else
    if (work.shape[5] > 1) return "cblas_?gemm per product";
#endif
    return "cblas_?gemm";
}

void openblas(std::vector<Baseline>& list) {
    BLAS(openblas_set_num_threads)
    (std::min(BLAS(openblas_get_num_threads)(), static_cast<int>(host_threads())));
    const std::string config = BLAS(openblas_get_config)();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
    const std::string version = config.substr(0, config.find(' ', config.find(' ') + 1));
    constexpr u64 most = std::numeric_limits<blasint>::max();
    append(list, {CONCORD_OPENBLAS_ROWS, version, "tbb", most},
           {{"map", {"copy"}, float_types, copy, "cblas_?copy"},
            {"reduce", {"sum", "min", "max"}, float_types, reduce, reduce_name, reduce_support},
            {"transpose", transpose_titles, float_types, transpose, "cblas_?omatcopy"},
            {"matmul", matmul_titles, float_types, matmul, matmul_name, matmul_support}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::openblas)
