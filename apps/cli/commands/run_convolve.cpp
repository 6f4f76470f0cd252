// `concord run convolve`.

#include "run.hpp"

#include <concord/convolve.hpp>

namespace concord::app {
namespace {

class RunConvolve final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command
            .add_option(
                "--border", border_,
                "Value of cells outside the image: zero, or that of the nearest cell inside (default: zero)")
            ->check(CLI::IsMember(names_of(all_convolve_borders)));
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray &image = *inputs[0], &mask = *inputs[1];
        for (const auto& input : inputs) {
            if (input->shape().size() != 2)
                refuse(*input, "must have two dimensions, got shape " + shape_name(input->shape()));
        }
        if (image.type() != Type::u8 && !is_float(image.type()))
            refuse(image, "must be u8, f32 or f64, got " + std::string(name_of(image.type())));
        const Type type = image.type() == Type::u8 ? Type::f32 : image.type();
        if (mask.type() != type)
            refuse(mask, "must be " + std::string(name_of(type)) + " for an image of " +
                             std::string(name_of(image.type())) + ", got " +
                             std::string(name_of(mask.type())));
        for (const u64 side : mask.shape()) {
            if (side % 2 == 0 || side > convolve_longest_side)
                refuse(mask, "must have odd sides from 1 to " + std::to_string(convolve_longest_side) +
                                 ", got shape " + shape_name(mask.shape()));
        }
        values_ = mask.elements();
        mask_ = ConvolveMask(values_.data(), mask.shape()[0], mask.shape()[1], type);
        rows_ = image.shape()[0], columns_ = image.shape()[1];
        return {{type, image.shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return convolve(stream, MatrixView{in[0], rows_, columns_}, mask_,
                        MatrixView{out[0], rows_, columns_}, *convolve_border_named(border_), options);
    }
    std::string title() const override {
        return std::to_string(mask_.rows) + " x " + std::to_string(mask_.columns) + ", " + border_;
    }

  private:
    [[noreturn]] static void refuse(const InputArray& file, const std::string& why) {
        throw Error(ErrorCode::invalid_argument, "run convolve", file.name() + " " + why);
    }

    std::string border_ = "zero";
    std::vector<std::byte> values_;
    ConvolveMask mask_;
    u64 rows_ = 0, columns_ = 0;
};

}  // namespace

RunCommand run_convolve() {
    return {.name = "convolve",
            .summary = "Convolve an image with a small mask",
            .example = "concord run convolve --in image.npy --in mask.npy --border clamp --out filtered.npy",
            .inputs = 2,
            .make = make_task<RunConvolve>};
}

}  // namespace concord::app
