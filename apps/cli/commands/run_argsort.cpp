// `concord run argsort`.

#include "axis_option.hpp"
#include "sort_option.hpp"

#include <concord/sort_axes.hpp>

namespace concord::app {
namespace {

class RunArgsort final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        order_.add(command);
        axis_.add(command,
                  "Axis to sort along, each line on its own; from the front, or, negative, from the back "
                  "(default: the input must have one dimension)");
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (axis_) {
            along_ = axis_.of(in);
            extents_ = NdExtents(std::span<const u64>(in.shape()));
        } else if (in.shape().size() != 1) {
            throw Error(ErrorCode::invalid_argument, "run argsort",
                        in.name() + " must have one dimension, got shape " + shape_name(in.shape()) +
                            "; use --axis to sort along a dimension");
        }
        return {{Type::u64, in.shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        if (!axis_) return argsort(stream, in[0], out[0], order_.by(), options);
        return argsort(stream, NdView(in[0], extents_), NdView(out[0], extents_), along_, order_.by(),
                       options);
    }
    std::string title() const override { return "indices" + order_.title(); }

  private:
    SortOption order_;
    AxisOption axis_;
    i64 along_ = 0;
    NdExtents extents_;
};

}  // namespace

RunCommand run_argsort() {
    return {.name = "argsort",
            .summary = "Find the stable order of elements, as u64 indices",
            .example =
                "concord run argsort --in keys.npy --out places.npy\n"
                "concord run argsort --axis 0 --nan last --in table.npy --out places.npy",
            .make = make_task<RunArgsort>};
}

}  // namespace concord::app
