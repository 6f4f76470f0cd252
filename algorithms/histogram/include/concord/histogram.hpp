#pragma once
/// @file
/// Histogram: counts how many samples fall into each bin.
///
///     counters[b] = the number of samples whose bin is b,  0 <= b < N = counters.count
///
/// Shapes: in has any length and any type and may begin at any element. There is one counter per bin, at least one,
/// of type u16, u32 or u64. The call overwrites all counters. An empty input sets them to zero.
///
/// Inputs: a range or an expression (expression.hpp). All variants except `sorted` compute expressions in their
/// kernels. Bins between edges, and `sorted`, evaluate them first.
///
/// Counts: u16 counters saturate at 65535, u32 counters wrap, u64 counters hold any count. Counts are exact in
/// every variant and bitwise identical on every device.
///
/// Memory traffic: one read per sample and one write per counter. `passes` reads samples once per pass, mostly from
/// the cache.
///
/// In place: not supported. counters may not overlap in, which stays unchanged.
///
/// Scratch memory, from the device's pool
/// - u16 counters take 4 or 8 bytes per bin on devices with many work-items per group.
/// - `private_bins` takes 4 bytes per bin, sub-table and task.
/// - `sorted` takes 4 bytes per sample, and the scratch memory of a sort of as many u32 keys.
///
/// Asynchronous: the call enqueues its work on the stream and returns.
///
/// Errors: invalid_argument (counters, overlap, bounds of bins), wrong_device, unsupported, compile_failed,
/// out_of_memory.
///
/// Sources: V. Podlozhnyuk, Histogram calculation in CUDA, 2007; J. Gomez-Luna et al., An optimized approach to
/// histogram computation on GPU, 2013.

#include <concord/algorithm.hpp>
#include <concord/detail/histogram_host.hpp>
#include <concord/expression.hpp>
#include <concord/histogram_bins.hpp>
#include <concord/operators.hpp>

namespace concord {

namespace detail {

// Checks at compile time that counters may have their type.
template <class Counters>
constexpr void check_counters() {
    using C = typename Counters::Element;
    static_assert(std::is_same_v<C, u16> || std::is_same_v<C, u32> || std::is_same_v<C, u64>,
                  "histogram: counters must be u16, u32 or u64");
}

// Throws invalid_argument unless counters may have that type.
void check_counter_type(std::string_view call, Type type);

// A bin function as host kernels for blocks of samples: for at most 2^30 bins, and for more.
struct HistogramHost {
    HostKernel narrow = {}, wide = {};
};

// That of the operator Op for samples T.
template <class T, class Op>
inline constexpr HistogramHost histogram_host = {
    .narrow = host_kernel<&detail::host::histogram_bin<T, u32, Op>>(),
    .wide = plain_host_kernel<&detail::host::histogram_bin<T, u64, Op>>()};

// A call with its types erased.
struct HistogramProblem {
    View in, out;
    const Operator& op;  // the bin of a sample
    ValueBytes values;   // the operator's bound values
    const HistogramHost* host;
    bool nothing = false;               // no sample of this type has a bin
    ExpressionPointer expression = {};  // the samples in place of a range; often null

    Input input() const { return expression ? Input(expression) : Input(in); }
    // The same on a range.
    HistogramProblem on(const View& from) const {
        HistogramProblem problem = *this;
        problem.in = from;
        problem.expression = nullptr;
        return problem;
    }
    u64 bins() const { return out.count; }
    // Type of the arithmetic, for OperationOrder: counts are integers, so they are exact in any order.
    Type type() const { return out.type; }
};

// Bins by a function, and built-in ones.
Enqueued histogram(Stream& stream, const HistogramProblem& problem, const Options& options);
Enqueued histogram(Stream& stream, const Input& in, const View& counters, const HistogramBins& bins,
                   const Options& options);

}  // namespace detail

/// Descriptor of histogram: variants, tunables, tuning label.
extern const Algorithm histogram_algorithm;

/// Counts the samples of in by built-in bins. Even bins require lo < hi, both finite in the samples' type, whole
/// for integer samples, and finite N / (hi - lo).
Enqueued histogram(Stream& stream, const View& in, const View& counters, const HistogramBins& bins,
                   const Options& options = {});

/// Counts the samples of a span, array or expression by built-in bins.
template <InputRange In, OutputRange Out>
Enqueued histogram(Stream& stream, const In& in, const Out& counters, const HistogramBins& bins,
                   const Options& options = {}) {
    detail::check_counters<Out>();
    return detail::histogram(stream, detail::input_of(in), counters.view(), bins, options);
}

/// Counts samples by a bin function made with CONCORD_FUNCTION. It returns an integer of any type for a sample,
/// with its further parameters bound. A sample whose bin is outside [0, N) is not counted.
template <InputRange In, OutputRange Out, class F, class... B>
Enqueued histogram(Stream& stream, const In& in, const Out& counters, const Function<F, B...>& bin,
                   const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = std::remove_const_t<typename In::Element>;
    detail::check_counters<Out>();
    static_assert(Fn::free_count == 1, "the bin function must have one unbound parameter; bind the others");
    static_assert(std::is_integral_v<typename Fn::Result>, "the bin function must return an integer");
    static_assert(std::is_same_v<typename Fn::template Argument<0>, T>,
                  "the bin function's parameter and the samples must have the same type");
    const auto values = bin.packed();
    const detail::Input from = detail::input_of(in);
    return detail::histogram(stream,
                             {.in = from.view,
                              .out = counters.view(),
                              .op = Fn::erased(),
                              .values = {values},
                              .host = &detail::histogram_host<T, typename Fn::Host>,
                              .expression = from.node},
                             options);
}

/// Counts samples by built-in bins, or by a bin function, and returns `count` counters as a new array. C: type of a
/// counter.
template <class C = u64, InputRange In, class Bins>
[[nodiscard("the results are in a new array")]] Array<C> histogram(Stream& stream, const In& in, u64 count,
                                                                   const Bins& bins,
                                                                   const Options& options = {}) {
    Array<C> counters(stream, count);
    histogram(stream, in, counters, bins, options);
    return counters;
}

}  // namespace concord
