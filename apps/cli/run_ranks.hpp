#pragma once
/// `mpirun -n N concord run`: an algorithm by all ranks of a job, each of which reads, computes and writes its part.

#include "run.hpp"
#include "run_work.hpp"

namespace concord::app {

/// As `concord run` in one process; called by all ranks.
int run_on_ranks(const RunCommand& command, RunTask& task, const Asked& asked);

/// The device of this rank: of --devices the one whose turn it is; of --device, where no number is given, that of the rank's
/// number on its machine, among those of the same kind.
std::shared_ptr<Device> device_of_rank(const std::vector<std::string>& devices, const std::string& device);

}  // namespace concord::app
