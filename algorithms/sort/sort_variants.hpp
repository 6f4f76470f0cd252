#pragma once
// Shared by the .cpp files of sort: tunables, and the functions of the variants.

#include <concord/internal/launch.hpp>
#include <concord/internal/row.hpp>
#include <concord/sort.hpp>
#include <concord/tuning.hpp>

namespace concord::detail {

// --- Tunables --------------------------------------------------------------------------------------------------------

inline constexpr Tunable sort_chunks{.name = "sort.chunks",
                                     .summary = "chunks of the input per thread",
                                     .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                     .values = {1, 2, 4, 8, 16}};
inline constexpr Tunable sort_onesweep_tile{
    .name = "sort.onesweep_tile",
    .summary = "tile size of onesweep: 1 small, for more groups, 2 as large as the registers allow",
    .used_by = {TunableUser::cuda, TunableUser::opencl},
    .values = {1, 2}};
inline constexpr Tunable sort_onesweep_ahead{.name = "sort.onesweep_ahead",
                                             .summary = "tiles that look-back of onesweep reads at a time",
                                             .used_by = {TunableUser::cuda, TunableUser::opencl},
                                             .values = {1, 2, 4, 8}};
inline constexpr Tunable sort_leaf_kib{.name = "sort.leaf_kib",
                                       .summary = "approximate KiB per bucket of the sample sorts",
                                       .used_by = {TunableUser::host},
                                       .values = {128, 256, 512, 1024, 2048}};
inline constexpr Tunable sort_one_leaf_kib{.name = "sort.one_leaf_kib",
                                           .summary = "KiB from which on the sample sorts split an input",
                                           .used_by = {TunableUser::host},
                                           .values = {64, 128, 256, 512, 1024, 2048}};
inline constexpr Tunable sort_small_input{
    .name = "sort.small",
    .summary = "largest number of elements that radix8 sorts with one work-item",
    .used_by = {TunableUser::opencl_single_item},
    .values = {1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17}};

inline TuningPoint point_of(const SortProblem& p) {
    return {p.in.type, p.in.count, p.pairs() ? u64{size_of(p.values_in.type)} : 0};
}

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
void run_sort_radix8_host(Stream& stream, const SortProblem& problem);
void run_sort_radix16(Stream& stream, const SortProblem& problem);
Support supports_sort_sample(const Device& device, const SortProblem& problem);
Support supports_sort_vqsort(const Device& device, const SortProblem& problem);
bool suits_sort_vqsort(const Device& device, const SortProblem& problem);
void run_sort_sample_vqsort(Stream& stream, const SortProblem& problem);
void run_sort_sample_radix(Stream& stream, const SortProblem& problem);
Support supports_sort_counting(const Device& device, const SortProblem& problem);
void run_sort_counting(Stream& stream, const SortProblem& problem);

// sort_steps.cpp: comparison sorts.
void run_sort_merge_host(Stream& stream, const SortProblem& problem);
void run_sort_std(Stream& stream, const SortProblem& problem);
void run_sort_qsort(Stream& stream, const SortProblem& problem);

// --- Kernels compiled from source ------------------------------------------------------------------------------------

// Work-items per group of the sorts below, except for radix4 (fewer) and onesweep.
inline constexpr u32 sort_group = 256;
Support supports_sort_group(const Device& device, const SortProblem& problem);

// sort_bitonic.cpp: sorting networks.
void run_sort_bitonic(Stream& stream, const SortProblem& problem);
void run_sort_bitonic_fused(Stream& stream, const SortProblem& problem);
void run_sort_bitonic_local(Stream& stream, const SortProblem& problem);
void run_sort_odd_even(Stream& stream, const SortProblem& problem);

// sort_radix.cpp: radix sorts with digits of 1, 4 and 8 bits. wide: one work-item per group.
void run_sort_radix1(Stream& stream, const SortProblem& problem);
void run_sort_radix4(Stream& stream, const SortProblem& problem);
void run_sort_radix4_local(Stream& stream, const SortProblem& problem);
void run_sort_radix4_vector(Stream& stream, const SortProblem& problem);
void run_sort_radix8(Stream& stream, const SortProblem& problem);
void run_sort_radix8_wide(Stream& stream, const SortProblem& problem);

// sort_onesweep.cpp
Support supports_sort_onesweep(const Device& device, const SortProblem& problem);
void run_sort_onesweep(Stream& stream, const SortProblem& problem);

// sort_merge.cpp
Support supports_sort_less(const Device& device, const SortProblem& problem);
Support supports_sort_merge(const Device& device, const SortProblem& problem);
void run_sort_merge(Stream& stream, const SortProblem& problem);
void run_sort_merge_wide(Stream& stream, const SortProblem& problem);

}  // namespace concord::detail
