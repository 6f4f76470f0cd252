#pragma once
/// `concord run`: what an algorithm adds to be run on files. Its folder has a file NAME_command.cpp, which defines
/// `RunCommand run_NAME()`; CMake finds it by the name.

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

/// The outputs of a call: type and shape of each; `data` and `count` of the headers are not looked at.
struct RunPlan {
    struct Second {
        std::string path;
        NpyHeader header;
    };
    NpyHeader output;                   ///< of --out
    std::optional<Second> second = {};  ///< of a file that the task's own options name
    /// Whether the output's length depends on the data: `output`, 1-D, has the most that it may be, and the call leaves the
    /// length in one u64 on the device.
    bool counted = false;
};

/// One algorithm with its own options. What only some algorithms can do is an interface of its own below, from which
/// their tasks derive too.
class RunTask {
  public:
    virtual ~RunTask() = default;
    virtual void add_options(CLI::App& /*command*/) {}
    /// Reads the options and looks at the inputs; throws invalid_argument if they do not fit.
    virtual RunPlan plan(Inputs inputs) = 0;
    /// Enqueues one call. `out`: the output, then the plan's second one, then the count, as far as the plan has these.
    virtual Enqueued call(Stream& stream, Views in, Views out, const Options& options) = 0;
    /// What was computed: "sum", "sqrt".
    virtual std::string title() const = 0;
};

/// Can process its inputs in segments.
class Pipelined {
  public:
    virtual PipelineRun run_pipeline(const PipelineDevices& devices,
                                     std::span<const PipelineSource* const> in, PipelineSink& out,
                                     const PipelineOptions& options) = 0;

  protected:
    ~Pipelined() = default;
};

/// How the elements of a file are spread over ranks.
struct Spread {
    bool whole =
        false;  ///< every rank has all of them, and the first one writes them; else parts, as part_of() cuts
    u64 granule = 1;  ///< of which each begins at a multiple
};

/// Can run on ranks, each with its part of inputs and outputs.
class OverRanks {
  public:
    virtual Spread spread_input(std::size_t /*input*/) const { return {}; }
    virtual Spread spread_output() const { return {}; }
    /// Collective. The views are those of RunTask::call(), of this rank's parts.
    virtual Enqueued call_ranks(Communicator& ranks, Stream& stream, Views in, Views out,
                                const Options& options) = 0;

  protected:
    ~OverRanks() = default;
};

/// What work on boxes tells of itself: the same on all ranks. Times are milliseconds, of the slowest one.
struct BoxesRun {
    std::string variant;
    double compile = 0, upload = 0, kernel = 0, download = 0, total = 0;
    std::string cut;              ///< "2 x 1": how the volume is cut
    u64 messages = 0, bytes = 0;  ///< that a step sends, of all ranks
};

/// Can run on ranks, each on a box of a volume that it reads from the files and writes itself.
class OverBoxes {
  public:
    /// Whether an option asks for boxes where there is one device.
    virtual bool asks_for_boxes() const = 0;
    /// Throws if so many ranks cannot share the work.
    virtual void check_boxes(u32 ranks, const Options& options) const = 0;
    /// Collective; the output file is complete then.
    virtual BoxesRun run_boxes(Communicator& ranks, Stream& stream, Inputs inputs, const std::string& out,
                               const Options& options) = 0;

  protected:
    ~OverBoxes() = default;
};

/// Has options that generate the first input.
class GeneratesInput {
  public:
    /// What takes the place of the first of --in; null: nothing. Throws invalid_argument.
    virtual std::unique_ptr<InputArray> generated() const = 0;

  protected:
    ~GeneratesInput() = default;
};

/// Has options that name more inputs.
class NamesInputs {
  public:
    /// Their files, which follow those of --in.
    virtual std::vector<std::string> more_inputs() const = 0;

  protected:
    ~NamesInputs() = default;
};

/// May compile source code of the user's: `auto` is then a device that compiles at run time, and source that does not
/// compile is the user's mistake.
class TakesText {
  public:
    virtual bool has_text() const = 0;

  protected:
    ~TakesText() = default;
};

/// The task as one of these interfaces; null if it has it not.
template <class Capability>
Capability* as(RunTask& task) {
    return dynamic_cast<Capability*>(&task);
}
template <class Capability>
const Capability* as(const RunTask& task) {
    return dynamic_cast<const Capability*>(&task);
}

/// A subcommand of `concord run`.
struct RunCommand {
    std::string_view name, summary, example;
    std::size_t inputs = 1;  ///< of --in, and generated
    std::unique_ptr<RunTask> (*make)() = nullptr;
};

template <class Task>
std::unique_ptr<RunTask> make_task() {
    return std::make_unique<Task>();
}

/// Those of all algorithms.
std::vector<RunCommand> run_commands();

/// The names of those whose tasks have one of the capabilities.
template <class... Capability>
std::vector<std::string> commands_with() {
    std::vector<std::string> names;
    for (const RunCommand& command : run_commands()) {
        const auto task = command.make();
        if (((as<Capability>(*task) != nullptr) || ...)) names.emplace_back(command.name);
    }
    return names;
}

/// Whether all of the text is a number of that type, which it is put into.
template <class N>
bool is_whole(const std::string& text, N& number) {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && at == end;
}

/// The names of enumerators, for options that take one.
template <class E, std::size_t N>
std::vector<std::string> names_of(const E (&values)[N]) {
    std::vector<std::string> names;
    for (const E value : values)
        names.emplace_back(name_of(value));
    return names;
}

}  // namespace concord::app
