#pragma once
// Kernels and launch code that reduce.cpp and reduce_steps.cpp share.

#include <concord/reduce.hpp>

namespace concord::detail {

inline constexpr u32 reduce_group = 256;

enum class ReduceSource { fixed, wide, steps };

// The kernel `entry` for the problem's type and operator.
std::shared_ptr<Kernel> reduce_kernel(Device& device, const ReduceProblem& problem, ReduceSource from,
                                      const char* entry, HostKernel ReduceHost::*host);

// The host kernels of a built-in operator.
const ReduceHost& reduce_builtin(ReduceOp op, Type type);

void run_reduce_serial(Stream& stream, const ReduceProblem& problem);
void run_reduce_global_tree(Stream& stream, const ReduceProblem& problem);
void run_reduce_interleaved(Stream& stream, const ReduceProblem& problem);
void run_reduce_sequential(Stream& stream, const ReduceProblem& problem);
void run_reduce_first_add(Stream& stream, const ReduceProblem& problem);
void run_reduce_shuffle(Stream& stream, const ReduceProblem& problem);

}  // namespace concord::detail
