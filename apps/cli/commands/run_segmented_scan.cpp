// `concord run segmented_scan`.

#include "offsets_option.hpp"

#include <concord/segmented_scan.hpp>

namespace concord::app {
namespace {

class RunSegmentedScan final : public RunTask, public NamesInputs {
  public:
    void add_options(CLI::App& command) override {
        offsets_.add(command);
        command.add_option("--op", op_, "Operator that combines elements (default: sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
        command.add_flag("--exclusive", exclusive_,
                         "Exclude the element itself; the first result of a segment is the identity");
    }
    std::vector<NamedInput> more_inputs() const override { return {offsets_.input()}; }
    RunPlan plan(Inputs inputs) override {
        offsets_.check(*inputs[0], *inputs[1], OffsetsOption::Others::refused);
        return {{inputs[0]->type(), inputs[0]->shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return segmented_scan(stream, in[0], in[1], out[0], *reduce_op_named(op_),
                              exclusive_ ? ScanKind::exclusive : ScanKind::inclusive, options);
    }
    std::string title() const override { return (exclusive_ ? "exclusive " : "inclusive ") + op_; }

  private:
    OffsetsOption offsets_;
    std::string op_ = "sum";
    bool exclusive_ = false;
};

}  // namespace

RunCommand run_segmented_scan() {
    return {.name = "segmented_scan",
            .summary = "Scan each segment",
            .example = "concord run segmented_scan --offsets o.npy --in x.npy --out sums.npy",
            .make = make_task<RunSegmentedScan>};
}

}  // namespace concord::app
