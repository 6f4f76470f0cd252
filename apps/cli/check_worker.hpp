#pragma once
// This program as a worker of `concord check`.

#include "program.hpp"

#include <concord/lab/internal/check_workers.hpp>

namespace concord::app {

// Adds the hidden option that makes this process a worker. Keeps the arguments of main() for start_worker().
void add_worker_option(CLI::App& program, int argc, char** argv);
// Whether this process is a worker.
bool is_worker();

// Starts this program again with the same arguments, as a worker. Throws unavailable.
WorkerProcess start_worker();

// In a worker: the socket to the process that has started it. From now on signals of the terminal do not end this
// process. It ends with the process that has started it.
int open_worker_channel();

}  // namespace concord::app
