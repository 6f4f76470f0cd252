// `concord run reduce`.

#include "run.hpp"

#include <concord/distributed.hpp>
#include <concord/reduce.hpp>

namespace concord::app {
namespace {

class RunReduce final : public RunTask, public Pipelined, public OverRanks {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--op", op_, "Operator that combines elements (default: sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
    }
    RunPlan plan(Inputs inputs) override { return {{inputs[0]->type(), {}}}; }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return reduce(stream, in[0], out[0], *reduce_op_named(op_), options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_reduce(devices, *in[0], out, *reduce_op_named(op_), options);
    }
    Spread spread_output() const override { return {.whole = true}; }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, Views in, Views out,
                        const Options& options) override {
        return distributed_reduce(ranks, stream, in[0], out[0], *reduce_op_named(op_), options);
    }
    std::string title() const override { return op_; }

  private:
    std::string op_ = "sum";
};

}  // namespace

RunCommand run_reduce() {
    return {.name = "reduce",
            .summary = "Combine all elements into one",
            .example = "concord run reduce --op max --in x.npy --out max.npy --device tbb",
            .make = make_task<RunReduce>};
}

}  // namespace concord::app
