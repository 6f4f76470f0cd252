#include "run.hpp"

#include <concord/add.hpp>
#include <concord/compact.hpp>
#include <concord/convolve.hpp>
#include <concord/distributed.hpp>
#include <concord/histogram.hpp>
#include <concord/map.hpp>
#include <concord/matmul.hpp>
#include <concord/reduce.hpp>
#include <concord/scan.hpp>
#include <concord/sort.hpp>
#include <concord/transpose.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace concord::app {
namespace {

template <class E, std::size_t N>
std::vector<std::string> names_of(const E (&values)[N]) {
    std::vector<std::string> names;
    for (const E value : values)
        names.emplace_back(name_of(value));
    return names;
}

class RunMap final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        auto* function = command.add_option("--function", function_, "What to apply to every element (copy)")
                             ->check(CLI::IsMember(names_of(all_map_functions)));
        command
            .add_option("--text", text_,
                        "Your own function: 'float f(float x) { return x * x; }' (not on tbb)")
            ->excludes(function);
    }
    NpyHeader plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (has_user_text()) op_ = operator_from_text(*text_);
        return {op_ ? op_->result : in.type(), in.shape()};
    }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return op_ ? map(stream, in[0], out, *op_, options)
                   : map(stream, in[0], out, *map_function_named(function_), options);
    }
    bool has_pipeline() const override { return true; }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return op_ ? pipeline_map(devices, *in[0], out, *op_, options)
                   : pipeline_map(devices, *in[0], out, *map_function_named(function_), options);
    }
    bool has_user_text() const override { return text_.has_value(); }
    bool runs_on(const Device& device) const override {
        return !has_user_text() || device.traits().compiles_source;
    }
    std::string title() const override { return op_ ? op_->name : function_; }

  private:
    std::string function_ = "copy";
    std::optional<std::string> text_;
    std::optional<Operator> op_;
};

class RunAdd final : public RunTask {
  public:
    std::size_t input_count() const override { return 2; }
    NpyHeader plan(Inputs inputs) override {
        const InputArray &a = *inputs[0], &b = *inputs[1];
        auto describe = [](const InputArray& file) {
            return file.name() + " is " + std::string(name_of(file.type())) + " " + shape_name(file.shape());
        };
        if (a.type() != b.type() || a.shape() != b.shape())
            throw Error(ErrorCode::invalid_argument, "run add",
                        "the inputs differ: " + describe(a) + ", " + describe(b));
        return {a.type(), a.shape()};
    }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return add(stream, in[0], in[1], out, options);
    }
    bool has_pipeline() const override { return true; }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_add(devices, *in[0], *in[1], out, options);
    }
    std::string title() const override { return "sum"; }
};

class RunReduce final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--op", op_, "How elements are combined (sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
    }
    NpyHeader plan(Inputs inputs) override { return {inputs[0]->type(), {}}; }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return reduce(stream, in[0], out, *reduce_op_named(op_), options);
    }
    bool has_pipeline() const override { return true; }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_reduce(devices, *in[0], out, *reduce_op_named(op_), options);
    }
    bool has_ranks() const override { return true; }
    Spread spread_output() const override { return {.whole = true}; }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, std::span<const View> in, const View& out,
                        const View& /*second*/, const Options& options) override {
        return distributed_reduce(ranks, stream, in[0], out, *reduce_op_named(op_), options);
    }
    std::string title() const override { return op_; }

  private:
    std::string op_ = "sum";
};

class RunScan final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--op", op_, "How elements are combined (sum)")
            ->check(CLI::IsMember(names_of(all_reduce_ops)));
        command.add_flag("--exclusive", exclusive_,
                         "Leave out the element itself; the first result is the identity");
    }
    NpyHeader plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (in.shape().size() != 1)
            throw Error(ErrorCode::invalid_argument, "run scan",
                        in.name() + " has the shape " + shape_name(in.shape()) + ", not one dimension");
        return {in.type(), in.shape()};
    }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return scan(stream, in[0], out, *reduce_op_named(op_),
                    exclusive_ ? ScanKind::exclusive : ScanKind::inclusive, options);
    }
    bool has_pipeline() const override { return true; }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_scan(devices, *in[0], out, *reduce_op_named(op_),
                             exclusive_ ? ScanKind::exclusive : ScanKind::inclusive, options);
    }
    bool has_ranks() const override { return true; }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, std::span<const View> in, const View& out,
                        const View& /*second*/, const Options& options) override {
        return distributed_scan(ranks, stream, in[0], out, *reduce_op_named(op_),
                                exclusive_ ? ScanKind::exclusive : ScanKind::inclusive, options);
    }
    std::string title() const override { return (exclusive_ ? "exclusive " : "inclusive ") + op_; }

  private:
    std::string op_ = "sum";
    bool exclusive_ = false;
};

