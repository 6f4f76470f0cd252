#pragma once
/// What the ways of `concord run` share: its options, inputs and reading them into buffers, a clock.

#include "progress_bar.hpp"
#include "run.hpp"

#include <concord/stream.hpp>
#include <concord/variant.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace concord::app {

/// The options that every algorithm takes.
struct Asked {
    std::vector<std::string> in, devices;
    std::string out, device, variant = "auto", order = "unspecified", trace;
    std::string memory_limit, chunk;
    bool json = false;

    Options options() const;
};

/// "1000000", "256M", "2G": a number of bytes, of which there is one at least; 0 for nothing.
u64 bytes_of(const char* option, const std::string& text);

/// What is generated, the files of --in and those of the task's own options, opened. Throws invalid_argument for as many as the
/// algorithm does not take.
std::vector<std::unique_ptr<InputArray>> open_inputs(const RunCommand& command, const RunTask& task,
                                                     const Asked& asked);

/// Reads all elements into a buffer: where the host cannot see that, by way of two pinned ones.
void upload(Stream& stream, Buffer& to, const PipelineSource& from, ProgressBar& progress);

/// The task's plan, with the counts that the shapes say.
RunPlan plan_of(RunTask& task, Inputs inputs);

/// Milliseconds since it was made.
class HostClock {
  public:
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace concord::app
