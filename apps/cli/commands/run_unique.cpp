// `concord run unique`.

#include "run.hpp"

#include <concord/unique.hpp>

namespace concord::app {
namespace {

class RunUnique final : public RunTask {
  public:
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        check_one_dimension("--in", in);
        return {.output = {in.type(), in.shape()}, .counted = true};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return unique(stream, in[0], out[0], out[1], options);
    }
    std::string title() const override { return "runs"; }
};

}  // namespace

RunCommand run_unique() {
    return {.name = "unique",
            .summary = "Keep the first element of each run of equal neighbours",
            .example = "concord run unique --in sorted.npy --out values.npy",
            .make = make_task<RunUnique>};
}

}  // namespace concord::app