class RunHistogram final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--bins", bins_, "How many bins, and counters")->required();
        auto* range = command.add_option("--range", range_, "Even bins from LO up to, not including, HI")
                          ->expected(2)
                          ->type_name("LO HI");
        auto* modulo =
            command.add_flag("--modulo", modulo_, "The bin is the sample mod N (unsigned samples)")
                ->excludes(range);
        command
            .add_flag("--identity", identity_, "The sample is its bin; outside 0 ... N-1 it is not counted")
            ->excludes(range)
            ->excludes(modulo);
        command.add_option("--counter", counter_, "u16 (stops at 65535), u32 (wraps) or u64 (default)")
            ->check(CLI::IsMember({"u16", "u32", "u64"}));
    }
    NpyHeader plan(Inputs inputs) override {
        u64 bins = 0;
        if (!is_whole(bins_, bins) || bins == 0)
            refuse("--bins", "'" + bins_ + "' is no number of bins: one at least");
        constexpr u64 most = u64{1} << 48;
        if (bins > most) refuse("--bins", bins_ + " bins are more than " + std::to_string(most));
        if (range_.empty() && !modulo_ && !identity_)
            refuse("run histogram", "--bins needs one of --range LO HI, --modulo and --identity");
        const Type type = inputs[0]->type();
        const auto words = inputs[0]->name() + " is " + std::string(name_of(type));
        if (modulo_ && (is_float(type) || type < Type::u8))
            refuse("--modulo", "takes unsigned samples; " + words);
        if (identity_ && is_float(type)) refuse("--identity", "takes integer samples; " + words);
        if (modulo_) scheme_ = HistogramBins::modulo();
        if (!range_.empty()) scheme_ = even_bins(type);
        return {*type_named(counter_), {bins}};
    }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return histogram(stream, in[0], out, scheme_, options);
    }
    bool has_pipeline() const override { return true; }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_histogram(devices, *in[0], out, scheme_, options);
    }
    bool has_ranks() const override { return true; }
    Spread spread_output() const override { return {.whole = true}; }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, std::span<const View> in, const View& out,
                        const View& /*second*/, const Options& options) override {
        return distributed_histogram(ranks, stream, in[0], out, scheme_, options);
    }
    std::string title() const override { return range_.empty() ? modulo_ ? "modulo" : "identity" : "even"; }

  private:
    [[noreturn]] static void refuse(const char* option, const std::string& why) {
        throw Error(ErrorCode::invalid_argument, option, why);
    }
    // Whole numbers stay exact; for floats, and numbers like 1e3, doubles.
    HistogramBins even_bins(Type type) const {
        if (!is_float(type)) {
            i64 lo = 0, hi = 0;
            u64 from = 0, to = 0;
            const bool low = is_whole(range_[0], lo), high = is_whole(range_[1], hi);
            const bool far_low = is_whole(range_[0], from), far_high = is_whole(range_[1], to);
            if (low && high) return HistogramBins::even(lo, hi);
            if (low && far_high) return HistogramBins::even(lo, to);
            if (far_low && far_high) return HistogramBins::even(from, to);
            if (far_low && high) return HistogramBins::even(from, hi);
        }
        return HistogramBins::even(real(range_[0]), real(range_[1]));
    }
    static double real(const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (text.empty() || *end != '\0') refuse("--range", "'" + text + "' is no number");
        return value;
    }

    std::string bins_, counter_ = "u64";
    std::vector<std::string> range_;
    bool modulo_ = false, identity_ = false;
    HistogramBins scheme_ = HistogramBins::identity();
};

