// Baselines of cuBLAS, which supports floats only. It has no sum of two vectors into a third, because axpy works in
// place, and no sum of elements, because asum adds magnitudes.

#include "cuda.hpp"

#include <cublas_v2.h>

#include <limits>
#include <map>
#include <mutex>

namespace concord::baselines {
namespace {

using lab::native_pointer;

void check(const char* call, cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw Error(ErrorCode::device_failed, call, cublasGetStatusString(status),
                    cublasGetStatusName(status));
}

// One handle per device, kept until the process ends. A handle holds megabytes of workspace, and work is prepared
// once for every copy of its operands.
cublasHandle_t handle_for(const View& view) {
    use_device_of(view);
    int device = 0;
    baselines::check("cudaGetDevice", cudaGetDevice(&device));
    static std::mutex mutex;
    static std::map<int, cublasHandle_t> handles;
    const std::lock_guard lock(mutex);
    cublasHandle_t& handle = handles[device];
    if (handle == nullptr) check("cublasCreate", cublasCreate(&handle));
    return handle;
}

Call copy(Stream& stream, const Work& work, Views in, Views out) {
    const cublasHandle_t handle = handle_for(in[0]);
    const cudaStream_t queue = queue_of(stream);
    const auto n = static_cast<i64>(work.n);
    if (work.type() == Type::f32)
        return [=, from = native_pointer<f32>(in[0]), to = native_pointer<f32>(out[0])] {
            check("cublasSetStream", cublasSetStream(handle, queue));
            check("cublasScopy", cublasScopy_64(handle, n, from, 1, to, 1));
        };
    return [=, from = native_pointer<f64>(in[0]), to = native_pointer<f64>(out[0])] {
        check("cublasSetStream", cublasSetStream(handle, queue));
        check("cublasDcopy", cublasDcopy_64(handle, n, from, 1, to, 1));
    };
}

// cuBLAS stores columns, so it sees the transposes of row-major matrices.
Call transpose(Stream& stream, const Work& work, Views in, Views out) {
    const cublasHandle_t handle = handle_for(in[0]);
    const cudaStream_t queue = queue_of(stream);
    const auto rows = static_cast<i64>(work.shape[0]), columns = static_cast<i64>(work.shape[1]);
    auto with = [&]<class T>(detail::TypeTag<T>, auto geam) -> Call {
        return [=, from = native_pointer<T>(in[0]), to = native_pointer<T>(out[0])] {
            const T one = 1, zero = 0;
            check("cublasSetStream", cublasSetStream(handle, queue));
            check("cublas geam", geam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, from, columns,
                                      &zero, to, rows, to, rows));
        };
    };
    return work.type() == Type::f32 ? with(detail::TypeTag<f32>{}, cublasSgeam_64)
                                    : with(detail::TypeTag<f64>{}, cublasDgeam_64);
}

// The default math mode keeps the precision of the types: TF32 and emulation with narrower types are other modes. It
// may use the tensor cores for f64, which pedantic mode excludes. A single product uses the call that is tuned for
// it. cuBLAS stores columns, so it computes the transpose of C as the product of the transposes of B and A.
Call matmul(Stream& stream, const Work& work, Views in, Views out) {
    const cublasHandle_t handle = handle_for(in[0]);
    const cudaStream_t queue = queue_of(stream);
    const auto m = static_cast<i64>(work.shape[0]), n = static_cast<i64>(work.shape[1]),
               k = static_cast<i64>(work.shape[2]), batch = static_cast<i64>(work.shape[5]);
    const bool turn_a = work.shape[3] != 0, turn_b = work.shape[4] != 0;
    const cublasOperation_t op_a = turn_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                            op_b = turn_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const i64 a_pitch = turn_a ? m : k, b_pitch = turn_b ? k : n;
    auto with = [&]<class T>(detail::TypeTag<T>, auto gemm, auto batched) -> Call {
        return
            [=, a = native_pointer<T>(in[0]), b = native_pointer<T>(in[1]), c = native_pointer<T>(out[0])] {
                const T one = 1, zero = 0;
                check("cublasSetStream", cublasSetStream(handle, queue));
                if (batch == 1)
                    check("cublas gemm",
                          gemm(handle, op_b, op_a, n, m, k, &one, b, b_pitch, a, a_pitch, &zero, c, n));
                else
                    check("cublas gemmStridedBatched",
                          batched(handle, op_b, op_a, n, m, k, &one, b, b_pitch, k * n, a, a_pitch, m * k,
                                  &zero, c, n, m * n, batch));
            };
    };
    return work.type() == Type::f32
               ? with(detail::TypeTag<f32>{}, cublasSgemm_64, cublasSgemmStridedBatched_64)
               : with(detail::TypeTag<f64>{}, cublasDgemm_64, cublasDgemmStridedBatched_64);
}

const char* matmul_name(const Work& work) {
    return work.shape[5] > 1 ? "cublas?gemmStridedBatched_64" : "cublas?gemm_64";
}

void cublas(std::vector<Baseline>& list) {
    std::string version = "cuBLAS ";
    for (const auto part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
        int number = 0;
        cublasGetProperty(part, &number);
        version += (part == MAJOR_VERSION ? "" : ".") + std::to_string(number);
    }
    append(list, {"cublas", version, "cuda"},
           {{"map", {"copy"}, float_types, copy, "cublas?copy_64"},
            {"transpose", transpose_titles, float_types, transpose, "cublas?geam_64"},
            {"matmul", matmul_titles, float_types, matmul, matmul_name, matmul_support}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::cublas)
