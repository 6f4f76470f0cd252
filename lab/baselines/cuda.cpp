// The module of CUB and Thrust, and the driver's own copy.

#include "cuda.hpp"
#include "cccl.hpp"
#include "functors.hpp"

#include <cstdint>
#include <limits>

namespace concord::baselines {
namespace {

Call copy_bytes(Stream& stream, const Work& work, Views in, Views out) {
    use_device_of(in[0]);
    return [queue = queue_of(stream), from = lab::native_pointer<char>(in[0]),
            to = lab::native_pointer<char>(out[0]), bytes = work.inputs[0].bytes()] {
        check("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue));
    };
}

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

cccl::Operands operands_of(Stream& stream, const Work& work, Views in, Views out) {
    cccl::Operands at{};
    for (std::size_t k = 0; k < std::min<std::size_t>(in.size(), 2); ++k)
        at.in[k] = lab::native_pointer<const void>(in[k]);
    for (std::size_t k = 0; k < std::min<std::size_t>(out.size(), 3); ++k)
        at.out[k] = lab::native_pointer<void>(out[k]);
    at.n = static_cast<std::int32_t>(work.n);
    at.queue = queue_of(stream);
    at.bins = static_cast<int>(work.outputs[0].count);
    at.segments = work.inputs.size() > 1 ? static_cast<int>(work.inputs[1].count) - 1 : 0;
    return at;
}

using Direct = cudaError_t (*)(const cccl::Operands&);
using WithScratch = cudaError_t (*)(const cccl::Operands&, void*, std::size_t&);

Call call_of(Stream& /*stream*/, const cccl::Operands& at, Direct f) {
    return [at, f] { check("CUB and Thrust", f(at)); };
}
Call call_of(Stream& stream, const cccl::Operands& at, WithScratch f) {
    return with_scratch(stream,
                        [at, f](void* scratch, std::size_t& bytes) { check("CUB", f(at, scratch, bytes)); });
}

// A call for an element type. Null: cccl.hpp does not have it.
struct Typed {
    Type type;
    Direct direct = nullptr;
    WithScratch scratch = nullptr;

    Typed(Type of, Direct f) : type(of), direct(f) {}
    Typed(Type of, WithScratch f) : type(of), scratch(f) {}
};

// Fills a Row from the calls for its types.
struct CcclRow {
    std::string_view algorithm;
    std::vector<std::string_view> titles;
    std::vector<Typed> calls;
    CallName name;
    bool blocking = enqueues;
    std::string_view contract = {};
};

void append_cccl(std::vector<Baseline>& list, const Library& library, const std::vector<CcclRow>& rows) {
    for (const CcclRow& row : rows) {
        std::vector<Type> types;
        for (const Typed& call : row.calls)
            types.push_back(call.type);
        append(list, library,
               {{row.algorithm, row.titles, types, nullptr, row.name, nullptr, row.blocking, row.contract}});
        list.back().prepare = [calls = row.calls](Stream& stream, const Work& work, Views in, Views out) {
            use_device_of(in[0]);
            keep_pool_memory();
            cccl::Operands at = operands_of(stream, work, in, out);
            if (work.algorithm == "compact")
                at.limit = work.type() == Type::f32
                               ? f64{lab::random_quantile<f32>(kept_fraction(work))}
                               : static_cast<f64>(lab::random_quantile<u32>(kept_fraction(work)));
            const auto of_type = std::find_if(calls.begin(), calls.end(),
                                              [&](const Typed& call) { return call.type == work.type(); });
            return of_type->direct != nullptr ? call_of(stream, at, of_type->direct)
                                              : call_of(stream, at, of_type->scratch);
        };
    }
}

// 300102: "CUB 3.1.2".
std::string version_of(const std::string& name, int version) {
    return name + " " + std::to_string(version / 100000) + "." + std::to_string(version / 100 % 1000) + "." +
           std::to_string(version % 100);
}

// A module of another release than the toolkit's has this in the names of its rows.
#if !defined(CONCORD_CCCL_ROWS)
#define CONCORD_CCCL_ROWS ""
#endif

constexpr std::string_view rounded_bins =
    "scales float samples with rounding, so that a sample next to an edge may fall into the neighbouring bin";

void cuda(std::vector<Baseline>& list) {
    using namespace cccl;
    if (std::string_view(CONCORD_CCCL_ROWS).empty())
        append(list,
               {"memcpy",
                "CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
                    std::to_string(CUDART_VERSION / 10 % 100),
                "cuda"},
               {{"map", {"copy"}, any_type, copy_bytes, "cudaMemcpyAsync"}});
    const std::string cub = version_of("CUB", cub_version()), thrust = version_of("Thrust", thrust_version());
    const auto library = [](const std::string& name, const std::string& version) {
        return Library{name, version, "cuda", u64{std::numeric_limits<std::int32_t>::max()}};
    };
    append_cccl(
        list, library("cub" CONCORD_CCCL_ROWS, cub),
        {{"map",
          {"copy"},
          {{Type::f32, cub_copy<f32>}, {Type::u8, cub_copy<u8>}},
          "cub::DeviceTransform::Transform"},
         {"add", {"sum"}, {{Type::f32, cub_add<f32>}}, "cub::DeviceTransform::Transform"},
         {"reduce",
          {"sum"},
          {{Type::f32, cub_sum<f32>}, {Type::u32, cub_sum<u32>}},
          "cub::DeviceReduce::Sum"},
         {"segmented_reduce",
          segmented_sum_titles,
          {{Type::f32, cub_segmented_sum<f32>}},
          "cub::DeviceSegmentedReduce::Sum"},
         {"segmented_sort",
          segmented_sort_titles,
          {{Type::f32, cub_segmented_sort<f32>}},
          "cub::DeviceSegmentedSort::SortKeys"},
         {"reduce_by_key",
          run_sum_titles,
          {{Type::f32, cub_sum_by_key<f32>}},
          "cub::DeviceReduce::ReduceByKey"},
         {"scan",
          {"exclusive_sum"},
          {{Type::f32, cub_scan<f32>}, {Type::u32, cub_scan<u32>}},
          "cub::DeviceScan::ExclusiveSum"},
         {"scan_by_key",
          run_scan_titles,
          {{Type::f32, cub_scan_by_key<f32>}},
          "cub::DeviceScan::InclusiveSumByKey"},
         {"histogram",
          histogram_titles,
          {{Type::f32, cub_histogram<f32>}},
          "cub::DeviceHistogram::HistogramEven",
          enqueues,
          rounded_bins},
         {"histogram",
          histogram_titles,
          {{Type::u32, cub_histogram<u32>}},
          "cub::DeviceHistogram::HistogramEven"},
         {"compact",
          compact_titles,
          {{Type::f32, cub_compact<f32>}, {Type::u32, cub_compact<u32>}},
          "cub::DeviceSelect::If"},
         {"unique", run_titles, {{Type::u32, cub_unique<u32>}}, "cub::DeviceSelect::Unique"},
         {"run_length_encode",
          run_titles,
          {{Type::u32, cub_run_length_encode<u32>}},
          "cub::DeviceRunLengthEncode::Encode"},
         {"sort",
          sort_titles,
          {{Type::u32, cub_sort<u32>}, {Type::u64, cub_sort<u64>}},
          "cub::DeviceRadixSort::SortKeys"},
         {"sort", sort_pairs_titles, {{Type::u32, cub_sort_pairs<u32>}}, "cub::DeviceRadixSort::SortPairs"}});
    append_cccl(
        list, library("cub_merge" CONCORD_CCCL_ROWS, cub),
        {{"sort", {"keys"}, {{Type::u32, cub_merge_sort<u32>}}, "cub::DeviceMergeSort::SortKeysCopy"}});
    if (has_reproducible()) {
        append_cccl(list, library("cub_run_to_run", cub + ", run_to_run"),
                    {{"reduce", {"sum"}, {{Type::f32, cub_sum_run_to_run}}, "cub::DeviceReduce::Sum"},
                     {"scan",
                      {"exclusive_sum"},
                      {{Type::f32, cub_scan_run_to_run}},
                      "cub::DeviceScan::ExclusiveSum"}});
        append_cccl(list, library("cub_gpu_to_gpu", cub + ", gpu_to_gpu"),
                    {{"reduce", {"sum"}, {{Type::f32, cub_sum_gpu_to_gpu}}, "cub::DeviceReduce::Sum"}});
    }
    append_cccl(
        list, library("thrust" CONCORD_CCCL_ROWS, thrust),
        {{"map", {"copy"}, {{Type::f32, thrust_copy<f32>}, {Type::u8, thrust_copy<u8>}}, "thrust::copy"},
         {"add", {"sum"}, {{Type::f32, thrust_add<f32>}}, "thrust::transform"},
         {"reduce",
          {"sum"},
          {{Type::f32, thrust_sum<f32>}, {Type::u32, thrust_sum<u32>}},
          "thrust::reduce",
          waits},
         {"scan",
          {"exclusive_sum"},
          {{Type::f32, thrust_scan<f32>}, {Type::u32, thrust_scan<u32>}},
          "thrust::exclusive_scan"},
         {"compact",
          compact_titles,
          {{Type::f32, thrust_compact<f32>}, {Type::u32, thrust_compact<u32>}},
          "thrust::copy_if",
          waits}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::cuda)
