// `concord run histogram`.

#include "npy.hpp"
#include "run.hpp"

#include <concord/distributed.hpp>
#include <concord/histogram.hpp>
#include <concord/internal/number_text.hpp>

#include <algorithm>
#include <cstring>

namespace concord::app {
namespace {

class RunHistogram final : public RunTask, public Pipelined, public OverRanks {
  public:
    void add_options(CLI::App& command) override {
        auto* bins = command.add_option("--bins", bins_, "Number of bins");
        command
            .add_option(
                "--edges", edges_,
                "Ascending edges as .npy file, of the samples' type or f64, instead of --bins; the last bin "
                "includes its upper edge")
            ->type_name("FILE")
            ->excludes(bins);
        auto* range = command.add_option("--range", range_, "Bins of equal width over [LO, HI)")
                          ->expected(2)
                          ->type_name("LO HI");
        command
            .add_flag("--exact", exact_,
                      "Compare samples with rounded edges, as NumPy does; the last bin includes HI")
            ->needs(range);
        auto* modulo =
            command.add_flag("--modulo", modulo_, "Bin = sample mod N (unsigned samples)")->excludes(range);
        command.add_flag("--identity", identity_, "Bin = sample; samples outside 0 ... N-1 are not counted")
            ->excludes(range)
            ->excludes(modulo);
        command
            .add_option("--counter", counter_,
                        "Counter type: u16 (saturates at 65535), u32 (wraps) or u64 (default)")
            ->check(CLI::IsMember({"u16", "u32", "u64"}));
    }
    RunPlan plan(Inputs inputs) override {
        const Type type = inputs[0]->type();
        if (!edges_.empty()) return plan_edges(type);
        u64 bins = 0;
        if (bins_.empty()) refuse("run histogram", "no bins given; pass --bins N or --edges FILE");
        if (!is_whole(bins_, bins) || bins == 0)
            refuse("--bins", "invalid number of bins '" + bins_ + "'; expected a whole number of at least 1");
        constexpr u64 most = u64{1} << 48;
        if (bins > most)
            refuse("--bins", "supports at most " + std::to_string(most) + " bins, got '" + bins_ + "'");
        if (range_.empty() && !modulo_ && !identity_)
            refuse("run histogram", "no bins given; pass --range LO HI, --modulo or --identity");
        const auto got = "got " + std::string(name_of(type)) + " in " + inputs[0]->name();
        if (modulo_ && !is_unsigned(type))
            refuse("--modulo", "requires unsigned samples, " + got + "; use --range LO HI");
        if (identity_ && is_float(type))
            refuse("--identity", "requires integer samples, " + got + "; use --range LO HI");
        if (modulo_) scheme_ = HistogramBins::modulo();
        if (!range_.empty()) scheme_ = exact_ ? exact_bins() : even_bins(type);
        return {{*type_named(counter_), {bins}}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        return histogram(stream, in[0], out[0], scheme_, options);
    }
    PipelineRun run_pipeline(const PipelineDevices& devices, std::span<const PipelineSource* const> in,
                             PipelineSink& out, const PipelineOptions& options) override {
        return pipeline_histogram(devices, *in[0], out, scheme_, options);
    }
    Spread spread_output() const override { return {.whole = true}; }
    Enqueued call_ranks(Communicator& ranks, Stream& stream, Views in, Views out,
                        const Options& options) override {
        return distributed_histogram(ranks, stream, in[0], out[0], scheme_, options);
    }
    std::string title() const override {
        if (!edges_.empty()) return "edges";
        return range_.empty() ? modulo_ ? "modulo" : "identity" : exact_ ? "exact" : "even";
    }

  private:
    [[noreturn]] static void refuse(const char* option, const std::string& why) {
        throw Error(ErrorCode::invalid_argument, option, why);
    }
    RunPlan plan_edges(Type type) {
        if (!range_.empty() || modulo_ || identity_)
            refuse("--edges", "replaces --bins and its rules; leave out --range, --modulo and --identity");
        if (edges_ == "-") refuse("--edges", "requires a file, got '-'");
        const auto file = open_npy(edges_, "--edges");
        const auto got = [&] { return file->name() + ": got "; };
        if (file->shape().size() != 1 || file->count() < 2)
            refuse("--edges", got() + file->description() + "; expected at least 2 numbers along one axis");
        if (file->type() != type && file->type() != Type::f64)
            refuse("--edges", got() + std::string(name_of(file->type())) +
                                  "; expected f64 or the samples' type " + std::string(name_of(type)));
        const std::vector<std::byte> bytes = file->elements();
        detail::visit_type(file->type(), [&]<class T>(detail::TypeTag<T>) {
            std::vector<T> edges(file->count());
            std::memcpy(edges.data(), bytes.data(), bytes.size());
            const auto wrong =
                std::adjacent_find(edges.begin(), edges.end(), [](T a, T b) { return !(a < b); });
            if (wrong != edges.end())
                refuse("--edges",
                       got() + text(wrong[0]) + " before " + text(wrong[1]) + "; edges must ascend");
            scheme_ = HistogramBins::edges(edges);
        });
        return {{*type_named(counter_), {file->count() - 1}}};
    }
    template <class T>
    static std::string text(T x) {
        if constexpr (std::is_floating_point_v<T>)
            return detail::general_text(x, 9);
        else
            return std::to_string(x);
    }
    HistogramBins exact_bins() const {
        const double lo = real(range_[0]);
        return HistogramBins::exact(lo, real(range_[1]));
    }
    // Whole numbers stay exact. Floats, and numbers like 1e3, become doubles.
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
        const double lo = real(range_[0]);  // first, because errors name the first invalid number
        return HistogramBins::even(lo, real(range_[1]));
    }
    static double real(const std::string& text) {
        const std::optional<double> value = detail::number_of_text(text);
        if (!value) refuse("--range", "invalid number '" + text + "'; expected e.g. 0 or -1.5");
        return *value;
    }

    std::string bins_, edges_, counter_ = "u64";
    std::vector<std::string> range_;
    bool exact_ = false, modulo_ = false, identity_ = false;
    HistogramBins scheme_ = HistogramBins::identity();
};

}  // namespace

RunCommand run_histogram() {
    return {.name = "histogram",
            .summary = "Count the elements in each bin",
            .example = "concord run histogram --bins 256 --range -1 1 --in x.npy --out counts.npy",
            .make = make_task<RunHistogram>};
}

}  // namespace concord::app
