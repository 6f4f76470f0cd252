// `concord run map`.

#include "run.hpp"

#include <concord/map.hpp>

#include <optional>

namespace concord::app {
namespace {

class RunMap final : public RunTask, public Pipelined, public TakesText {
  public:
    void add_options(CLI::App& command) override {
        auto* function =
            command.add_option("--function", function_, "Function to apply to every element (default: copy)")
                ->check(CLI::IsMember(names_of(all_map_functions)));
        command
            .add_option("--text", text_,
                        "Source of a user function, e.g. 'float f(float x) { return x * x; }'; "
                        "unsupported on tbb")
            ->excludes(function);
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (has_text()) op_ = operator_of_option(*text_);
        return {{op_ ? op_->result : in.type(), in.shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return op_ ? map(stream, in[0], out[0], *op_, options)
                   : map(stream, in[0], out[0], *map_function_named(function_), options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return op_ ? pipeline_map(devices, *in[0], out, *op_, options)
                   : pipeline_map(devices, *in[0], out, *map_function_named(function_), options);
    }
    const std::optional<std::string>& text() const override { return text_; }
    std::string title() const override { return op_ ? op_->name : function_; }

  private:
    // The library names its own function.
    static Operator operator_of_option(const std::string& text) try {
        return operator_from_text(text);
    } catch (const Error& error) {
        throw Error(error.code(), "--text", message_of(error));
    }

    std::string function_ = "copy";
    std::optional<std::string> text_;
    std::optional<Operator> op_;
};

}  // namespace

RunCommand run_map() {
    return {.name = "map",
            .summary = "Apply a function to every element",
            .example = "concord run map --function sqrt --in x.npy --out y.npy",
            .make = make_task<RunMap>};
}

}  // namespace concord::app
