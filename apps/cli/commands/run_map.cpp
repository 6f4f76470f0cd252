// `concord run map`.

#include "run.hpp"

#include <concord/internal/number_text.hpp>
#include <concord/map.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace concord::app {
namespace {

using detail::ExpressionPointer;

constexpr std::string_view where_name = "where", clip_name = "clip";

template <class E, std::size_t N>
void add_names(std::vector<std::string>& names, const E (&values)[N]) {
    for (const E value : values)
        names.emplace_back(name_of(value));
}

std::vector<std::string> function_names() {
    std::vector<std::string> names = names_of(all_map_functions);
    add_names(names, all_unary_predicates);
    names.emplace_back(clip_name);
    add_names(names, all_pair_functions);
    add_names(names, all_binary_functions);
    add_names(names, all_binary_predicates);
    names.emplace_back(where_name);
    return names;
}

class RunMap final : public RunTask, public Pipelined, public TakesText, public CountsInputs {
  public:
    void add_options(CLI::App& command) override {
        auto* function =
            command
                .add_option("--function", function_,
                            "Function to apply to every element (default: copy); those of two inputs and "
                            "where (condition, x, y) broadcast")
                ->check(CLI::IsMember(function_names()));
        command
            .add_option("--text", text_,
                        "Source of a user function, e.g. 'float f(float x) { return x * x; }'; "
                        "unsupported on tbb")
            ->excludes(function);
        command.add_option("--low", low_, "Lower limit of clip")->type_name("X");
        command.add_option("--high", high_, "Upper limit of clip")->type_name("Y");
    }
    std::size_t inputs() const override {
        if (has_text()) return 1;
        if (function_ == where_name) return 3;
        return pair_function_named(function_) || binary_function_named(function_) ||
                       binary_predicate_named(function_)
                   ? 2
                   : 1;
    }
    RunPlan plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        for (const auto& [option, value] : {std::pair("--low", &low_), std::pair("--high", &high_)}) {
            if (value->has_value() != (function_ == clip_name))
                throw Error(ErrorCode::invalid_argument, option,
                            *value ? "requires --function clip, got " + function_
                                   : "missing; clip requires --low X and --high Y");
        }
        if (has_text()) {
            op_ = operator_of_option(*text_);
            return {{op_->result, in.shape()}};
        }
        if (map_function_named(function_)) return {{in.type(), in.shape()}};
        check_types(inputs);
        divides_integers_ = !is_float(in.type()) && !is_boolean(in.type());
        if (function_ == clip_name) {
            limit_type_ = in.type();
            limits_ = {limit("--low", *low_, in.type()), limit("--high", *high_, in.type())};
        }
        std::vector<ExpressionPointer> values;
        constexpr u64 zero = 0;
        for (const auto& input : inputs)
            values.push_back(detail::constant_node(input->type(), &zero));
        (void)expression(values);  // refuses types
        const Shape shape = common_shape(inputs);
        if (function_ == "power") check_exponents(*inputs[1]);
        return {{result_type(inputs), shape}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        if (op_) return map(stream, in[0], out[0], *op_, options);
        if (const auto function = map_function_named(function_))
            return map(stream, in[0], out[0], *function, options);
        std::vector<ExpressionPointer> nodes;
        for (std::size_t i = 0; i < in.size(); ++i)
            nodes.push_back(detail::broadcast_node({detail::range_node(in[i]), {}, extents_[i]}, common_));
        return detail::evaluate(stream, detail::Input(expression(nodes)), out[0], options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        if (op_) return pipeline_map(devices, *in[0], out, *op_, options);
        if (const auto function = map_function_named(function_))
            return pipeline_map(devices, *in[0], out, *function, options);
        throw Error(ErrorCode::unsupported, "--function " + function_,
                    "not supported in segments, or on several devices; use one device whose memory holds "
                    "the data");
    }
    const std::optional<std::string>& text() const override { return text_; }
    std::string title() const override { return op_ ? op_->name : function_; }

  private:
    // The library names its own function.
    static Operator operator_of_option(const std::string& text) try {
        return operator_from_text(text);
    } catch (const Error& error) {
        throw Error(error.code(), "--text", message_of(error));
    }

    static std::string described(const InputArray& in) {
        return in.name() + " is " + std::string(name_of(in.type())) + " " + shape_name(in.shape());
    }

    // The last two inputs have one type. The condition of where has bool or u8.
    void check_types(Inputs inputs) const {
        if (function_ == where_name && inputs[0]->type() != Type::boolean && inputs[0]->type() != Type::u8)
            throw Error(ErrorCode::invalid_argument, "--in",
                        "the first input of where is its condition, of type bool or u8, got " +
                            described(*inputs[0]));
        if (inputs.size() == 1) return;
        const InputArray &a = *inputs[inputs.size() - 2], &b = *inputs.back();
        if (a.type() != b.type())
            throw Error(
                ErrorCode::invalid_argument, "--in",
                function_ + " requires inputs of one type, got " + described(a) + " and " + described(b));
    }

    // The element of the option as the type.
    static std::vector<std::byte> limit(const char* option, const std::string& text, Type type) {
        if (is_boolean(type))
            throw Error(ErrorCode::unsupported, option, "clip does not support bool; convert the input");
        return detail::visit_type(type, [&](auto tag) {
            typename decltype(tag)::type value{};
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error != std::errc() || stop != end)
                throw Error(
                    ErrorCode::invalid_argument, option,
                    "no value of type " + std::string(name_of(type)) + ", got " + detail::quoted(text));
            std::vector<std::byte> bytes(sizeof value);
            std::memcpy(bytes.data(), &value, sizeof value);
            return bytes;
        });
    }

