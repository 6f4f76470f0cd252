// `concord run compact`.

#include "run.hpp"

#include <concord/compact.hpp>

#include <charconv>

namespace concord::app {
namespace {

class RunCompact final : public RunTask, public Pipelined {
  public:
    void add_options(CLI::App& command) override {
        command
            .add_option(
                "--keep", text_,
                "What is kept: even, odd (integers), nonzero, positive, greater:X or less:X (nonzero)")
            ->type_name("RULE");
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (in.shape().size() != 1)
            throw Error(ErrorCode::invalid_argument, "run compact",
                        in.name() + " is " + shape_name(in.shape()) + ", compact takes one dimension");
        keep_ = parse(in.type(), in.name());
        return {.output = {in.type(), in.shape()}, .counted = true};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return compact(stream, in[0], out[0], out[1], keep_, options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_compact(devices, *in[0], out, keep_, options);
    }
    std::string title() const override { return text_; }

  private:
    // A rule, and after a colon its operand in the input's type.
    Keep parse(Type type, const std::string& file) const {
        auto refuse = [&](const std::string& why) {
            throw Error(ErrorCode::invalid_argument, "--keep", "'" + text_ + "': " + why);
        };
        const std::size_t colon = text_.find(':');
        const std::string name = text_.substr(0, colon);
        const auto rule = keep_rule_named(name);
        if (!rule) refuse("there are even, odd, nonzero, positive, greater:X, less:X");
        if (has_operand(*rule) != (colon != std::string::npos))
            refuse(name +
                   (has_operand(*rule) ? " compares with a number, " + name + ":X" : " takes no number"));
        if (is_float(type) && (*rule == KeepRule::even || *rule == KeepRule::odd))
            refuse("it is for integers, " + file + " is " + std::string(name_of(type)));
        if (!has_operand(*rule)) return *rule;
        const std::string_view digits = std::string_view(text_).substr(colon + 1);
        return detail::visit_type(type, [&](auto tag) {
            typename decltype(tag)::type x{};
            const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
            if (error != std::errc() || end != digits.data() + digits.size())
                refuse("'" + std::string(digits) + "' is no " + std::string(name_of(type)) + ", which " +
                       file + " is of");
            return Keep(*rule, x);
        });
    }

    std::string text_ = "nonzero";
    Keep keep_ = KeepRule::nonzero;
};

}  // namespace

RunCommand run_compact() {
    return {.name = "compact",
            .summary = "Keep the elements for which a predicate holds",
            .example = "concord run compact --keep greater:0.5 --in x.npy --out kept.npy",
            .make = make_task<RunCompact>};
}

}  // namespace concord::app
