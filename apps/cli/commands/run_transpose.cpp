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
        rows_ = in.shape()[0], columns_ = in.shape()[1];
        return {{in.type(), {columns_, rows_}}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return transpose(stream, MatrixView{in[0], rows_, columns_}, MatrixView{out[0], columns_, rows_},
                         options);
    }
    std::string title() const override { return std::to_string(rows_) + " x " + std::to_string(columns_); }

  private:
    u64 rows_ = 0, columns_ = 0;
};

}  // namespace

RunCommand run_transpose() {
    return {.name = "transpose",
            .summary = "Transpose a matrix",
            .example = "concord run transpose --in matrix.npy --out transposed.npy",
            .make = make_task<RunTranspose>};
}

}  // namespace concord::app
