// `concord run reduce`.

#include "run.hpp"

#include <concord/any_all.hpp>
#include <concord/distributed.hpp>
#include <concord/reduce.hpp>
#include <concord/reduce_axes.hpp>
#include <concord/statistics.hpp>

#include <algorithm>

namespace concord::app {
namespace {

// What --op names besides a ReduceOp.
struct Statistic {
    std::string_view name;
    Type (*result)(Type);
    // values: another output, of argmin and argmax; or null.
    Enqueued (*call)(Stream&, const detail::StatisticOperands&, const NdView* values, u64 ddof,
                     const Options&);
};

Type mean_type(Type type) {
    return type == Type::f32 ? Type::f32 : Type::f64;
}
Type index_type(Type /*type*/) {
    return Type::u64;
}
Type truth_type(Type /*type*/) {
    return Type::boolean;
}

template <detail::Quantifier quantifier>
Enqueued quantify(Stream& stream, const detail::StatisticOperands& p, const NdView* /*values*/, u64 /*ddof*/,
                  const Options& options) {
    return p.axes ? detail::quantify(stream, quantifier, {p.shape}, p.out, *p.axes, options)
                  : detail::quantify(stream, quantifier, p.in, p.out.range(), options);
}

using Operands = detail::StatisticOperands;
constexpr Statistic statistics[] = {
    {"mean", mean_type,
     [](Stream& stream, const Operands& p, const NdView* /*values*/, u64 /*ddof*/, const Options& options) {
         return detail::mean(stream, p, options);
     }},
    {"var", mean_type,
     [](Stream& stream, const Operands& p, const NdView* /*values*/, u64 ddof, const Options& options) {
         return detail::variance(stream, p, ddof, false, options);
     }},
    {"std", mean_type,
     [](Stream& stream, const Operands& p, const NdView* /*values*/, u64 ddof, const Options& options) {
         return detail::variance(stream, p, ddof, true, options);
     }},
    {"norm", mean_type,
     [](Stream& stream, const Operands& p, const NdView* /*values*/, u64 /*ddof*/, const Options& options) {
         return detail::norm(stream, p, options);
     }},
    {"argmin", index_type,
     [](Stream& stream, const Operands& p, const NdView* values, u64 /*ddof*/, const Options& options) {
         return detail::arg_extremum(stream, p, values, ReduceOp::min, options);
     }},
    {"argmax", index_type,
     [](Stream& stream, const Operands& p, const NdView* values, u64 /*ddof*/, const Options& options) {
         return detail::arg_extremum(stream, p, values, ReduceOp::max, options);
     }},
    {"any", truth_type, quantify<detail::Quantifier::any>},
    {"all", truth_type, quantify<detail::Quantifier::all>},
};

std::vector<std::string> operator_names() {
    std::vector<std::string> names = names_of(all_reduce_ops);
    for (const Statistic& statistic : statistics)
        names.emplace_back(statistic.name);
    return names;
}

class RunReduce final : public RunTask, public Pipelined, public OverRanks {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--op", op_, "Operator that combines elements (default: sum)")
            ->check(CLI::IsMember(operator_names()));
        command
            .add_option("--ddof", ddof_,
                        "Delta degrees of freedom of var and std: the divisor is n - N (default: 0)")
            ->check(CLI::Range(u64{0}, ~u64{0} >> 1))
            ->type_name("N");
        command
            .add_option("--axis", axis_text_,
                        "Axes to combine along, each line on its own; from the front, or, negative, from the "
                        "back (default: all elements)")
            ->type_name("N[,M]");
        command
            .add_option("--out-values", out_values_,
                        "Output file of the elements at the indices of argmin and argmax (.npy)")
            ->type_name("FILE");
        command.add_flag("--keepdims", keeps_, "Keep the axes of --axis with length 1");
    }
    RunPlan plan(Inputs inputs) override {
        if (keeps_ && !axis_text_) throw Error(ErrorCode::invalid_argument, "--keepdims", "requires --axis");
        const InputArray& in = *inputs[0];
        if (ddof_ && op_ != "var" && op_ != "std")
            throw Error(ErrorCode::invalid_argument, "--ddof", "requires --op var or std, got " + op_);
        const bool finds_index = statistic() != nullptr && statistic()->result == index_type;
        if (!out_values_.empty() && !finds_index)
            throw Error(ErrorCode::invalid_argument, "--out-values",
                        "requires --op argmin or argmax, got " + op_);
        const auto refuse_empty = [&](const char* what) {
            throw Error(ErrorCode::invalid_argument, op_,
                        std::string(what) + ", got " + in.name() + " of shape " + shape_name(in.shape()));
        };
        if (finds_index && !axis_text_ && in.count() == 0) refuse_empty("empty input");
        const auto plan_of = [&](const Shape& shape) {
            RunPlan plan{{result_type(in.type()), shape}};
            if (!out_values_.empty()) plan.second = {out_values_, {in.type(), shape}};
            return plan;
        };
        if (!axis_text_) return plan_of({});
        if (in.shape().size() > max_rank)
            throw Error(ErrorCode::invalid_argument, "--axis",
                        "supports at most " + std::to_string(max_rank) + " dimensions, got " + in.name() +
                            " of shape " + shape_name(in.shape()));
        shape_ = NdExtents(std::span<const u64>(in.shape()));
        axes_ = detail::sorted_axes("--axis", axes_of(*axis_text_), shape_.size());
        Shape output;
        for (u32 k = 0; k < shape_.size(); ++k) {
            const bool is_reduced = std::find(axes_.begin(), axes_.end(), k) != axes_.end();
            if (!is_reduced || keeps_) output.push_back(is_reduced ? 1 : shape_[k]);
            if (is_reduced && finds_index && shape_[k] == 0) refuse_empty("an empty axis");
        }
        return plan_of(output);
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        const Statistic* const statistic = this->statistic();
        const u64 ddof = ddof_.value_or(0);
        const NdExtents kept = axis_text_ ? detail::kept_extents(NdView(in[0], shape_), axes_) : NdExtents{};
        std::optional<NdView> elements;
        if (!out_values_.empty()) elements.emplace(out[1], kept);
        const NdView* const values = elements ? &*elements : nullptr;
        if (!axis_text_) {
            return statistic == nullptr ? reduce(stream, in[0], out[0], *reduce_op_named(op_), options)
                                        : statistic->call(stream, {in[0], out[0]}, values, ddof, options);
        }
        const NdView from(in[0], shape_), to(out[0], kept);
        return statistic == nullptr ? reduce(stream, from, to, *reduce_op_named(op_), axes_, options)
                                    : statistic->call(stream, {{from}, to, axes_}, values, ddof, options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        check_whole("segments, or on several devices");
        return pipeline_reduce(devices, *in[0], out, *reduce_op_named(op_), options);
    }
    Spread spread_output() const override { return {.whole = true}; }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, Views in, Views out,
                        const Options& options) override {
        check_whole("ranks");
        return distributed_reduce(ranks, stream, in[0], out[0], *reduce_op_named(op_), options);
    }
    std::string title() const override { return op_; }

