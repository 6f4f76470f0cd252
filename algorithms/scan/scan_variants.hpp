#pragma once
// Shared by the .cpp files of scan: kernels, tunables, and the functions of the variants.

#include <concord/internal/calibration.hpp>
#include <concord/internal/row.hpp>
#include <concord/scan.hpp>

namespace concord::detail {

inline constexpr u32 scan_group = 256;
inline constexpr u64 scan_group_tile = u64{scan_group} * 16;
// Elements of local memory per group, at most. A tile: its elements, their padding, the totals of its blocks and nodes,
// and an exchange between lanes.
inline constexpr u64 scan_tile_room = scan_group_tile / 16 * 17 + scan_group + 16 + scan_group;

inline constexpr Tunable scan_lookback_tiles{
    "scan.lookback_tiles", "tiles per group of lookback", on_gpus, {1, 2, 4}};
inline constexpr Tunable scan_lookback_resident{
    "scan.lookback_resident",
    "resident groups per unit for which lookback limits registers",
    on_gpus,
    {2, 3, 4, 6, 8},
    {Dialect::cuda}};
inline constexpr Tunable scan_group_kib{"scan.group_kib",
                                        "minimum input per group of partitioned, in KiB",
                                        on_cpus,
                                        {32, 64, 128, 256, 512, 1024, 2048, 4096}};
inline constexpr Tunable scan_stream_kib = stream_tunable("scan.stream_kib");

inline TuningPoint point_of(const ScanProblem& p) {
    return {p.type(), p.in.count};
}

// Minimum input per group of `partitioned` on CPUs. oneTBB wakes threads only as groups need them.
inline u64 scan_group_bytes(const Device& device, const ScanProblem& p) {
    const u64 min_kib = device.traits().launch == LaunchModel::host ? 128 : 512;
    return tuned(device, scan_group_kib, point_of(p), min_kib) << 10;
}

// --- Kernels ---------------------------------------------------------------------------------------------------------

// The kernel `entry` for the problem's type and operator. `constants`: those of the source, besides T, SIZE and GROUP.
std::shared_ptr<Kernel> scan_kernel(Device& device, const ScanProblem& problem, const KernelSource& source,
                                    const char* entry, u32 group_size, const Constants& constants = {});
// A kernel of a source for groups of scan_group work-items. `tiles`: tiles per group; `resident`: groups per unit for
// which the compiler limits registers.
std::shared_ptr<Kernel> scan_group_kernel(Device& device, const ScanProblem& problem,
                                          const KernelSource& source, const char* entry, u64 tiles = 1,
                                          u64 resident = 1);
// A kernel of the source for one work-item per group.
std::shared_ptr<Kernel> scan_wide_kernel(Device& device, const ScanProblem& problem, const char* entry);

// The host kernels of the built-in operators, which take the operator as a value.
const ScanHost& scan_builtin(Type type);
const HostKernel& scan_lines_builtin(ReduceOp op, Type type);
const HostKernel& scan_rows_builtin(Type type);

// --- Variants --------------------------------------------------------------------------------------------------------

// scan_lookback.cpp: one launch.
SupportsOf<ScanProblem> supports_scan_lookback, supports_scan_lookback_fallback, supports_scan_partitioned;
SuitsOf<ScanProblem> suits_scan_lookback;
RunOf<ScanProblem> run_scan_lookback, run_scan_lookback_fallback, run_scan_partitioned,
    run_scan_partitioned_host;

// scan_tiles.cpp: totals of the tiles, their scan, then the tiles.
SupportsOf<ScanProblem> supports_scan_reduce_then_scan;
SuitsOf<ScanProblem> suits_scan_reduce_then_scan;
RunOf<ScanProblem> run_scan_reduce_then_scan, run_scan_reduce_then_scan_wide;

}  // namespace concord::detail
