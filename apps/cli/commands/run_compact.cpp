// `concord run compact`.

#include "run.hpp"

#include <concord/compact.hpp>

#include <charconv>

namespace concord::app {
namespace {

// The rules as the user types them, with X for an operand.
std::vector<std::string> rules() {
    std::vector<std::string> texts;
    for (const KeepRule rule : all_keep_rules)
        texts.push_back(std::string(name_of(rule)) + (detail::has_operand(rule) ? ":X" : ""));
    return texts;
}

class RunCompact final : public RunTask, public Pipelined {
  public:
    void add_options(CLI::App& command) override {
        command
            .add_option(
                "--keep", text_,
                "Elements to keep: even or odd (integers), nonzero (default), positive, greater:X or less:X")
            ->type_name("RULE");
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        check_one_dimension("run compact", in);
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
    // Parses a rule and, after a colon, its operand in the input's type.
    Keep parse(Type type, const std::string& file) const {
        auto refuse = [&](const std::string& why) {
            throw Error(ErrorCode::invalid_argument, "--keep", why);
        };
        const std::size_t colon = text_.find(':');
        const std::string name = text_.substr(0, colon);
        const auto rule = keep_rule_named(name);
        if (!rule) refuse("unknown rule " + detail::quoted(text_) + "; available: " + joined(rules()));
        const bool compares = detail::has_operand(*rule);
        if (compares && colon == std::string::npos)
            refuse("rule requires an operand, got '" + text_ + "'; pass e.g. '" + name + ":0'");
        if (!compares && colon != std::string::npos)
            refuse("rule has no operand, got '" + text_ + "'; pass '" + name + "'");
        if (is_float(type) && (*rule == KeepRule::even || *rule == KeepRule::odd))
            refuse("rule '" + text_ + "' requires integers, got " + std::string(name_of(type)) + " in " +
                   file);
        if (!compares) return *rule;
        if (is_boolean(type))
            refuse("rule '" + text_ + "' does not support bool, got it in " + file + "; use nonzero");
        const std::string_view digits = std::string_view(text_).substr(colon + 1);
        return detail::visit_type(type, [&](auto tag) {
            typename decltype(tag)::type x{};
            const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
            if (error != std::errc() || end != digits.data() + digits.size())
                refuse("operand must be " + std::string(name_of(type)) + " as in " + file + ", got '" +
                       text_ + "'");
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