  private:
    // The axes in the text of --axis: "0", "0,-1".
    static Axes axes_of(std::string_view text) {
        Axes axes;
        for (std::string_view rest = text;;) {
            const std::size_t end = std::min(rest.find(','), rest.size());
            i64 axis = 0;
            const auto [stop, error] = std::from_chars(rest.data(), rest.data() + end, axis);
            if (error != std::errc() || stop != rest.data() + end || axes.size() == max_rank)
                throw Error(ErrorCode::invalid_argument, "--axis",
                            "expected up to " + std::to_string(max_rank) +
                                " integers separated by commas, got '" + std::string(text) +
                                "'; examples: 0, -1, 0,2");
            axes.add(axis);
            if (end == rest.size()) return axes;
            rest.remove_prefix(end + 1);
        }
    }
    // What --op names; null for a ReduceOp.
    const Statistic* statistic() const {
        const auto* const found =
            std::find_if(std::begin(statistics), std::end(statistics),
                         [&](const Statistic& statistic) { return statistic.name == op_; });
        return found == std::end(statistics) ? nullptr : found;
    }
    Type result_type(Type type) const {
        const Statistic* const statistic = this->statistic();
        return statistic == nullptr ? type : statistic->result(type);
    }
    void check_whole(const char* in) const {
        if (!axis_text_ && statistic() == nullptr) return;
        throw Error(ErrorCode::unsupported, axis_text_ ? std::string("--axis") : "--op " + op_,
                    std::string("not supported in ") + in + "; use one device whose memory holds the data");
    }

    std::string op_ = "sum";
    std::optional<u64> ddof_;
    std::optional<std::string> axis_text_;
    std::string out_values_;
    bool keeps_ = false;
    NdExtents shape_;
    Axes axes_;
};

}  // namespace

RunCommand run_reduce() {
    return {.name = "reduce",
            .summary = "Combine all elements into one, or the elements along axes",
            .example =
                "concord run reduce --op max --in x.npy --out max.npy --device tbb\n"
                "concord run reduce --axis 0 --in table.npy --out sums.npy",
            .make = make_task<RunReduce>};
}

}  // namespace concord::app
