// `concord run reduce_by_key`.

#include "run.hpp"

#include <concord/reduce_by_key.hpp>

namespace concord::app {
namespace {

class RunReduceByKey final : public RunTask, public NamesInputs {
  public:
    void add_options(CLI::App& command) override {
        command
            .add_option("--values", values_, "Values to combine: a .npy file with one value per key of --in")
            ->type_name("FILE")
            ->required();
        command
            .add_option("--out-values", out_values_,
                        "Output file of the results: the combined values of each run (.npy)")
            ->type_name("FILE")
            ->required();
        command.add_option("--op", op_, "Operator that combines values (default: sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
    }
    std::vector<NamedInput> more_inputs() const override { return {{"--values", values_}}; }
    RunPlan plan(Inputs inputs) override {
        const InputArray &keys = *inputs[0], &values = *inputs[1];
        check_one_dimension("--in", keys);
        check_one_dimension("--values", values);
        if (keys.count() != values.count())
            throw Error(ErrorCode::invalid_argument, "run reduce_by_key",
                        keys.name() + " has " + std::to_string(keys.count()) + " keys, " + values.name() +
                            " has " + std::to_string(values.count()) + " values; pass one value per key");
        if (is_boolean(values.type()))
            throw Error(ErrorCode::invalid_argument, "--values",
                        values.name() + " has type bool; pass integers or floats");
        return {.output = {keys.type(), keys.shape()},
                .second = RunPlan::Second{out_values_, {values.type(), values.shape()}},
                .counted = true};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return reduce_by_key(stream, in[0], in[1], out[0], out[1], out[2], *reduce_op_named(op_), options);
    }
    std::string title() const override { return op_; }

  private:
    std::string values_, out_values_, op_ = "sum";
};

}  // namespace

RunCommand run_reduce_by_key() {
    return {.name = "reduce_by_key",
            .summary = "Combine the values of each run of equal keys",
            .example =
                "concord run reduce_by_key --in keys.npy --values x.npy --out key_of_run.npy "
                "--out-values sums.npy",
            .make = make_task<RunReduceByKey>};
}

}  // namespace concord::app
