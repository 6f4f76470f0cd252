#pragma once
/// `concord run`: what an algorithm adds to be run on files. A new algorithm is a class and a line in
/// run_algorithms.cpp.

#include "npy.hpp"
#include "program.hpp"

#include <concord/communicator.hpp>
#include <concord/pipeline.hpp>

#include <charconv>
#include <memory>
#include <span>
#include <string>

namespace concord::app {

/// What work on boxes tells of itself: the same on all ranks. Times are milliseconds, of the slowest one.
struct BoxesRun {
    std::string variant;
    double compile = 0, upload = 0, kernel = 0, download = 0, total = 0;
    std::string cut;              ///< "2 x 1": how the volume is cut
    u64 messages = 0, bytes = 0;  ///< that a step sends, of all ranks
};

/// How the elements of a file are spread over ranks.
struct Spread {
    bool whole =
        false;  ///< every rank has all of them, and the first one writes them; else parts, as part_of() cuts
    u64 granule = 1;  ///< of which each begins at a multiple
};

using Inputs = std::span<const std::unique_ptr<InputArray>>;

/// One algorithm with its own options.
class RunTask {
  public:
    virtual ~RunTask() = default;
    virtual void add_options(CLI::App& /*command*/) {}
    virtual std::size_t input_count() const { return 1; }
    /// Reads the options and looks at the inputs; throws invalid_argument if they do not fit. Returns the
    /// output's type and shape; `data` and `count` are not looked at.
    virtual NpyHeader plan(Inputs inputs) = 0;
    virtual Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                          const Options& options) = 0;
    /// Whether the output's length depends on the data: plan() then gives the most that it may be, and call_counted()
    /// is called, which leaves the length in `count`, one u64 on the device. Such an output is 1-D.
    virtual bool is_counted() const { return false; }
    virtual Enqueued call_counted(Stream& stream, std::span<const View> in, const View& out,
                                  const View& /*count*/, const Options& options) {
        return call(stream, in, out, options);
    }
    /// Whether it can be done by segments, by run_pipeline() then.
    virtual bool has_pipeline() const { return false; }
    virtual PipelineRun run_pipeline(const PipelineDevices& /*devices*/,
                                     std::span<const PipelineSource* const> /*in*/, PipelineSink& /*out*/,
                                     const PipelineOptions& /*options*/) {
        return {};
    }
    /// Whether ranks can do it, each on a box of a volume that it reads from the files and writes itself, by run_boxes() then,
    /// which is collective; the output file is complete then. Whether an option asks for that where there is one device.
    /// check_boxes() throws where so many ranks cannot.
    virtual bool has_boxes() const { return false; }
    virtual bool asks_for_boxes() const { return false; }
    virtual void check_boxes(u32 /*ranks*/, const Options& /*options*/) const {}
    virtual BoxesRun run_boxes(Communicator& /*ranks*/, Stream& /*stream*/, Inputs /*inputs*/,
                               const std::string& /*out*/, const Options& /*options*/) {
        return {};
    }
    /// Whether ranks can do it together, by call_ranks() then, each with its part of inputs and outputs; `second` is empty
    /// where there is no second output. The spreads are asked for after plan().
    virtual bool has_ranks() const { return false; }
    virtual Spread spread_input(std::size_t /*input*/) const { return {}; }
    virtual Spread spread_output() const { return {}; }
    virtual Enqueued call_ranks(Communicator& /*ranks*/, Stream& stream, std::span<const View> in,
                                const View& out, const View& /*second*/, const Options& options) {
        return call(stream, in, out, options);
    }
    /// What the task's own options generate instead of the first of --in; null: nothing. Throws invalid_argument.
    virtual std::unique_ptr<InputArray> generated() const { return nullptr; }
    /// Files of inputs that the task's own options name, behind those of --in.
    virtual std::vector<std::string> more_inputs() const { return {}; }
    /// The file of a second output, and the option that names it; empty: there is none. plan_second() gives that output's
    /// type and shape, and call_two() is called.
    virtual std::string second_output() const { return {}; }
    virtual NpyHeader plan_second(Inputs inputs) { return plan(inputs); }
    virtual Enqueued call_two(Stream& stream, std::span<const View> in, const View& out,
                              const View& /*second*/, const Options& options) {
        return call(stream, in, out, options);
    }
    /// Whether kernels hold text of the user's, so that one that does not compile is the user's mistake.
    virtual bool has_user_text() const { return false; }
    /// Where `auto` is to run it, which is any device by default.
    virtual bool runs_on(const Device& /*device*/) const { return true; }
    /// What was computed: "sum", "sqrt".
    virtual std::string title() const { return {}; }
};

struct RunTaskRow {
    const char* name;
    const char* description;
    const char* example;
    std::unique_ptr<RunTask> (*make)();
};

/// Whether all of the text is a number of that type, which it is put into.
template <class N>
bool is_whole(const std::string& text, N& number) {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && at == end;
}

/// The stencil's, which is a file of its own.
std::unique_ptr<RunTask> make_run_stencil();

/// All that `concord run` knows.
std::span<const RunTaskRow> run_tasks();

}  // namespace concord::app
