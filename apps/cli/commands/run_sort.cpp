// `concord run sort`.

#include "axis_option.hpp"
#include "sort_option.hpp"

#include <concord/distributed.hpp>
#include <concord/sort_axes.hpp>

namespace concord::app {
namespace {

class RunSort final : public RunTask, public OverRanks, public NamesInputs {
  public:
    void add_options(CLI::App& command) override {
        order_.add(command);
        auto* values = command
                           .add_option("--values", values_,
                                       "Values to move with their keys: a .npy file of the same shape")
                           ->type_name("FILE");
        auto* out = command.add_option("--out-values", out_values_, "Output file of the values (.npy)")
                        ->type_name("FILE");
        values->needs(out);
        out->needs(values);
        command
            .add_option(
                "--out-indices", out_indices_,
                "Output file of the stable order of the elements: the index of each in the input, u64 (.npy)")
            ->type_name("FILE")
            ->excludes(values);
        axis_.add(command,
                  "Axis to sort along, each line on its own; from the front, or, negative, from the back "
                  "(default: the input must have one dimension)");
    }
    std::vector<NamedInput> more_inputs() const override {
        return values_.empty() ? std::vector<NamedInput>{} : std::vector{NamedInput{"--values", values_}};
    }
    RunPlan plan(Inputs inputs) override {
        if (axis_) {
            along_ = axis_.of(*inputs[0]);
            extents_ = NdExtents(std::span<const u64>(inputs[0]->shape()));
        }
        for (const auto& input : inputs) {
            if (axis_ && input->shape() != inputs[0]->shape())
                throw Error(ErrorCode::invalid_argument, "run sort",
                            inputs[0]->name() + " has keys of shape " + shape_name(inputs[0]->shape()) +
                                ", " + input->name() + " has values of shape " + shape_name(input->shape()) +
                                "; pass one value per key");
            if (!axis_ && input->shape().size() != 1)
                throw Error(ErrorCode::invalid_argument, "run sort",
                            input->name() + " must have one dimension, got shape " +
                                shape_name(input->shape()) + "; use --axis to sort along a dimension");
            if (input->count() != inputs[0]->count())
                throw Error(ErrorCode::invalid_argument, "run sort",
                            inputs[0]->name() + " has " + std::to_string(inputs[0]->count()) + " keys, " +
                                input->name() + " has " + std::to_string(input->count()) +
                                " values; pass one value per key");
        }
        RunPlan plan{{inputs[0]->type(), inputs[0]->shape()}};
        if (!out_values_.empty()) plan.second = {out_values_, {inputs[1]->type(), inputs[1]->shape()}};
        if (!out_indices_.empty()) plan.second = {out_indices_, {Type::u64, inputs[0]->shape()}};
        return plan;
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        if (axis_) {
            const NdView keys(in[0], extents_), sorted(out[0], extents_);
            if (!out_indices_.empty()) argsort(stream, keys, NdView(out[1], extents_), along_, by());
            if (values_.empty()) return sort(stream, keys, sorted, along_, by(), options);
            return sort_pairs(stream, keys, NdView(in[1], extents_), sorted, NdView(out[1], extents_), along_,
                              by(), options);
        }
        if (!out_indices_.empty()) argsort(stream, in[0], out[1], by());
        if (values_.empty()) return sort(stream, in[0], out[0], by(), options);
        return sort_pairs(stream, in[0], in[1], out[0], out[1], by(), options);
    }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, Views in, Views out,
                        const Options& options) override {
        axis_.check_absent("ranks");
        if (!out_indices_.empty())
            throw Error(ErrorCode::unsupported, "--out-indices",
                        "not supported in ranks; use one device whose memory holds the data");
        if (values_.empty()) return distributed_sort(ranks, stream, in[0], out[0], by(), options);
        return distributed_sort_pairs(ranks, stream, in[0], in[1], out[0], out[1], by(), options);
    }
    std::string title() const override { return (values_.empty() ? "keys" : "pairs") + order_.title(); }

  private:
    SortBy by() const { return order_.by(); }
    SortOption order_;
    std::string values_, out_values_, out_indices_;
    AxisOption axis_;
    i64 along_ = 0;
    NdExtents extents_;
};

}  // namespace

RunCommand run_sort() {
    return {.name = "sort",
            .summary = "Sort elements; floats by IEEE 754 totalOrder, or with NaN last",
            .example =
                "concord run sort --in keys.npy --out sorted.npy --values x.npy --out-values y.npy\n"
                "concord run sort --axis 0 --in table.npy --out sorted.npy",
            .make = make_task<RunSort>};
}

}  // namespace concord::app
