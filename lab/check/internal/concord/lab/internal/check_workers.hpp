#pragma once
// A check whose cases run in other processes: the workers. Each opens the devices by itself, so that a call that ends
// its process ends a worker, and so that drivers compile in all of them at the same time.

#include <concord/lab/check.hpp>

#include <sys/types.h>

#include <functional>
#include <iosfwd>

namespace concord::lab {

// A process that calls run_check_worker() with the suites and options of the check.
struct WorkerProcess {
    pid_t id = -1;
    int channel = -1;   // our end of the socket that run_check_worker() gets
    int messages = -1;  // the read end of a pipe that is its standard error
};

// Where workers come from.
struct WorkerSource {
    // Workers at the same time. 0: one for each host thread, as far as the memory of host and devices suffices.
    u32 most = 0;
    std::function<WorkerProcess()> start;  // throws Error if the process cannot start
};

// Like check(), with the same report: the cases run in workers, and their outcomes are recorded in the order that the
// cases have in one process. The cases run in this process if they are few, or if the devices of the workers do not
// open. A worker that ends in a case is a failure of that case, and another worker goes on.
CheckReport check_side_by_side(const std::vector<Suite>& suites, const CheckOptions& options,
                               const WorkerSource& source, std::ostream* live);

// The work of a worker: runs the cases that the other end of the socket asks for, until that end is closed. Does not
// poll options.stop.
void run_check_worker(const std::vector<Suite>& suites, const CheckOptions& options, int channel);

}  // namespace concord::lab
