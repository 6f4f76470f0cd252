// `concord run scan`.

#include "run.hpp"

#include <concord/distributed.hpp>
#include <concord/scan.hpp>

namespace concord::app {
namespace {

class RunScan final : public RunTask, public Pipelined, public OverRanks {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--op", op_, "Operator that combines elements (default: sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
        command.add_flag("--exclusive", exclusive_,
                         "Exclude the element itself; the first result is the identity");
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (in.shape().size() != 1)
            throw Error(ErrorCode::invalid_argument, "run scan",
                        "the input must have one dimension, got " + in.name() + " of shape " +
                            shape_name(in.shape()));
        return {{in.type(), in.shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return scan(stream, in[0], out[0], *reduce_op_named(op_),
                    exclusive_ ? ScanKind::exclusive : ScanKind::inclusive, options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_scan(devices, *in[0], out, *reduce_op_named(op_),
                             exclusive_ ? ScanKind::exclusive : ScanKind::inclusive, options);
    }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, Views in, Views out,
                        const Options& options) override {
        return distributed_scan(ranks, stream, in[0], out[0], *reduce_op_named(op_),
                                exclusive_ ? ScanKind::exclusive : ScanKind::inclusive, options);
    }
    std::string title() const override { return (exclusive_ ? "exclusive " : "inclusive ") + op_; }

  private:
    std::string op_ = "sum";
    bool exclusive_ = false;
};

}  // namespace

RunCommand run_scan() {
    return {.name = "scan",
            .summary = "Combine every element with all elements before it",
            .example = "concord run scan --op sum --exclusive --in x.npy --out y.npy",
            .make = make_task<RunScan>};
}

}  // namespace concord::app
