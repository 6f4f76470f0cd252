// `concord run add`.

#include "run.hpp"

#include <concord/add.hpp>

namespace concord::app {
namespace {

class RunAdd final : public RunTask, public Pipelined {
  public:
    RunPlan plan(Inputs inputs) override {
        const InputArray &a = *inputs[0], &b = *inputs[1];
        auto describe = [](const InputArray& file) {
            return file.name() + " is " + std::string(name_of(file.type())) + " " + shape_name(file.shape());
        };
        if (a.type() != b.type() || a.shape() != b.shape())
            throw Error(
                ErrorCode::invalid_argument, "run add",
                "the inputs must have the same type and shape, got " + describe(a) + " and " + describe(b));
        return {{a.type(), a.shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return add(stream, in[0], in[1], out[0], options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_add(devices, *in[0], *in[1], out, options);
    }
    std::string title() const override { return "sum"; }
};

}  // namespace

RunCommand run_add() {
    return {.name = "add",
            .summary = "Add two arrays of one shape and type",
            .example = "concord run add --in a.npy --in b.npy --out sum.npy",
            .inputs = 2,
            .make = make_task<RunAdd>};
}

}  // namespace concord::app
