#pragma once
// `concord run`: the interfaces through which an algorithm runs on files. A file commands/run_NAME.cpp defines
// `RunCommand run_NAME()`. CMake finds it by its name.

#include "npy.hpp"
#include "program.hpp"

#include <concord/communicator.hpp>
#include <concord/pipeline.hpp>

#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace concord::app {

using Inputs = std::span<const std::unique_ptr<InputArray>>;
using Views = std::span<const View>;

// The outputs of a call: type and shape of each. The headers' `data` and `count` are ignored.
struct RunPlan {
    struct Second {
        std::string path;
        NpyHeader header;
    };
    NpyHeader output;                   // of --out
    std::optional<Second> second = {};  // of a file that the task's own options name
    // Whether the outputs' length depends on the data. Then the outputs are 1-D with the maximum length, and the call
    // writes the actual length, the same for both, to a u64 on the device.
    bool counted = false;
};

// An algorithm with its own options. Optional capabilities are the interfaces below, which a task may also derive from.
class RunTask {
  public:
    virtual ~RunTask() = default;
    virtual void add_options(CLI::App& /*command*/) {}
    // Reads the options and validates the inputs. Throws invalid_argument.
    virtual RunPlan plan(Inputs inputs) = 0;
    // Enqueues one call. `out`: the output, then the second output and the count if the plan has them.
    virtual Enqueued call(Stream& stream, Views in, Views out, const Options& options) = 0;
    // Name of the operator or function: "sum", "sqrt".
    virtual std::string title() const = 0;
};

// Processes inputs in segments.
class Pipelined {
  public:
    virtual PipelineRun run_pipeline(const PipelineDevices& devices,
                                     std::span<const PipelineSource* const> in, PipelineSink& out,
                                     const PipelineOptions& options) = 0;

  protected:
    ~Pipelined() = default;
};

// How the elements of a file are distributed over ranks.
struct Spread {
    bool whole = false;  // every rank has all elements, and rank 0 writes them; else each has its part_of()
    u64 granule = 1;     // each part begins at a multiple of this
};

// Runs on ranks, each with its part of inputs and outputs.
class OverRanks {
  public:
    virtual Spread spread_input(std::size_t /*input*/) const { return {}; }
    virtual Spread spread_output() const { return {}; }
    // Collective. The views are those of RunTask::call() for this rank's parts.
    virtual Enqueued call_ranks(Communicator& ranks, Stream& stream, Views in, Views out,
                                const Options& options) = 0;

  protected:
    ~OverRanks() = default;
};

// Result of work on boxes, the same on all ranks. Times are milliseconds of the slowest rank.
struct BoxesRun {
    std::string variant;
    double compile = 0, upload = 0, kernel = 0, download = 0, total = 0;
    std::string cut;  // decomposition of the volume: "2 x 1"
    u32 steps_per_exchange = 1;
    double messages = 0;  // per step, of all ranks
    u64 bytes = 0;        // likewise
};

// Runs on ranks. Each reads, computes and writes a box of a volume.
class OverBoxes {
  public:
    // Whether an option selects boxes on a single device.
    virtual bool asks_for_boxes() const = 0;
    // Throws if this number of ranks cannot share the work.
    virtual void check_boxes(u32 ranks, const Options& options) const = 0;
    // Collective. The output file is complete when it returns.
    virtual BoxesRun run_boxes(Communicator& ranks, Stream& stream, Inputs inputs, const std::string& out,
                               const Options& options) = 0;

  protected:
    ~OverBoxes() = default;
};

// Has options that generate the first input.
class GeneratesInput {
  public:
    // The generated input, which replaces the first of --in; null if it is not generated. Throws invalid_argument.
    virtual std::unique_ptr<InputArray> generated() const = 0;

  protected:
    ~GeneratesInput() = default;
};

// Takes a number of inputs that depends on its options.
class CountsInputs {
  public:
    virtual std::size_t inputs() const = 0;

  protected:
    ~CountsInputs() = default;
};

struct NamedInput {
    const char* option;
    std::string path;
};

// Has options that name more inputs.
class NamesInputs {
  public:
    // Their files, which follow those of --in.
    virtual std::vector<NamedInput> more_inputs() const = 0;

  protected:
    ~NamesInputs() = default;
};

// May compile the user's source code. Then `auto` selects a device that compiles at run time, and source that does not
// compile is an invalid argument.
class TakesText {
  public:
    virtual const std::optional<std::string>& text() const = 0;
    bool has_text() const { return text().has_value(); }

  protected:
    ~TakesText() = default;
};

// The task as one of these interfaces; null if it does not have the capability.
template <class Capability>
Capability* as(RunTask& task) {
    return dynamic_cast<Capability*>(&task);
}
template <class Capability>
const Capability* as(const RunTask& task) {
    return dynamic_cast<const Capability*>(&task);
}

// A subcommand of `concord run`.
struct RunCommand {
    std::string_view name, summary, example;
    std::size_t inputs = 1;  // files of --in and generated inputs
    std::unique_ptr<RunTask> (*make)() = nullptr;
};

template <class Task>
std::unique_ptr<RunTask> make_task() {
    return std::make_unique<Task>();
}

// Throws invalid_argument, which names the call, unless the input has one dimension.
void check_one_dimension(std::string_view call, const InputArray& input);

// The subcommands of all algorithms.
std::vector<RunCommand> run_commands();

// The names of the algorithms that have one of the capabilities.
template <class... Capability>
std::vector<std::string> commands_with() {
    std::vector<std::string> names;
    for (const RunCommand& command : run_commands()) {
        const auto task = command.make();
        if (((as<Capability>(*task) != nullptr) || ...)) names.emplace_back(command.name);
    }
    return names;
}

}  // namespace concord::app
