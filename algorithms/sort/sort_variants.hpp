#pragma once
// Shared by the .cpp files of sort: tunables, and the functions of the variants.

#include <concord/internal/launch.hpp>
#include <concord/internal/row.hpp>
#include <concord/sort.hpp>
#include <concord/tuning.hpp>

namespace concord::detail {

// --- Tunables --------------------------------------------------------------------------------------------------------

inline constexpr Tunable sort_chunks{
    "sort.chunks", "chunks of the input per thread", on_cpus, {1, 2, 4, 8, 16}};
inline constexpr Tunable sort_onesweep_tile{
    "sort.onesweep_tile",
    "tile size of onesweep: 1 small, for more groups, 2 as large as the registers allow",
    on_gpus,
    {1, 2}};
inline constexpr Tunable sort_onesweep_ahead{
    "sort.onesweep_ahead", "tiles that look-back of onesweep reads at a time", on_gpus, {1, 2, 4, 8}};
inline constexpr Tunable sort_leaf_kib{"sort.leaf_kib",
                                       "approximate KiB per bucket of the sample sorts",
                                       {LaunchModel::host},
                                       {128, 256, 512, 1024, 2048}};
inline constexpr Tunable sort_one_leaf_kib{"sort.one_leaf_kib",
                                           "KiB from which on the sample sorts split an input",
                                           {LaunchModel::host},
                                           {64, 128, 256, 512, 1024, 2048}};
inline constexpr Tunable sort_small_input{"sort.small",
                                          "largest number of elements that radix8 sorts with one work-item",
                                          {LaunchModel::single_items},
                                          {1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17}};

inline TuningPoint point_of(const SortProblem& p) {
    return {p.in.type, p.in.count, p.pairs() ? u64{size_of(p.values_in.type)} : 0};
}

// Stores keys that are an expression. sort.cpp
void store_keys(Stream& stream, const SortProblem& p);

// The values as a launch argument. Keys without values pass any valid range; the kernel does not access it.
inline const View& values_or(const SortProblem& p, const View& values, const View& otherwise) {
    return p.pairs() ? values : otherwise;
}

// Scratch memory for a copy of all keys and values.
struct SortSpare {
    SortSpare(Stream& stream, const SortProblem& p)
        : keys_buffer(stream.scratch(p.in.bytes())),
          values_buffer(p.pairs() ? stream.scratch(p.values_in.bytes()) : nullptr),
          keys{keys_buffer.get(), 0, p.count(), p.in.type},
          values{p.pairs() ? View{values_buffer.get(), 0, p.count(), p.values_in.type} : keys} {}

    std::shared_ptr<Buffer> keys_buffer, values_buffer;
    View keys;
    View values;  // the keys if there are no values
};

// The comparator of host kernels for the order of the codes.
detail::host::Ascending sort_ascending(const SortProblem& problem);
// The same as a launch argument.
inline ValueBytes bytes_of(const detail::host::Ascending& order) {
    return {std::as_bytes(std::span(&order, 1))};
}

// --- Host kernels ----------------------------------------------------------------------------------------------------

// sort_cpu.cpp: radix sorts, and sorts of keys without values.
SupportsOf<SortProblem> supports_sort_sample, supports_sort_vqsort, supports_sort_counting;
SuitsOf<SortProblem> suits_sort_vqsort;
RunOf<SortProblem> run_sort_radix8_host, run_sort_radix16, run_sort_sample_vqsort, run_sort_sample_radix,
    run_sort_counting;

// sort_steps.cpp: comparison sorts.
RunOf<SortProblem> run_sort_merge_host, run_sort_std, run_sort_qsort;

// --- Kernels compiled from source ------------------------------------------------------------------------------------

// Work-items per group of the sorts below, except for radix4 (fewer) and onesweep.
inline constexpr u32 sort_group = 256;
SupportsOf<SortProblem> supports_sort_group;

// sort_bitonic.cpp: sorting networks.
RunOf<SortProblem> run_sort_bitonic, run_sort_bitonic_fused, run_sort_bitonic_local, run_sort_odd_even;

// sort_radix.cpp: radix sorts with digits of 1, 4 and 8 bits. wide: one work-item per group.
RunOf<SortProblem> run_sort_radix1, run_sort_radix4, run_sort_radix4_local, run_sort_radix4_vector,
    run_sort_radix8, run_sort_radix8_wide;

// sort_onesweep.cpp
SupportsOf<SortProblem> supports_sort_onesweep;
RunOf<SortProblem> run_sort_onesweep;

// sort_ranks.cpp
SupportsOf<SortProblem> supports_sort_rank_merge;
RunOf<SortProblem> run_sort_rank_merge;

// sort_merge.cpp
SupportsOf<SortProblem> supports_sort_less, supports_sort_merge;
RunOf<SortProblem> run_sort_merge, run_sort_merge_wide;

}  // namespace concord::detail
