#pragma once
// Shared by the .cpp files of reduce: kernels, tunables, and the functions of the variant `fixed`.

#include <concord/internal/row.hpp>
#include <concord/reduce_axes.hpp>
#include <concord/tuning.hpp>

namespace concord::detail {

inline constexpr u32 reduce_group = 256;

inline constexpr Tunable reduce_waves{"reduce.waves",
                                      "maximum number of groups, in waves of resident groups",
                                      on_gpus,
                                      {1, 2, 4, 8, 16, 1 << 20}};
inline constexpr Tunable reduce_groups{
    "reduce.groups", "maximum number of groups per thread", on_cpus, {4, 8, 16, 32, 64}};
inline constexpr Tunable reduce_group_kib{
    "reduce.group_kib", "minimum input per group, in KiB", on_cpus, {64, 128, 256, 512, 1024, 4096}};

inline TuningPoint point_of(const ReduceProblem& p) {
    return {p.in.type, p.in.count};
}

// The kernel `entry` for the problem's type and operator.
std::shared_ptr<Kernel> reduce_kernel(Device& device, const ReduceProblem& problem,
                                      const KernelSource& source, const char* entry, u32 group_size);

// The host kernels of a built-in operator.
const ReduceHost& reduce_builtin(ReduceOp op, Type type);
const HostKernel& reduce_lines_builtin(ReduceOp op, Type type);

// reduce_fixed.cpp
RunOf<ReduceProblem> run_reduce_fixed, run_reduce_fixed_wide, run_reduce_fixed_host;

}  // namespace concord::detail
