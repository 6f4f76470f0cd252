#pragma once
// Shared by the .cpp files of compact: kernels, tunables, and the functions of the variants.

#include <concord/compact.hpp>
#include <concord/internal/block_function.hpp>
#include <concord/internal/calibration.hpp>
#include <concord/internal/row.hpp>

namespace concord::detail {

inline constexpr u32 compact_group = 256;

inline constexpr Tunable compact_waves{"compact.waves",
                                       "largest number of groups in waves of resident groups, fused",
                                       on_gpus,
                                       {1, 2, 4, 8, 16}};
inline constexpr Tunable compact_groups{
    "compact.groups", "largest number of groups per thread, fused", on_cpus, {4, 8, 16, 32, 64}};
inline constexpr Tunable compact_group_kib{
    "compact.group_kib", "smallest KiB of data per group", on_cpus, {64, 128, 256, 512, 1024, 4096}};
inline constexpr Tunable compact_resident{"compact.lookback_resident",
                                          "groups per unit that the register limit allows, lookback",
                                          on_gpus,
                                          {3, 4, 5, 6, 8},
                                          {Dialect::cuda}};
inline constexpr Tunable compact_tile_kib{
    "compact.tile_kib", "KiB per tile, two_pass", {LaunchModel::host}, {8, 16, 32, 64, 128}};
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

// A built-in predicate for elements of a type, an integer for even and odd. host: compact_keep.
struct CompactBuiltin {
    const Operator& op;
    const HostKernel* host;
};
CompactBuiltin compact_builtin(KeepRule rule, Type type);

// The predicate as an argument of host kernels.
host::BlockFunction compact_block_function(const Device& device, const CompactProblem& problem);

// --- Variants --------------------------------------------------------------------------------------------------------

// For variants that do not read every element before its place is overwritten.
inline Support supports_apart(const CompactProblem& p) {
    if (!p.in_place()) return {};
    return Support::no("does not support in-place operation; pass a distinct output");
}

// compact_groups.cpp: groups of many work-items.
SupportsOf<CompactProblem> supports_compact_lookback;
SuitsOf<CompactProblem> suits_compact_lookback;
RunOf<CompactProblem> run_compact_lookback, run_compact_fused;

// compact_cpu.cpp: one work-item per group, and host kernels.
SuitsOf<CompactProblem> suits_compact_fused_host;
RunOf<CompactProblem> run_compact_fused_wide, run_compact_fused_host, run_compact_two_pass,
    run_compact_serial;

// compact_steps.cpp
SupportsOf<CompactProblem> supports_compact_scan_scatter;
RunOf<CompactProblem> run_compact_scan_scatter, run_compact_scan_scatter_host;

}  // namespace concord::detail
