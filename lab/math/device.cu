// Digests of the f32 functions of concord/detail/math over all 2^32 inputs on a GPU, which must equal those of
// concord-math-check, and the time of y[i] = f(x[i]) next to that of a copy and of libdevice's function.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 -fmad=false -I core/include lab/math/device.cu -o math-device && ./math-device

#include <cstdio>

typedef int i32;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define CONCORD_MATH_FOR_NVCC
// clang-format off: in this order.
#include <concord/detail/math/prelude.h>
#include <concord/detail/math/tables.h>
#include <concord/detail/math/f32.h>
#include <concord/detail/math/f64.h>
// clang-format on

__device__ u64 mix(u64 x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    return x ^ x >> 32;
}

#define DEVICE_FUNCTIONS(X)                                                                                  \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(sinpi) X(cospi) X(asin)  \
    X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(erf) X(erfc) X(rsqrt) X(cbrt) X(lgamma) X(tgamma)

#define DEVICE_KERNELS(name)                                                                                 \
    __global__ void digest_##name(u64* digest) {                                                             \
        u64 sum = 0;                                                                                         \
        for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < u64(1) << 32; i += gridDim.x * blockDim.x) \
            sum += mix(i << 32 | __float_as_uint(concord_##name##_f32(__uint_as_float(u32(i)))));            \
        atomicAdd(digest, sum);                                                                              \
    }                                                                                                        \
    __global__ void map32_##name(const f32* x, f32* y) {                                                     \
        const u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x;                                            \
        y[i] = concord_##name##_f32(x[i]);                                                                   \
    }                                                                                                        \
    __global__ void map64_##name(const f64* x, f64* y) {                                                     \
        const u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x;                                            \
        y[i] = concord_##name##_f64(x[i]);                                                                   \
    }                                                                                                        \
    __global__ void own64_##name(const f64* x, f64* y) {                                                     \
        const u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x;                                            \
        y[i] = name(x[i]);                                                                                   \
    }
DEVICE_FUNCTIONS(DEVICE_KERNELS)

template <class T>
__global__ void copy(const T* x, T* y) {
    const u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x;
    y[i] = x[i];
}

template <class T>
__global__ void fill(T* x) {
    const u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x;
    x[i] = T(0.01) + T(mix(i) >> 44) * T(0x1p-19);  // 0.01 ... 2.01
}

const u64 elements = u64(1) << 28;

// Milliseconds of the fastest of ten launches.
template <class T>
f32 milliseconds(void (*kernel)(const T*, T*), const T* x, T* y) {
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    f32 least = 1e9f;
    for (i32 i = 0; i < 10; ++i) {
        cudaEventRecord(start);
        kernel<<<elements / 256, 256>>>(x, y);
        cudaEventRecord(stop);
        cudaEventSynchronize(stop);
        f32 time = 0;
        cudaEventElapsedTime(&time, start, stop);
        least = time < least ? time : least;
    }
    return least;
}

int main() {
    f64 *x = nullptr, *y = nullptr;
    u64* digest = nullptr;
    cudaMalloc(&x, elements * sizeof(f64));
    cudaMalloc(&y, elements * sizeof(f64));
    cudaMalloc(&digest, sizeof(u64));
    f32 *x32 = reinterpret_cast<f32*>(x), *y32 = reinterpret_cast<f32*>(y);
    fill<<<elements / 256, 256>>>(x32);
    const f32 copy32 = milliseconds<f32>(copy<f32>, x32, y32);
    fill<<<elements / 256, 256>>>(x);
    const f32 copy64 = milliseconds<f64>(copy<f64>, x, y);
    std::printf("copy of 2^28: f32 %.3f ms, f64 %.3f ms\n", copy32, copy64);
#define DEVICE_REPORT(name)                                                                                  \
    {                                                                                                        \
        u64 sum = 0;                                                                                         \
        cudaMemset(digest, 0, sizeof sum);                                                                   \
        digest_##name<<<4096, 256>>>(digest);                                                                \
        cudaMemcpy(&sum, digest, sizeof sum, cudaMemcpyDeviceToHost);                                        \
        fill<<<elements / 256, 256>>>(x32);                                                                  \
        const f32 time32 = milliseconds<f32>(map32_##name, x32, y32);                                        \
        fill<<<elements / 256, 256>>>(x);                                                                    \
        const f32 time64 = milliseconds<f64>(map64_##name, x, y);                                            \
        const f32 own = milliseconds<f64>(own64_##name, x, y);                                               \
        std::printf("%-7s digest %016llx  f32 %.3f ms (%.2f of copy's rate)  f64 %.3f ms (%.2f of libdevice's)\n", \
                    #name, sum, time32, copy32 / time32, time64, own / time64);                              \
    }
    DEVICE_FUNCTIONS(DEVICE_REPORT)
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
