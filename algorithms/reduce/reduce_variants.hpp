#pragma once
// Shared by the .cpp files of reduce: kernels, tunables, and the functions of the variant `fixed`.

#include <concord/internal/row.hpp>
#include <concord/reduce.hpp>
#include <concord/tuning.hpp>

namespace concord::detail {

inline constexpr u32 reduce_group = 256;

inline constexpr Tunable reduce_waves{.name = "reduce.waves",
                                      .summary = "maximum number of groups, in waves of resident groups",
                                      .used_by = {TunableUser::cuda, TunableUser::opencl},
                                      .values = {1, 2, 4, 8, 16, 1 << 20}};
inline constexpr Tunable reduce_groups{.name = "reduce.groups",
                                       .summary = "maximum number of groups per thread",
                                       .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                       .values = {4, 8, 16, 32, 64}};
inline constexpr Tunable reduce_group_kib{.name = "reduce.group_kib",
                                          .summary = "minimum input per group, in KiB",
                                          .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                          .values = {64, 128, 256, 512, 1024, 4096}};

inline TuningPoint point_of(const ReduceProblem& p) {
    return {p.in.type, p.in.count};
}

// The kernel `entry` for the problem's type and operator.
std::shared_ptr<Kernel> reduce_kernel(Device& device, const ReduceProblem& problem,
                                      const KernelSource& source, const char* entry, u32 group_size,
                                      const HostKernel& host = {});

// The host kernels of a built-in operator.
const ReduceHost& reduce_builtin(ReduceOp op, Type type);

// reduce_fixed.cpp
void run_reduce_fixed(Stream& stream, const ReduceProblem& problem);
void run_reduce_fixed_wide(Stream& stream, const ReduceProblem& problem);
void run_reduce_fixed_host(Stream& stream, const ReduceProblem& problem);

}  // namespace concord::detail
