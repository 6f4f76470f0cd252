// `concord run transpose`.

#include "run.hpp"

#include <concord/transpose.hpp>

namespace concord::app {
namespace {

class RunTranspose final : public RunTask {
  public:
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (in.shape().size() != 2)
            throw Error(ErrorCode::invalid_argument, "run transpose",
                        in.name() + " must have two dimensions, got shape " + shape_name(in.shape()));
        shape_ = {in.shape()[0], in.shape()[1]};
        return {{in.type(), {shape_.columns, shape_.rows}}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return transpose(stream, in[0], out[0], shape_, options);
    }
    std::string title() const override {
        return std::to_string(shape_.rows) + " x " + std::to_string(shape_.columns);
    }

  private:
    TransposeShape shape_;
};

}  // namespace

RunCommand run_transpose() {
    return {.name = "transpose",
            .summary = "Transpose a matrix",
            .example = "concord run transpose --in matrix.npy --out transposed.npy",
            .make = make_task<RunTranspose>};
}

}  // namespace concord::app
