// CUB's sorts, in a separate file because they compile slowly. Three key types represent all.

#include "cuda.hpp"
#include "functors.hpp"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

namespace concord::baselines {
namespace {

using lab::native_pointer;

// Comparator of the workload by_less.
struct ByRemainder {
    __host__ __device__ bool operator()(u32 a, u32 b) const { return a % (1U << 31) < b % (1U << 31); }
};
struct Less {
    __host__ __device__ bool operator()(u32 a, u32 b) const { return a < b; }
};

template <class F>
Call visit_key(const Work& work, F&& f) {
    return work.type() == Type::u64 ? f(detail::TypeTag<u64>{}) : work.type() == Type::i32 ? f(detail::TypeTag<i32>{}) : f(detail::TypeTag<u32>{});
}

Call radix_keys(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_key(work, [&]<class T>(detail::TypeTag<T>) {
        return with_scratch(stream, [queue = queue_of(stream), from = native_pointer<const T>(in[0]),
                                     to = native_pointer<T>(out[0]), n = work.n](void* scratch, std::size_t& bytes) {
            check("cub::DeviceRadixSort", cub::DeviceRadixSort::SortKeys(scratch, bytes, from, to, n, 0,
                                                                         static_cast<int>(8 * sizeof(T)), queue));
        });
    });
}

Call radix_pairs(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return visit_key(work, [&]<class K>(detail::TypeTag<K>) {
        using V = std::conditional_t<sizeof(K) == 8, u64, u32>;
        return with_scratch(stream, [queue = queue_of(stream), keys = native_pointer<const K>(in[0]),
                                     values = native_pointer<const V>(in[1]), keys_out = native_pointer<K>(out[0]),
                                     values_out = native_pointer<V>(out[1]),
                                     n = work.n](void* scratch, std::size_t& bytes) {
            check("cub::DeviceRadixSort",
                  cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, keys_out, values, values_out, n, 0,
                                                  static_cast<int>(8 * sizeof(K)), queue));
        });
    });
}

Call merge_keys(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    const auto by = [&](auto less) {
        return with_scratch(stream, [less, queue = queue_of(stream), from = native_pointer<const u32>(in[0]),
                                     to = native_pointer<u32>(out[0]), n = work.n](void* scratch, std::size_t& bytes) {
            check("cub::DeviceMergeSort", cub::DeviceMergeSort::SortKeysCopy(scratch, bytes, from, to, n, less, queue));
        });
    };
    return work.title == "by_less" ? by(ByRemainder{}) : by(Less{});
}

// A module of another release of CCCL has this in the names of its rows.
#if !defined(CONCORD_CCCL_ROWS)
#define CONCORD_CCCL_ROWS ""
#endif

void cuda_sort(std::vector<Baseline>& list) {
    const std::string version = "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) +
                                "." + std::to_string(CUB_SUBMINOR_VERSION);
    const std::vector<Type> types = {Type::i32, Type::u32, Type::u64};
    append(list, {"cub" CONCORD_CCCL_ROWS, version, "cuda"},
           {{"sort", sort_titles, types, radix_keys, "cub::DeviceRadixSort::SortKeys"},
            {"sort", sort_pairs_titles, types, radix_pairs, "cub::DeviceRadixSort::SortPairs"}});
    append(list, {"cub_merge" CONCORD_CCCL_ROWS, version, "cuda"},
           {{"sort", {"keys", "by_less"}, {Type::u32}, merge_keys, "cub::DeviceMergeSort::SortKeysCopy"}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::cuda_sort)