    // Finds the extents of the inputs and of the output. Arrays of one shape may have any number of axes.
    Shape common_shape(Inputs inputs) {
        const auto same = [&](const auto& input) { return input->shape() == inputs[0]->shape(); };
        if (std::all_of(inputs.begin(), inputs.end(), same)) {
            common_ = NdExtents(inputs[0]->count());
            extents_.assign(inputs.size(), common_);
            return inputs[0]->shape();
        }
        std::vector<detail::NdSource> sources;
        for (const auto& input : inputs) {
            if (input->shape().size() > max_rank)
                throw Error(ErrorCode::unsupported, "--in",
                            "inputs that broadcast have at most " + std::to_string(max_rank) +
                                " dimensions, got " + described(*input));
            sources.push_back({nullptr, {}, NdExtents(std::span<const u64>(input->shape()))});
            extents_.push_back(sources.back().extents);
        }
        try {
            common_ = detail::common_extents("map", sources);
        } catch (const Error& error) {
            std::string all;
            for (const auto& input : inputs)
                all.append(all.empty() ? "" : " and ").append(described(*input));
            throw Error(error.code(), "--in",
                        "shapes do not broadcast, got " + all +
                            "; extents must be equal or 1, counted from the last axis");
        }
        return {common_.begin(), common_.end()};
    }

    // Integers have no fractions.
    void check_exponents(const InputArray& in) const {
        if (is_float(in.type()) || is_unsigned(in.type())) return;
        detail::visit_type(in.type(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            constexpr u64 piece = u64{1} << 20;
            std::vector<T> values(std::min(piece, in.count()));
            for (u64 begin = 0; begin < in.count(); begin += piece) {
                const u64 count = std::min(piece, in.count() - begin);
                in.source().read(values.data(), begin * sizeof(T), count * sizeof(T));
                for (u64 i = 0; i < count; ++i) {
                    if (values[i] < 0)
                        throw Error(ErrorCode::invalid_argument, "--function power",
                                    "integers have no negative exponents, got " + std::to_string(values[i]) +
                                        " at element " + std::to_string(begin + i) + " of " + in.name());
                }
            }
        });
    }

    Type result_type(Inputs inputs) const {
        if (binary_predicate_named(function_) || unary_predicate_named(function_)) return Type::boolean;
        const Type type = inputs.back()->type();
        return function_ == "divide" && !is_float(type) ? Type::f64 : type;
    }

    // The function of the inputs. Throws unsupported for types that it does not support.
    ExpressionPointer expression(const std::vector<ExpressionPointer>& in) const try {
        using namespace detail;
        if (function_ == where_name) return where_node(in[0], in[1], in[2]);
        if (function_ == clip_name)
            return clip_node(in[0], constant_node(limit_type_, limits_[0].data()),
                             constant_node(limit_type_, limits_[1].data()));
        if (const auto predicate = unary_predicate_named(function_)) return transform_node(*predicate, in[0]);
        if (const auto predicate = binary_predicate_named(function_))
            return transform_node(*predicate, in[0], in[1]);
        if (const auto function = pair_function_named(function_))
            return transform_node(*function, in[0], in[1]);
        const BinaryFunction function = *binary_function_named(function_);
        if (function == BinaryFunction::divide && divides_integers_)
            return transform_node(function, convert_node(Type::f64, in[0]), convert_node(Type::f64, in[1]));
        return transform_node(function, in[0], in[1]);
    } catch (const Error& error) {
        throw Error(error.code(), "--function", message_of(error));
    }

    std::string function_ = "copy";
    std::optional<std::string> text_, low_, high_;
    std::optional<Operator> op_;
    // Of functions that are expressions.
    std::vector<NdExtents> extents_;
    NdExtents common_;
    std::vector<std::vector<std::byte>> limits_;
    Type limit_type_ = Type::u8;  // of clip
    bool divides_integers_ = false;
};

}  // namespace

RunCommand run_map() {
    return {.name = "map",
            .summary = "Apply a function to every element, or to those of two inputs",
            .example =
                "concord run map --function sqrt --in x.npy --out y.npy\n"
                "concord run map --function less --in table.npy --in row.npy --out mask.npy",
            .make = make_task<RunMap>};
}

}  // namespace concord::app
