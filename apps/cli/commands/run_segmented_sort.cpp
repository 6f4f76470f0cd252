// `concord run segmented_sort`.

#include "offsets_option.hpp"
#include "sort_option.hpp"

#include <concord/segmented_sort.hpp>

namespace concord::app {
namespace {

class RunSegmentedSort final : public RunTask, public NamesInputs {
  public:
    void add_options(CLI::App& command) override {
        offsets_.add(command);
        order_.add(command);
        auto* values =
            command
                .add_option("--values", values_,
                            "Values to move with their keys: a .npy file with one value per key of --in")
                ->type_name("FILE");
        auto* out = command.add_option("--out-values", out_values_, "Output file of the values (.npy)")
                        ->type_name("FILE");
        values->needs(out);
        out->needs(values);
    }
    std::vector<NamedInput> more_inputs() const override {
        std::vector<NamedInput> inputs{offsets_.input()};
        if (!values_.empty()) inputs.push_back({"--values", values_});
        return inputs;
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& keys = *inputs[0];
        offsets_.check(keys, *inputs[1], OffsetsOption::Others::refused);
        RunPlan plan{{keys.type(), keys.shape()}};
        if (values_.empty()) return plan;
        const InputArray& values = *inputs[2];
        check_one_dimension("--values", values);
        if (values.count() != keys.count())
            throw Error(ErrorCode::invalid_argument, "run segmented_sort",
                        keys.name() + " has " + std::to_string(keys.count()) + " keys, " + values.name() +
                            " has " + std::to_string(values.count()) + " values; pass one value per key");
        plan.second = {out_values_, {values.type(), values.shape()}};
        return plan;
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        if (values_.empty()) return segmented_sort(stream, in[0], in[1], out[0], order_.by(), options);
        return segmented_sort_pairs(stream, in[0], in[2], in[1], out[0], out[1], order_.by(), options);
    }
    std::string title() const override { return (values_.empty() ? "keys" : "pairs") + order_.title(); }

  private:
    OffsetsOption offsets_;
    SortOption order_;
    std::string values_, out_values_;
};

}  // namespace

RunCommand run_segmented_sort() {
    return {.name = "segmented_sort",
            .summary = "Sort the elements of each segment",
            .example = "concord run segmented_sort --offsets o.npy --in x.npy --out sorted.npy",
            .make = make_task<RunSegmentedSort>};
}

}  // namespace concord::app
