// `concord run scan`.

#include "axis_option.hpp"

#include <concord/distributed.hpp>
#include <concord/scan.hpp>
#include <concord/scan_axes.hpp>

namespace concord::app {
namespace {

class RunScan final : public RunTask, public Pipelined, public OverRanks {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--op", op_, "Operator that combines elements (default: sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
        command.add_flag("--exclusive", exclusive_,
                         "Exclude the element itself; the first result is the identity");
        axis_.add(command,
                  "Axis to scan along, each line on its own; from the front, or, negative, from the back "
                  "(default: the input must have one dimension)");
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (axis_) {
            along_ = axis_.of(in);
            extents_ = NdExtents(std::span<const u64>(in.shape()));
        } else if (in.shape().size() != 1) {
            throw Error(ErrorCode::invalid_argument, "run scan",
                        "the input must have one dimension, got " + in.name() + " of shape " +
                            shape_name(in.shape()) + "; use --axis to scan along a dimension");
        }
        return {{in.type(), in.shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        const ReduceOp op = *reduce_op_named(op_);
        if (!axis_) return scan(stream, in[0], out[0], op, kind(), options);
        return scan(stream, NdView(in[0], extents_), NdView(out[0], extents_), op, along_, kind(), options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        axis_.check_absent("segments, or on several devices");
        return pipeline_scan(devices, *in[0], out, *reduce_op_named(op_), kind(), options);
    }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, Views in, Views out,
                        const Options& options) override {
        axis_.check_absent("ranks");
        return distributed_scan(ranks, stream, in[0], out[0], *reduce_op_named(op_), kind(), options);
    }
    std::string title() const override { return (exclusive_ ? "exclusive " : "inclusive ") + op_; }

  private:
    ScanKind kind() const { return exclusive_ ? ScanKind::exclusive : ScanKind::inclusive; }

    std::string op_ = "sum";
    bool exclusive_ = false;
    AxisOption axis_;
    i64 along_ = 0;
    NdExtents extents_;
};

}  // namespace

RunCommand run_scan() {
    return {.name = "scan",
            .summary = "Combine every element with all elements before it",
            .example =
                "concord run scan --op sum --exclusive --in x.npy --out y.npy\n"
                "concord run scan --axis 0 --in table.npy --out sums.npy",
            .make = make_task<RunScan>};
}

}  // namespace concord::app
