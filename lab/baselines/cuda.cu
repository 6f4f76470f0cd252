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

#include <new>

namespace concord::baselines {
namespace {

using lab::native_pointer;

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
        auto reduce = [queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                       to = native_pointer<T>(out[0]), n = work.n](void* scratch, std::size_t& bytes) {
            using Reduce = cub::DeviceReduce;
            if constexpr (std::is_same_v<Op, Sum>) {
                check("cub::DeviceReduce", Reduce::Sum(scratch, bytes, from, to, n, queue));
            } else if constexpr (std::is_same_v<Op, Min>) {
                check("cub::DeviceReduce", Reduce::Min(scratch, bytes, from, to, n, queue));
            } else if constexpr (std::is_same_v<Op, Max>) {
                check("cub::DeviceReduce", Reduce::Max(scratch, bytes, from, to, n, queue));
            } else {
                check("cub::DeviceReduce",
                      Reduce::Reduce(scratch, bytes, from, to, n, Op{}, Op::template identity<T>, queue));
            }
        };
        std::size_t bytes = 0;
        reduce(nullptr, bytes);
        return [reduce, bytes, scratch = stream.scratch(std::max<u64>(bytes, 1))]() mutable {
            reduce(scratch->native_handle(), bytes);
        };
    });
}

Call cub_scan(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_scan(work, [&](auto tag, auto op, bool exclusive) -> Call {
        using T = typename decltype(tag)::type;
        auto scan = [op, exclusive, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                     to = native_pointer<T>(out[0]), n = work.n](void* scratch, std::size_t& bytes) {
            using Scan = cub::DeviceScan;
            constexpr T identity = decltype(op)::template identity<T>;
            if (exclusive) {
                check("cub::DeviceScan", Scan::ExclusiveScan(scratch, bytes, from, to, op, identity, n, queue));
            } else {
                check("cub::DeviceScan", Scan::InclusiveScan(scratch, bytes, from, to, op, n, queue));
            }
        };
        std::size_t bytes = 0;
        scan(nullptr, bytes);
        return [scan, bytes, scratch = stream.scratch(std::max<u64>(bytes, 1))]() mutable {
            scan(scratch->native_handle(), bytes);
        };
    });
}

// Even levels: from -1 to 1 for f32, the whole range for u32.
Call cub_histogram(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    auto prepare = [&]<class T, class Level>(detail::TypeTag<T>, Level lo, Level hi) -> Call {
        auto count = [=, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                      to = native_pointer<unsigned>(out[0]), bins = static_cast<int>(work.outputs[0].count),
                      n = static_cast<std::int64_t>(work.n)](void* scratch, std::size_t& bytes) {
            check("cub::DeviceHistogram",
                  cub::DeviceHistogram::HistogramEven(scratch, bytes, from, to, bins + 1, lo, hi, n, queue));
        };
        std::size_t bytes = 0;
        count(nullptr, bytes);
        return [count, bytes, scratch = stream.scratch(std::max<u64>(bytes, 1))]() mutable {
            count(scratch->native_handle(), bytes);
        };
    };
    if (work.type() == Type::f32) return prepare(detail::TypeTag<f32>{}, -1.0f, 1.0f);
    return prepare(detail::TypeTag<u32>{}, std::int64_t{0}, std::int64_t{1} << 32);
}

Call cub_compact(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_compact(work, [&](auto tag, auto keep) -> Call {
        using T = typename decltype(tag)::type;
        auto select = [keep, queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                       to = native_pointer<T>(out[0]), count = native_pointer<u64>(out[1]),
                       n = static_cast<i64>(work.n)](void* scratch, std::size_t& bytes) {
            check("cub::DeviceSelect", cub::DeviceSelect::If(scratch, bytes, from, to, count, n, keep, queue));
        };
        std::size_t bytes = 0;
        select(nullptr, bytes);
        return [select, bytes, scratch = stream.scratch(std::max<u64>(bytes, 1))]() mutable {
            select(scratch->native_handle(), bytes);
        };
    });
}

// Takes Thrust's temporary memory from CUDA's stream-ordered pool. By default Thrust calls cudaMalloc and cudaFree,
// which synchronise with the device.
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

void cuda(std::vector<Baseline>& list) {
    append(list,
           {"memcpy",
            "cudaMemcpyAsync " + std::to_string(CUDART_VERSION / 1000) + "." +
                std::to_string(CUDART_VERSION / 10 % 100),
            "cuda"},
           {{.algorithm = "map", .titles = {"copy"}, .types = any_type, .prepare = copy_bytes}});
    append(list, {"cub", version("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION), "cuda"},
           {{.algorithm = "map", .titles = map_titles, .types = any_type, .prepare = cub_map},
            {.algorithm = "add", .titles = {"sum"}, .types = any_type, .prepare = cub_add},
            {.algorithm = "reduce", .titles = reduce_titles, .types = any_type, .prepare = cub_reduce},
            {.algorithm = "scan", .titles = scan_titles, .types = any_type, .prepare = cub_scan},
            {.algorithm = "histogram",
             .titles = histogram_titles,
             .types = histogram_types,
             .prepare = cub_histogram},
            {.algorithm = "compact", .titles = compact_titles, .types = any_type, .prepare = cub_compact}});
    append(list,
           {"thrust", version("Thrust", THRUST_MAJOR_VERSION, THRUST_MINOR_VERSION, THRUST_SUBMINOR_VERSION),
            "cuda"},
           {{.algorithm = "map", .titles = map_titles, .types = any_type, .prepare = thrust_map},
            {.algorithm = "add", .titles = {"sum"}, .types = any_type, .prepare = thrust_add},
            {.algorithm = "reduce",
             .titles = reduce_titles,
             .types = any_type,
             .prepare = thrust_reduce,
             .blocking = true},
            {.algorithm = "scan", .titles = scan_titles, .types = any_type, .prepare = thrust_scan},
            {.algorithm = "compact",
             .titles = compact_titles,
             .types = any_type,
             .prepare = thrust_compact,
             .blocking = true}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::cuda)
