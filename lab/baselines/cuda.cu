// Baselines from the CUDA toolkit: CUB, Thrust and cudaMemcpyAsync.

#include "cuda.hpp"
#include "functors.hpp"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/device/device_transform.cuh>
#include <cub/version.cuh>

#include <thrust/copy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/transform.h>
#include <thrust/version.h>

#if CUB_VERSION >= 300500
#include <cuda/execution>
#include <cuda/stream>
#endif

#include <cstdint>
#include <limits>
#include <new>

namespace concord::baselines {
namespace {

using lab::native_pointer;

// Calls f with n as a 32-bit number if it fits. CUB instantiates faster kernels for it.
template <class F>
auto with_count(u64 n, F f) {
    return n <= static_cast<u64>(std::numeric_limits<std::int32_t>::max()) ? f(static_cast<std::int32_t>(n))
                                                                          : f(static_cast<std::int64_t>(n));
}

// The library's own object for the operator, by which CUB recognises it and selects its tuned kernels.
inline auto known(Min) { return ::cuda::minimum<>{}; }
inline auto known(Max) { return ::cuda::maximum<>{}; }
inline auto known(Product op) { return op; }

// Lets the stream-ordered pool of the current device keep freed memory. By default it returns all of it to the driver
// at the next synchronisation.
void keep_pool_memory() {
    int device = 0;
    check("cudaGetDevice", cudaGetDevice(&device));
    cudaMemPool_t pool = nullptr;
    check("cudaDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool(&pool, device));
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    check("cudaMemPoolSetAttribute", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most));
}

Call copy_bytes(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return [queue = queue_of(stream), from = native_pointer<char>(in[0]), to = native_pointer<char>(out[0]),
            bytes = work.inputs[0].bytes()] {
        check("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue));
    };
}

Call cub_map(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_map(work, [&](auto tag, auto f) -> Call {
        using T = typename decltype(tag)::type;
        return [f, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                to = native_pointer<T>(out[0]), n = work.n] {
            check("cub::DeviceTransform", cub::DeviceTransform::Transform(from, to, n, f, queue));
        };
    });
}

Call cub_add(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_wrapping(work.type(), [&](auto tag) -> Call {
        using T = typename decltype(tag)::type;
        return [queue = queue_of(stream), a = native_pointer<const T>(in[0]),
                b = native_pointer<const T>(in[1]), to = native_pointer<T>(out[0]), n = work.n] {
            check("cub::DeviceTransform",
                  cub::DeviceTransform::Transform(::cuda::std::make_tuple(a, b), to, n, Sum{}, queue));
        };
    });
}

Call cub_reduce(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_reduce(work, [&](auto tag, auto op) -> Call {
        using T = typename decltype(tag)::type;
        using Op = decltype(op);
        return with_count(work.n, [&](auto n) {
            return with_scratch(stream, [=, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                                         to = native_pointer<T>(out[0])](void* scratch, std::size_t& bytes) {
                using Reduce = cub::DeviceReduce;
                if constexpr (std::is_same_v<Op, Sum>) {
                    check("cub::DeviceReduce::Sum", Reduce::Sum(scratch, bytes, from, to, n, queue));
                } else if constexpr (std::is_same_v<Op, Min>) {
                    check("cub::DeviceReduce::Min", Reduce::Min(scratch, bytes, from, to, n, queue));
                } else if constexpr (std::is_same_v<Op, Max>) {
                    check("cub::DeviceReduce::Max", Reduce::Max(scratch, bytes, from, to, n, queue));
                } else {
                    check("cub::DeviceReduce::Reduce",
                          Reduce::Reduce(scratch, bytes, from, to, n, op, Op::template identity<T>, queue));
                }
            });
        });
    });
}

Call cub_scan(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_scan(work, [&](auto tag, auto op, bool exclusive) -> Call {
        using T = typename decltype(tag)::type;
        using Op = decltype(op);
        return with_count(work.n, [&](auto n) {
            return with_scratch(stream, [=, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                                         to = native_pointer<T>(out[0])](void* scratch, std::size_t& bytes) {
                using Scan = cub::DeviceScan;
                if constexpr (std::is_same_v<Op, Sum>) {
                    if (exclusive)
                        check("cub::DeviceScan::ExclusiveSum",
                              Scan::ExclusiveSum(scratch, bytes, from, to, n, queue));
                    else
                        check("cub::DeviceScan::InclusiveSum",
                              Scan::InclusiveSum(scratch, bytes, from, to, n, queue));
                } else {
                    const T identity = Op::template identity<T>;
                    if (exclusive)
                        check("cub::DeviceScan::ExclusiveScan",
                              Scan::ExclusiveScan(scratch, bytes, from, to, known(op), identity, n, queue));
                    else
                        check("cub::DeviceScan::InclusiveScan",
                              Scan::InclusiveScan(scratch, bytes, from, to, known(op), n, queue));
                }
            });
        });
    });
}

#if CUB_VERSION >= 300500
// Sums whose bits do not change from run to run, or from GPU to GPU. CUB takes their scratch memory from CUDA's
// stream-ordered pool.
template <class Determinism>
auto reproducible(Stream& stream, Determinism determinism) {
    return ::cuda::std::execution::env{::cuda::execution::require(determinism),
                                       ::cuda::stream_ref{queue_of(stream)}};
}

// `run` takes the arrays, the count and the environment.
template <class Determinism, class Run>
Call reproducible_call(Stream& stream, const Work& work, Views in, Views out, Run run) {
    use_device_of(in[0]);
    keep_pool_memory();
    const auto of_type = [&]<class T>(detail::TypeTag<T>) {
        return with_count(work.n, [&](auto n) -> Call {
            return [=, env = reproducible(stream, Determinism{}), from = native_pointer<const T>(in[0]),
                    to = native_pointer<T>(out[0])] { run(from, to, n, env); };
        });
    };
    return detail::visit_float(work.type(), of_type);
}

template <class Determinism>
Call cub_sum(Stream& stream, const Work& work, Views in, Views out) {
    return reproducible_call<Determinism>(stream, work, in, out, [](auto from, auto to, auto n, auto& env) {
        check("cub::DeviceReduce::Sum", cub::DeviceReduce::Sum(from, to, n, env));
    });
}

Call cub_scan_run_to_run(Stream& stream, const Work& work, Views in, Views out) {
    return reproducible_call<::cuda::execution::determinism::run_to_run_t>(
        stream, work, in, out, [](auto from, auto to, auto n, auto& env) {
            check("cub::DeviceScan::ExclusiveSum", cub::DeviceScan::ExclusiveSum(from, to, n, env));
        });
}
#endif

// Even levels: from -1 to 1 for f32, the whole range for u32.
Call cub_histogram(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    auto prepare = [&]<class T, class Level>(detail::TypeTag<T>, Level lo, Level hi) {
        return with_count(work.n, [&](auto n) {
            return with_scratch(
                stream, [=, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                         to = native_pointer<unsigned>(out[0]),
                         bins = static_cast<int>(work.outputs[0].count)](void* scratch, std::size_t& bytes) {
                    check("cub::DeviceHistogram::HistogramEven",
                          cub::DeviceHistogram::HistogramEven(scratch, bytes, from, to, bins + 1, lo, hi, n,
                                                              queue));
                });
        });
    };
    if (work.type() == Type::f32) return prepare(detail::TypeTag<f32>{}, -1.0f, 1.0f);
    return prepare(detail::TypeTag<u32>{}, std::int64_t{0}, std::int64_t{1} << 32);
}

Call cub_compact(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_compact(work, [&](auto tag, auto keep) -> Call {
        using T = typename decltype(tag)::type;
        return with_count(work.n, [&](auto n) {
            return with_scratch(stream, [=, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                                         to = native_pointer<T>(out[0]),
                                         count = native_pointer<u64>(out[1])](void* scratch, std::size_t& bytes) {
                check("cub::DeviceSelect::If",
                      cub::DeviceSelect::If(scratch, bytes, from, to, count, n, keep, queue));
            });
        });
    });
}

// Takes Thrust's temporary memory from CUDA's stream-ordered pool, which keeps it (keep_pool_memory). By default Thrust
// calls cudaMalloc and cudaFree, which synchronise with the device.
struct PoolMemory {
    using value_type = char;
    cudaStream_t queue;

    char* allocate(std::ptrdiff_t bytes) const {
        void* memory = nullptr;
        if (cudaMallocAsync(&memory, static_cast<std::size_t>(bytes), queue) != cudaSuccess)
            throw std::bad_alloc();
        return static_cast<char*>(memory);
    }
    void deallocate(char* memory, std::size_t) const { cudaFreeAsync(memory, queue); }
};

Call thrust_map(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_map(work, [&](auto tag, auto f) -> Call {
        using T = typename decltype(tag)::type;
        return [f, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                to = native_pointer<T>(out[0]), n = work.n] {
            const auto policy = thrust::cuda::par_nosync.on(queue);
            if constexpr (std::is_same_v<decltype(f), Copy>) {
                thrust::copy(policy, from, from + n, to);
            } else {
                thrust::transform(policy, from, from + n, to, f);
            }
        };
    });
}

Call thrust_add(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_wrapping(work.type(), [&](auto tag) -> Call {
        using T = typename decltype(tag)::type;
        return [queue = queue_of(stream), a = native_pointer<const T>(in[0]),
                b = native_pointer<const T>(in[1]), to = native_pointer<T>(out[0]), n = work.n] {
            thrust::transform(thrust::cuda::par_nosync.on(queue), a, a + n, b, to, Sum{});
        };
    });
}

// Thrust returns the result to the host. The host copies it to the device.
Call thrust_reduce(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    keep_pool_memory();
    return visit_reduce(work, [&](auto tag, auto op) -> Call {
        using T = typename decltype(tag)::type;
        return [op, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                to = native_pointer<T>(out[0]), n = work.n, memory = PoolMemory{queue_of(stream)}]() mutable {
            const T result = thrust::reduce(thrust::cuda::par_nosync(memory).on(queue), from, from + n,
                                            decltype(op)::template identity<T>, op);
            check("cudaMemcpyAsync",
                  cudaMemcpyAsync(to, &result, sizeof result, cudaMemcpyHostToDevice, queue));
            check("cudaStreamSynchronize", cudaStreamSynchronize(queue));
        };
    });
}

Call thrust_scan(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    keep_pool_memory();
    return visit_scan(work, [&](auto tag, auto op, bool exclusive) -> Call {
        using T = typename decltype(tag)::type;
        return [op, exclusive, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                to = native_pointer<T>(out[0]), n = work.n, memory = PoolMemory{queue_of(stream)}]() mutable {
            const auto policy = thrust::cuda::par_nosync(memory).on(queue);
            if (exclusive) {
                thrust::exclusive_scan(policy, from, from + n, to, decltype(op)::template identity<T>, op);
            } else {
                thrust::inclusive_scan(policy, from, from + n, to, op);
            }
        };
    });
}

// Thrust returns the end of the output to the host. The host copies the count to the device.
Call thrust_compact(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    keep_pool_memory();
    return visit_compact(work, [&](auto tag, auto keep) -> Call {
        using T = typename decltype(tag)::type;
        return [keep, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                to = native_pointer<T>(out[0]), count = native_pointer<u64>(out[1]), n = work.n,
                memory = PoolMemory{queue_of(stream)}]() mutable {
            const T* end = thrust::copy_if(thrust::cuda::par_nosync(memory).on(queue), from, from + n, to, keep);
            const u64 kept = static_cast<u64>(end - to);
            check("cudaMemcpyAsync", cudaMemcpyAsync(count, &kept, sizeof kept, cudaMemcpyHostToDevice, queue));
            check("cudaStreamSynchronize", cudaStreamSynchronize(queue));
        };
    });
}

std::string version(const std::string& name, int major, int minor, int subminor) {
    return name + " " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(subminor);
}

// A module of another release of CCCL has this in the names of its rows.
#if !defined(CONCORD_CCCL_ROWS)
#define CONCORD_CCCL_ROWS ""
#endif

constexpr std::string_view rounded_bins =
    "scales float samples with rounding, so that a sample next to an edge may fall into the neighbouring bin";

const char* cub_reduce_name(const Work& work) {
    return work.title == "sum"   ? "cub::DeviceReduce::Sum"
           : work.title == "min" ? "cub::DeviceReduce::Min"
           : work.title == "max" ? "cub::DeviceReduce::Max"
                                 : "cub::DeviceReduce::Reduce";
}
const char* cub_scan_name(const Work& work) {
    const bool exclusive = work.title.rfind("exclusive", 0) == 0;
    if (work.title.ends_with("sum"))
        return exclusive ? "cub::DeviceScan::ExclusiveSum" : "cub::DeviceScan::InclusiveSum";
    return exclusive ? "cub::DeviceScan::ExclusiveScan" : "cub::DeviceScan::InclusiveScan";
}
const char* thrust_map_name(const Work& work) {
    return work.title == "copy" ? "thrust::copy" : "thrust::transform";
}
const char* thrust_scan_name(const Work& work) {
    return work.title.rfind("exclusive", 0) == 0 ? "thrust::exclusive_scan" : "thrust::inclusive_scan";
}

void cuda(std::vector<Baseline>& list) {
    const std::string rows = CONCORD_CCCL_ROWS;
    const std::string cub = version("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    if (rows.empty())
        append(list,
               {"memcpy",
                "CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
                    std::to_string(CUDART_VERSION / 10 % 100),
                "cuda"},
               {{.algorithm = "map",
                 .titles = {"copy"},
                 .types = any_type,
                 .prepare = copy_bytes,
                 .call = "cudaMemcpyAsync"}});
    append(list, {"cub" + rows, cub, "cuda"},
           {{.algorithm = "map",
             .titles = map_titles,
             .types = compiled_types,
             .prepare = cub_map,
             .call = "cub::DeviceTransform::Transform"},
            {.algorithm = "add",
             .titles = {"sum"},
             .types = compiled_types,
             .prepare = cub_add,
             .call = "cub::DeviceTransform::Transform"},
            {.algorithm = "reduce",
             .titles = reduce_titles,
             .types = compiled_types,
             .prepare = cub_reduce,
             .call = cub_reduce_name},
            {.algorithm = "scan", .titles = scan_titles, .types = compiled_types, .prepare = cub_scan, .call = cub_scan_name},
            {.algorithm = "histogram",
             .titles = histogram_titles,
             .types = {Type::f32},
             .prepare = cub_histogram,
             .call = "cub::DeviceHistogram::HistogramEven",
             .contract = rounded_bins},
            {.algorithm = "histogram",
             .titles = histogram_titles,
             .types = {Type::u32},
             .prepare = cub_histogram,
             .call = "cub::DeviceHistogram::HistogramEven"},
            {.algorithm = "compact",
             .titles = compact_titles,
             .types = compiled_types,
             .prepare = cub_compact,
             .call = "cub::DeviceSelect::If"}});
#if CUB_VERSION >= 300500
    using namespace ::cuda::execution::determinism;
    append(list, {"cub_run_to_run", cub + ", run_to_run", "cuda"},
           {{.algorithm = "reduce",
             .titles = {"sum"},
             .types = float_types,
             .prepare = cub_sum<run_to_run_t>,
             .call = "cub::DeviceReduce::Sum"},
            {.algorithm = "scan",
             .titles = {"exclusive_sum"},
             .types = float_types,
             .prepare = cub_scan_run_to_run,
             .call = "cub::DeviceScan::ExclusiveSum"}});
    append(list, {"cub_gpu_to_gpu", cub + ", gpu_to_gpu", "cuda"},
           {{.algorithm = "reduce",
             .titles = {"sum"},
             .types = float_types,
             .prepare = cub_sum<gpu_to_gpu_t>,
             .call = "cub::DeviceReduce::Sum"}});
#endif
    append(list,
           {"thrust" + rows, version("Thrust", THRUST_MAJOR_VERSION, THRUST_MINOR_VERSION, THRUST_SUBMINOR_VERSION),
            "cuda"},
           {{.algorithm = "map",
             .titles = map_titles,
             .types = compiled_types,
             .prepare = thrust_map,
             .call = thrust_map_name},
            {.algorithm = "add",
             .titles = {"sum"},
             .types = compiled_types,
             .prepare = thrust_add,
             .call = "thrust::transform"},
            {.algorithm = "reduce",
             .titles = reduce_titles,
             .types = compiled_types,
             .prepare = thrust_reduce,
             .call = "thrust::reduce",
             .blocking = true},
            {.algorithm = "scan",
             .titles = scan_titles,
             .types = compiled_types,
             .prepare = thrust_scan,
             .call = thrust_scan_name},
            {.algorithm = "compact",
             .titles = compact_titles,
             .types = compiled_types,
             .prepare = thrust_compact,
             .call = "thrust::copy_if",
             .blocking = true}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::cuda)
