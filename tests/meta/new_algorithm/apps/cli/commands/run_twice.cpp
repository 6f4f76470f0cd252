// `concord run twice`.

#include "run.hpp"

#include <concord/twice.hpp>

namespace concord::app {
namespace {

class RunTwice final : public RunTask {
  public:
    RunPlan plan(Inputs inputs) override { return {{inputs[0]->type(), inputs[0]->shape()}}; }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return twice(stream, in[0], out[0], options);
    }
    std::string title() const override { return "twice"; }
};

}  // namespace

RunCommand run_twice() {
    return {.name = "twice",
            .summary = "Double every element",
            .example = "concord run twice --in x.npy --out y.npy",
            .make = make_task<RunTwice>};
}

}  // namespace concord::app
