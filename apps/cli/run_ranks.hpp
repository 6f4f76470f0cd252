#pragma once
// `mpirun -n N concord run`: all ranks of a job run an algorithm. Each reads, computes and writes its part.

#include "run.hpp"
#include "run_work.hpp"

namespace concord::app {

// Collective. Like `concord run` in one process.
int run_on_ranks(const RunCommand& command, RunTask& task, const RunArguments& asked);

// The device of this rank. Of several selectors it takes the one of its rank, in turn. For one selector without a
// number ("cuda", "auto") it takes the device of its rank among the ranks on this machine.
std::shared_ptr<Device> device_of_rank(const std::vector<std::string>& devices);

}  // namespace concord::app
