// `concord run segmented_reduce`.

#include "offsets_option.hpp"

#include <concord/segmented_reduce.hpp>

namespace concord::app {
namespace {

class RunSegmentedReduce final : public RunTask, public NamesInputs {
  public:
    void add_options(CLI::App& command) override {
        offsets_.add(command);
        command.add_option("--op", op_, "Operator that combines elements (default: sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
    }
    std::vector<NamedInput> more_inputs() const override { return {offsets_.input()}; }
    RunPlan plan(Inputs inputs) override {
        offsets_.check(*inputs[0], *inputs[1]);
        return {{inputs[0]->type(), {inputs[1]->count() - 1}}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return segmented_reduce(stream, in[0], in[1], out[0], *reduce_op_named(op_), options);
    }
    std::string title() const override { return op_; }

  private:
    OffsetsOption offsets_;
    std::string op_ = "sum";
};

}  // namespace

RunCommand run_segmented_reduce() {
    return {.name = "segmented_reduce",
            .summary = "Combine the elements of each segment",
            .example = "concord run segmented_reduce --offsets o.npy --in x.npy --out sums.npy",
            .make = make_task<RunSegmentedReduce>};
}

}  // namespace concord::app
