#pragma once
// `mpirun -n N concord run`: all ranks of a job run an algorithm. Each reads, computes and writes its part.

#include "run.hpp"
#include "run_work.hpp"

namespace concord::app {

// Collective. Like `concord run` in one process.
int run_on_ranks(const RunCommand& command, RunTask& task, const RunArguments& asked);

// The device of this rank. Several selectors are assigned to the ranks round-robin. One selector without a number
// ("cuda", "auto") selects the device whose number is that of the rank among the ranks on this machine.
std::shared_ptr<Device> device_of_rank(const std::vector<std::string>& devices);

}  // namespace concord::app
