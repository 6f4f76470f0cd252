#pragma once
// What `concord run` shares between one process and ranks: options, inputs, uploads, a clock.

#include "progress_bar.hpp"
#include "run.hpp"

#include <concord/stream.hpp>
#include <concord/variant.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace concord::app {

// The options of every algorithm.
struct RunArguments {
    std::vector<std::string> in, devices;
    std::string out, variant = "auto", order, trace;
    std::string memory_limit, chunk;
    bool json = false;

    Options options() const;
};

// Parses "1000000", "256M" or "2G". An empty text gives 0. Throws invalid_argument, also for 0 bytes.
u64 bytes_of(const char* option, const std::string& text);

// Opens the generated input, the files of --in and those of the task's own options. Throws invalid_argument for a wrong
// number of inputs.
std::vector<std::unique_ptr<InputArray>> open_inputs(const RunCommand& command, const RunTask& task,
                                                     const RunArguments& asked);

// Reads all elements into a buffer, through two pinned buffers if the host cannot access it.
void upload(Stream& stream, Buffer& to, const PipelineSource& from, ProgressBar& progress);

// The task's plan with the element counts of its shapes.
RunPlan plan_of(RunTask& task, Inputs inputs);

// Milliseconds since its construction.
class HostClock {
  public:
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace concord::app
