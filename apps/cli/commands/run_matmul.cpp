// `concord run matmul`.

#include "run.hpp"

#include <concord/matmul.hpp>

namespace concord::app {
namespace {

class RunMatmul final : public RunTask {
  public:
    RunPlan plan(Inputs inputs) override {
        auto refuse = [](const std::string& why) {
            throw Error(ErrorCode::invalid_argument, "run matmul", why);
        };
        const InputArray &a = *inputs[0], &b = *inputs[1];
        for (const InputArray* file : {&a, &b}) {
            const std::string path = file->name();
            if (file->shape().size() != 2)
                refuse(path + " must have two dimensions, got shape " + shape_name(file->shape()));
            if (!is_float(file->type()))
                refuse(path + " must be f32 or f64, got " + std::string(name_of(file->type())));
        }
        auto describe = [](const InputArray& file) {
            return file.name() + " of " + std::string(name_of(file.type())) + " " + shape_name(file.shape());
        };
        if (a.type() != b.type())
            refuse("inputs must have one type, got " + describe(a) + " and " + describe(b));
        if (a.shape()[1] != b.shape()[0])
            refuse("shapes do not match, got " + describe(a) + " and " + describe(b) +
                   "; the first input needs as many columns as the second has rows");
        m_ = a.shape()[0], n_ = b.shape()[1], k_ = a.shape()[1];
        return {{a.type(), {m_, n_}}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return matmul(stream, MatrixView{in[0], m_, k_}, MatrixView{in[1], k_, n_},
                      MatrixView{out[0], m_, n_}, {}, options);
    }
    std::string title() const override {
        return std::to_string(m_) + " x " + std::to_string(n_) + " x " + std::to_string(k_);
    }

  private:
    u64 m_ = 0, n_ = 0, k_ = 0;
};

}  // namespace

RunCommand run_matmul() {
    return {.name = "matmul",
            .summary = "Multiply two matrices",
            .example = "concord run matmul --in a.npy --in b.npy --out product.npy",
            .inputs = 2,
            .make = make_task<RunMatmul>};
}

}  // namespace concord::app
