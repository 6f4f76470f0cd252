// `concord run scan_by_key`.

#include "run.hpp"

#include <concord/scan_by_key.hpp>

namespace concord::app {
namespace {

class RunScanByKey final : public RunTask, public NamesInputs {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--values", values_, "Values to scan: a .npy file with one value per key of --in")
            ->type_name("FILE")
            ->required();
        command.add_option("--op", op_, "Operator that combines values (default: sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
        command.add_flag("--exclusive", exclusive_,
                         "Exclude the value itself; the first result of a run is the identity");
    }
    std::vector<NamedInput> more_inputs() const override { return {{"--values", values_}}; }
    RunPlan plan(Inputs inputs) override {
        const InputArray &keys = *inputs[0], &values = *inputs[1];
        check_one_dimension("--in", keys);
        check_one_dimension("--values", values);
        if (keys.count() != values.count())
            throw Error(ErrorCode::invalid_argument, "run scan_by_key",
                        keys.name() + " has " + std::to_string(keys.count()) + " keys, " + values.name() +
                            " has " + std::to_string(values.count()) + " values; pass one value per key");
        if (is_boolean(values.type()))
            throw Error(ErrorCode::invalid_argument, "--values",
                        values.name() + " has type bool; pass integers or floats");
        return {{values.type(), values.shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return scan_by_key(stream, in[0], in[1], out[0], *reduce_op_named(op_),
                           exclusive_ ? ScanKind::exclusive : ScanKind::inclusive, options);
    }
    std::string title() const override { return (exclusive_ ? "exclusive " : "inclusive ") + op_; }

  private:
    std::string values_, op_ = "sum";
    bool exclusive_ = false;
};

}  // namespace

RunCommand run_scan_by_key() {
    return {.name = "scan_by_key",
            .summary = "Scan the values of each run of equal keys",
            .example = "concord run scan_by_key --in keys.npy --values x.npy --out sums.npy",
            .make = make_task<RunScanByKey>};
}

}  // namespace concord::app
