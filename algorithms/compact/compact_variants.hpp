#pragma once
// Shared by the .cpp files of compact: kernels, tunables, and the functions of the variants.

#include <concord/compact.hpp>
#include <concord/internal/block_function.hpp>
#include <concord/internal/calibration.hpp>
#include <concord/internal/row.hpp>

namespace concord::detail {

inline constexpr u32 compact_group = 256;

inline constexpr Tunable compact_waves{
    .name = "compact.waves",
    .summary = "largest number of groups in waves of resident groups, fused",
    .used_by = {TunableUser::cuda, TunableUser::opencl},
    .values = {1, 2, 4, 8, 16}};
inline constexpr Tunable compact_groups{.name = "compact.groups",
                                        .summary = "largest number of groups per thread, fused",
                                        .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                        .values = {4, 8, 16, 32, 64}};
inline constexpr Tunable compact_group_kib{.name = "compact.group_kib",
                                           .summary = "smallest KiB of data per group",
                                           .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                           .values = {64, 128, 256, 512, 1024, 4096}};
inline constexpr Tunable compact_resident{
    .name = "compact.lookback_resident",
    .summary = "groups per unit that the register limit allows, lookback",
    .used_by = {TunableUser::cuda},
    .values = {3, 4, 5, 6, 8}};
inline constexpr Tunable compact_tile_kib{.name = "compact.tile_kib",
                                          .summary = "KiB per tile, two_pass",
                                          .used_by = {TunableUser::host},
                                          .values = {8, 16, 32, 64, 128}};
inline constexpr Tunable compact_stream_kib = stream_tunable("compact.stream_kib");

inline TuningPoint point_of(const CompactProblem& p) {
    return {p.in.type, p.in.count};
}

inline constexpr u64 compact_max_chunks = 4096;  // because one group scans the counts of all chunks

// --- Kernels ---------------------------------------------------------------------------------------------------------

// The host kernels of compact, which take the predicate as an argument.
struct CompactKernels {
    HostKernel serial, two_pass, count, offsets, write, flags, scatter;
};
// Those for elements of `size` bytes.
const CompactKernels& compact_kernels(u32 size);

// What a kernel depends on: the type and the predicate, the size of an element, or neither.
enum class CompactNeeds { predicate, size, neither };

// The kernel `entry` for the problem's type and predicate. `constants`: those of the source, besides the type's.
std::shared_ptr<Kernel> compact_kernel(Device& device, const CompactProblem& problem,
                                       const KernelSource& source, const char* entry, u32 group_size,
                                       CompactNeeds needs, const Constants& constants = {});

inline constexpr u32 compact_pack_bytes = 16;  // of an access

// A built-in predicate as compact_keep; null if the type does not support it.
const HostKernel* compact_builtin_host(KeepRule rule, Type type);

// The predicate as an argument of host kernels.
host::BlockFunction compact_block_function(const Device& device, const CompactProblem& problem);

// --- Variants --------------------------------------------------------------------------------------------------------

// Whether the device supports the predicate for the problem's type.
Support supports_keep(const Device& device, const CompactProblem& problem);
// The same, in groups of compact_group work-items.
Support supports_keep_groups(const Device& device, const CompactProblem& problem);

// For variants that do not read every element before its place is overwritten.
inline Support supports_apart(const CompactProblem& p) {
    if (!p.in_place()) return {};
    return Support::no("does not support in-place operation; pass a distinct output");
}

// compact_groups.cpp: groups of many work-items.
Support supports_compact_lookback(const Device& device, const CompactProblem& problem);
bool suits_compact_lookback(const Device& device, const CompactProblem& problem);
void run_compact_lookback(Stream& stream, const CompactProblem& problem);
void run_compact_fused(Stream& stream, const CompactProblem& problem);

// compact_cpu.cpp: one work-item per group, and host kernels.
void run_compact_fused_wide(Stream& stream, const CompactProblem& problem);
bool suits_compact_fused_host(const Device& device, const CompactProblem& problem);
void run_compact_fused_host(Stream& stream, const CompactProblem& problem);
void run_compact_two_pass(Stream& stream, const CompactProblem& problem);
void run_compact_serial(Stream& stream, const CompactProblem& problem);

// compact_steps.cpp
Support supports_compact_scan_scatter(const Device& device, const CompactProblem& problem);
void run_compact_scan_scatter(Stream& stream, const CompactProblem& problem);
void run_compact_scan_scatter_host(Stream& stream, const CompactProblem& problem);

}  // namespace concord::detail
