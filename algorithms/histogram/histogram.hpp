#pragma once
/// Histogram: how many samples fall into each bin.
///
///     counters[b] = the number of samples whose bin is b,  0 <= b < N = counters.count
///
/// Shapes: in of any length and type, at any element offset; counters of one element at least, of u16, u32 or
/// u64, not within in. Counters are overwritten; they are all zero for an empty input. u16 stops at 65535,
/// u32 wraps, u64 holds any count: exactly, on every device and in every variant, whatever the order. in stays
/// as it is. Traffic: every sample is read once (by `passes` once a pass, mostly from cache), the counters are
/// written once. Enqueues on the stream and returns; scratch from the device's pool: 4 or 8 bytes a bin for
/// u16 counters on devices of many work-items, 4 bytes a bin, sub-table and task for `private_bins`, 4 bytes a sample and
/// what `sort` takes for as many keys of u32 in `sorted`. Errors:
/// invalid_argument (no counters, their type, overlap, bounds), wrong_device, unsupported, compile_failed,
/// out_of_memory. Source: V. Podlozhnyuk, Histogram calculation in CUDA, 2007; J. Gomez-Luna et al., An
/// optimized approach to histogram computation on GPU, 2013.

#include <concord/algorithm.hpp>
#include <concord/detail/histogram_host.hpp>
#include <concord/histogram_bins.hpp>
#include <concord/operators.hpp>

namespace concord {

namespace detail {

/// The host kernels of one binning of one type. A null one is not compiled.
struct HistogramHost {
    HostKernel bins = {}, serial = {}, global = {};
    HostKernel local = {}, packed16 = {}, ids = {};  ///< the textbook's
};

/// All of them; defined in concord/histogram_textbook.hpp.
template <class T, class Op>
struct HistogramTextbook;

/// Those of a call: the textbook's only on request.
template <class T, class Op>
const HistogramHost& histogram_host() {
    using O = HostOperator<Op>;
    if constexpr (O::textbook) {
        return HistogramTextbook<T, typename O::Type>::kernels;
    } else {
        static constexpr HistogramHost kernels{
            .bins = host_kernel<&detail::host::histogram_bins<T, Op>>(),
            .serial = plain_host_kernel<&detail::host::histogram_serial<T, Op>>(),
            .global = plain_host_kernel<&detail::host::histogram_global<T, Op>>()};
        return kernels;
    }
}

/// A call with its types erased.
struct HistogramProblem {
    View in, out;
    const Operator& op;  ///< a sample's bin
    ValueBytes values;   ///< the operator's bound values
    const HistogramHost* host;
    bool nothing = false;  ///< no sample of the type has a bin

    u64 bins() const { return out.count; }
    /// That of the arithmetic whose order could matter: counts are exact in any.
    Type type() const { return out.type; }
};

/// A user's bin function.
Enqueued histogram(Stream& stream, const HistogramProblem& problem, const Options& options);

}  // namespace detail

extern const Algorithm histogram_algorithm;

/// Counts the samples of `in` in the bins that `bins` says; even bins need lo < hi, both finite in the samples'
/// type, whole for integer samples, and N / (hi - lo) finite too.
Enqueued histogram(Stream& stream, const View& in, const View& counters, const HistogramBins& bins,
                   const Options& options = {});

/// The same on spans or arrays.
template <Range In, Range Out>
Enqueued histogram(Stream& stream, const In& in, const Out& counters, const HistogramBins& bins,
                   const Options& options = {}) {
    return histogram(stream, View(in.view()), View(counters.view()), bins, options);
}

/// Bins by a function made with CONCORD_FUNCTION: an integer of any type of a sample, once its trailing
/// parameters are bound. Samples for which it is outside [0, N) are not counted.
template <Range In, Range Out, class F, class... B>
Enqueued histogram(Stream& stream, const In& in, const Out& counters, const Function<F, B...>& bin,
                   const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = std::remove_const_t<typename In::Element>;
    static_assert(Fn::free_count == 1, "the function takes another number of samples: bind the rest");
    static_assert(std::is_integral_v<typename Fn::Result>, "a bin is an integer");
    static_assert(std::is_same_v<typename Fn::template Argument<0>, T>,
                  "the samples and the function's parameter have different types");
    const auto values = bin.packed();
    return detail::histogram(stream,
                             {in.view(),
                              counters.view(),
                              Fn::erased(),
                              {values},
                              &detail::histogram_host<T, typename Fn::Host>(),
                              false},
                             options);
}

}  // namespace concord