class RunCompact final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command
            .add_option(
                "--keep", text_,
                "What is kept: even, odd (integers), nonzero, positive, greater:X or less:X (nonzero)")
            ->type_name("RULE");
    }
    NpyHeader plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (in.shape().size() != 1)
            throw Error(ErrorCode::invalid_argument, "run compact",
                        in.name() + " is " + shape_name(in.shape()) + ", compact takes one dimension");
        keep_ = parse(in.type(), in.name());
        return {in.type(), in.shape()};
    }
    bool is_counted() const override { return true; }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        const Array<u64> count(stream, 1);
        return call_counted(stream, in, out, count.view(), options);
    }
    Enqueued call_counted(Stream& stream, std::span<const View> in, const View& out, const View& count,
                          const Options& options) override {
        return compact(stream, in[0], out, count, keep_, options);
    }
    bool has_pipeline() const override { return true; }
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
        return visit(type, [&](auto tag) {
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

class RunSort final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command.add_flag("--descending", descending_, "The exact reverse order");
        auto* values = command
                           .add_option("--values", values_,
                                       "Values that go where their keys go, a .npy file as long as the input")
                           ->type_name("FILE");
        auto* out = command.add_option("--out-values", out_values_, "Output of the values, a .npy file")
                        ->type_name("FILE");
        values->needs(out);
        out->needs(values);
    }
    std::vector<std::string> more_inputs() const override {
        return values_.empty() ? std::vector<std::string>{} : std::vector{values_};
    }
    std::string second_output() const override { return out_values_; }
    NpyHeader plan(Inputs inputs) override {
        for (const auto& input : inputs) {
            if (input->shape().size() != 1)
                throw Error(
                    ErrorCode::invalid_argument, "run sort",
                    input->name() + " is " + shape_name(input->shape()) + ", sort takes one dimension");
            if (input->count() != inputs[0]->count())
                throw Error(ErrorCode::invalid_argument, "run sort",
                            inputs[0]->name() + " has " + std::to_string(inputs[0]->count()) + " keys, " +
                                input->name() + " " + std::to_string(input->count()) + " values");
        }
        return {inputs[0]->type(), inputs[0]->shape()};
    }
    NpyHeader plan_second(Inputs inputs) override { return {inputs[1]->type(), inputs[1]->shape()}; }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return sort(stream, in[0], out, by(), options);
    }
    Enqueued call_two(Stream& stream, std::span<const View> in, const View& out, const View& second,
                      const Options& options) override {
        return sort_pairs(stream, in[0], in[1], out, second, by(), options);
    }
    bool has_ranks() const override { return true; }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, std::span<const View> in, const View& out,
                        const View& second, const Options& options) override {
        if (values_.empty()) return distributed_sort(ranks, stream, in[0], out, by(), options);
        return distributed_sort_pairs(ranks, stream, in[0], in[1], out, second, by(), options);
    }
    std::string title() const override {
        return std::string(values_.empty() ? "keys" : "pairs") + (descending_ ? ", descending" : "");
    }

  private:
    SortBy by() const { return {.order = descending_ ? SortOrder::descending : SortOrder::ascending}; }
    bool descending_ = false;
    std::string values_, out_values_;
};

class RunTranspose final : public RunTask {
  public:
    NpyHeader plan(Inputs inputs) override {
        const InputArray& in = *inputs[0];
        if (in.shape().size() != 2)
            throw Error(ErrorCode::invalid_argument, "run transpose",
                        in.name() + " has the shape " + shape_name(in.shape()) + ", not two dimensions");
        shape_ = {in.shape()[0], in.shape()[1]};
        return {in.type(), {shape_.columns, shape_.rows}};
    }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return transpose(stream, in[0], out, shape_, options);
    }
    std::string title() const override {
        return std::to_string(shape_.rows) + " x " + std::to_string(shape_.columns);
    }

  private:
    TransposeShape shape_;
};

class RunConvolve final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command
            .add_option("--border", border_,
                        "What cells outside the image are: zero, or as the nearest inside (zero)")
            ->check(CLI::IsMember(names_of(all_convolve_borders)));
    }
    std::size_t input_count() const override { return 2; }
    NpyHeader plan(Inputs inputs) override {
        const InputArray &image = *inputs[0], &mask = *inputs[1];
        for (const auto& input : inputs) {
            if (input->shape().size() != 2)
                refuse(*input, "has the shape " + shape_name(input->shape()) + ", not two dimensions");
        }
        if (image.type() != Type::u8 && !is_float(image.type()))
            refuse(image, "is " + std::string(name_of(image.type())) + "; images are u8, f32 or f64");
        const Type type = image.type() == Type::f64 ? Type::f64 : Type::f32;
        if (mask.type() != type)
            refuse(mask, "is " + std::string(name_of(mask.type())) + "; a mask for an image of " +
                             std::string(name_of(image.type())) + " is " + std::string(name_of(type)));
        for (const u64 side : mask.shape()) {
            if (side % 2 == 0 || side > convolve_longest_side)
                refuse(mask, "has the shape " + shape_name(mask.shape()) +
                                 "; a mask's sides are odd numbers up to " +
                                 std::to_string(convolve_longest_side));
        }
        values_ = mask.elements();
        mask_ = ConvolveMask(values_.data(), mask.shape()[0], mask.shape()[1], type);
        shape_ = {image.shape()[0], image.shape()[1], *convolve_border_named(border_)};
        return {type, image.shape()};
    }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return convolve(stream, in[0], mask_, out, shape_, options);
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
    ConvolveShape shape_;
};

