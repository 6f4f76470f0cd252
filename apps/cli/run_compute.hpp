#pragma once
// Computes what `concord run` asks for: at once, in segments, or on boxes.

#include "run.hpp"
#include "run_work.hpp"

namespace concord::app {

struct RunTimes {
    double compile = 0, upload = 0, kernel = 0, download = 0, total = 0;
};

struct RunResult {
    std::vector<std::byte> bytes, second;  // of the outputs
    std::string variant;
    OperationOrder order = OperationOrder::canonical;
    RunTimes times;
    std::optional<PipelineRun> pipeline;
    std::optional<BoxesRun> boxes;
};

// Whether an output is standard output.
inline bool is_stdout(const std::string& path) {
    return path == "-";
}

// Uploads, computes and downloads. Calls the algorithm twice: the first call compiles, the second one is timed. `total`
// excludes the second call. Stores a length of outputs that depends on the data in the plan.
RunResult compute(RunTask& task, Device& device, Inputs inputs, RunPlan& plan, const RunArguments& asked);
// Computes in segments, from the input files to the output file.
RunResult compute_by_segments(Pipelined& task, const PipelineDevices& devices, const std::string& algorithm,
                              Inputs inputs, RunPlan& plan, const RunArguments& asked);
// Computes on ranks, one per device. Each reads and writes its box of the files.
RunResult compute_by_boxes(OverBoxes& task, const std::vector<std::shared_ptr<Device>>& devices,
                           Inputs inputs, const RunArguments& asked);

}  // namespace concord::app
