// `concord run run_length_encode`.

#include "run.hpp"

#include <concord/run_length_encode.hpp>

namespace concord::app {
namespace {

class RunRunLengthEncode final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command
            .add_option("--out-values", lengths_,
                        "Output file of the lengths: the number of elements of each run, u64 (.npy)")
            ->type_name("FILE")
            ->required();
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        check_one_dimension("--in", in);
        return {.output = {in.type(), in.shape()},
                .second = RunPlan::Second{lengths_, {Type::u64, in.shape()}},
                .counted = true};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return run_length_encode(stream, in[0], out[0], out[1], out[2], options);
    }
    std::string title() const override { return "runs"; }

  private:
    std::string lengths_;
};

}  // namespace

RunCommand run_run_length_encode() {
    return {.name = "run_length_encode",
            .summary = "Store the first element and the length of each run of equal neighbours",
            .example = "concord run run_length_encode --in x.npy --out values.npy --out-values lengths.npy",
            .make = make_task<RunRunLengthEncode>};
}

}  // namespace concord::app