class RunMatmul final : public RunTask {
  public:
    std::size_t input_count() const override { return 2; }
    NpyHeader plan(Inputs inputs) override {
        auto refuse = [](const std::string& why) {
            throw Error(ErrorCode::invalid_argument, "run matmul", why);
        };
        const InputArray &a = *inputs[0], &b = *inputs[1];
        for (const InputArray* file : {&a, &b}) {
            const std::string path = file->name();
            if (file->shape().size() != 2)
                refuse(path + " has the shape " + shape_name(file->shape()) + ", not two dimensions");
            if (!is_float(file->type()))
                refuse(path + " is " + std::string(name_of(file->type())) + ", matmul takes f32 or f64");
        }
        auto describe = [](const InputArray& file) {
            return file.name() + " is " + std::string(name_of(file.type())) + " " + shape_name(file.shape());
        };
        if (a.type() != b.type()) refuse("the types differ: " + describe(a) + ", " + describe(b));
        if (a.shape()[1] != b.shape()[0])
            refuse("the shapes do not fit: " + describe(a) + ", " + describe(b) +
                   "; the first has as many columns as the second has rows");
        shape_ = {.m = a.shape()[0], .n = b.shape()[1], .k = a.shape()[1]};
        return {a.type(), {shape_.m, shape_.n}};
    }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return matmul(stream, in[0], in[1], out, shape_, {}, options);
    }
    std::string title() const override {
        return std::to_string(shape_.m) + " x " + std::to_string(shape_.n) + " x " + std::to_string(shape_.k);
    }

  private:
    MatmulShape shape_;
};

template <class T>
std::unique_ptr<RunTask> make() {
    return std::make_unique<T>();
}

constexpr RunTaskRow rows[] = {
    {"map", "Apply a function to every element", "concord run map --function sqrt --in x.npy --out y.npy",
     make<RunMap>},
    {"add", "Add two arrays of one shape and type", "concord run add --in a.npy --in b.npy --out sum.npy",
     make<RunAdd>},
    {"reduce", "Combine all elements into one",
     "concord run reduce --op max --in x.npy --out max.npy --device tbb", make<RunReduce>},
    {"scan", "Combine every element with all before it",
     "concord run scan --op sum --exclusive --in x.npy --out y.npy", make<RunScan>},
    {"histogram", "Count the elements in each bin",
     "concord run histogram --bins 256 --range -1 1 --in x.npy --out counts.npy", make<RunHistogram>},
    {"compact", "Keep the elements for which a predicate holds",
     "concord run compact --keep greater:0.5 --in x.npy --out kept.npy", make<RunCompact>},
    {"sort", "Put the elements in order, floats by IEEE 754's totalOrder",
     "concord run sort --in keys.npy --out sorted.npy --values x.npy --out-values y.npy", make<RunSort>},
    {"transpose", "Turn rows into columns", "concord run transpose --in matrix.npy --out turned.npy",
     make<RunTranspose>},
    {"convolve", "Apply a mask to every element of an image and those around it",
     "concord run convolve --in image.npy --in mask.npy --border clamp --out filtered.npy",
     make<RunConvolve>},
    {"stencil", "Time steps of a 3-D star stencil: a volume, and the coefficients c0 ... cR",
     "concord run stencil --in volume.npy --in coefficients.npy --out after.npy --steps 100\n"
     "  concord run stencil --generate random --shape 400x480x480 --in coefficients.npy --out after.npy",
     make_run_stencil},
    {"matmul", "Multiply two matrices", "concord run matmul --in a.npy --in b.npy --out product.npy",
     make<RunMatmul>},
};

}  // namespace

std::span<const RunTaskRow> run_tasks() {
    return rows;
}

}  // namespace concord::app
