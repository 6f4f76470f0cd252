// Baselines of Boost.Compute.

#include "functors.hpp"
#include "opencl.hpp"

#include <boost/compute/algorithm/copy.hpp>
#include <boost/compute/algorithm/copy_if.hpp>
#include <boost/compute/algorithm/exclusive_scan.hpp>
#include <boost/compute/algorithm/inclusive_scan.hpp>
#include <boost/compute/algorithm/reduce.hpp>
#include <boost/compute/algorithm/sort.hpp>
#include <boost/compute/algorithm/sort_by_key.hpp>
#include <boost/compute/algorithm/transform.hpp>
#include <boost/compute/functional.hpp>
#include <boost/compute/iterator/buffer_iterator.hpp>
#include <boost/compute/lambda.hpp>
#include <boost/version.hpp>

#include <limits>

namespace concord::baselines {
namespace {

namespace compute = boost::compute;

// Boost.Compute caches programs by context object, so every call uses the same wrapper of the queue.
compute::command_queue queue_for(Stream& stream) {
    return compute::command_queue(queue_of(stream));
}

// A sub-buffer for a range. Boost.Compute writes the offset of an iterator into the kernel source. Without a
// sub-buffer it would compile a kernel for every copy of the data that calls rotate over.
template <class T>
class Part {
  public:
    explicit Part(const View& view) {
        const cl_buffer_region region{view.offset, view.bytes()};
        cl_int status = CL_SUCCESS;
        cl_mem part = clCreateSubBuffer(memory_of(view), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
        if (status != CL_SUCCESS)  // the device requires another alignment
            throw Error(ErrorCode::unsupported, "clCreateSubBuffer", "failed",
                        "status " + std::to_string(status));
        buffer_ = compute::buffer(part, false);
    }
    // An iterator does not own its buffer.
    compute::buffer_iterator<T> begin() const { return compute::make_buffer_iterator<T>(buffer_); }

  private:
    compute::buffer buffer_;
};

template <class F>
auto rethrown(F f) {
    return [f]() mutable {
        try {
            f();
        } catch (const compute::opencl_error& error) {
            throw Error(ErrorCode::device_failed, "boost::compute", error.what());
        }
    };
}

template <class T, class F>
Call transformed(Stream& stream, const Work& work, Views in, Views out, F f) {
    return rethrown([queue = queue_for(stream), from = Part<T>(in[0]), to = Part<T>(out[0]),
                     n = static_cast<std::ptrdiff_t>(work.n), f]() mutable {
        compute::transform(from.begin(), from.begin() + n, to.begin(), f, queue);
    });
}

Call map(Stream& stream, const Work& work, Views in, Views out) {
    return visit_map(work, [&]<class T>(detail::TypeTag<T>, auto f) -> Call {
        using F = decltype(f);
        using compute::lambda::_1;
        if constexpr (std::is_same_v<F, Negate>) {
            const std::string name = compute::type_name<T>();
            return transformed<T>(
                stream, work, in, out,
                compute::make_function_from_source<T(T)>(
                    "negated", name + " negated(" + name + " x) { return (" + name + ")(-x); }"));
        } else if constexpr (std::is_same_v<F, Square>) {
            return transformed<T>(stream, work, in, out, _1 * _1);
        } else if constexpr (std::is_same_v<F, Sqrt>) {
            return transformed<T>(stream, work, in, out, compute::sqrt<T>());
        } else if constexpr (std::is_same_v<F, Abs> && std::is_floating_point_v<T>) {
            return transformed<T>(stream, work, in, out, compute::fabs<T>());
        } else if constexpr (std::is_same_v<F, Abs>) {
            return transformed<T>(stream, work, in, out, compute::abs<T>());
        } else {
            return rethrown([queue = queue_for(stream), from = Part<T>(in[0]), to = Part<T>(out[0]),
                             n = static_cast<std::ptrdiff_t>(work.n)]() mutable {
                compute::copy(from.begin(), from.begin() + n, to.begin(), queue);
            });
        }
    });
}

Call add(Stream& stream, const Work& work, Views in, Views out) {
    return visit_wrapping(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return rethrown([queue = queue_for(stream), a = Part<T>(in[0]), b = Part<T>(in[1]),
                         to = Part<T>(out[0]), n = static_cast<std::ptrdiff_t>(work.n)]() mutable {
            compute::transform(a.begin(), a.begin() + n, b.begin(), to.begin(), compute::plus<T>(), queue);
        });
    });
}

Call reduce(Stream& stream, const Work& work, Views in, Views out) {
    return visit_reduce(work, [&]<class T>(detail::TypeTag<T>, auto op) -> Call {
        using Op = decltype(op);
        auto with = [&](auto function) {
            return rethrown([queue = queue_for(stream), from = Part<T>(in[0]), to = Part<T>(out[0]),
                             n = static_cast<std::ptrdiff_t>(work.n), function]() mutable {
                compute::reduce(from.begin(), from.begin() + n, to.begin(), function, queue);
            });
        };
        if constexpr (std::is_same_v<Op, Sum>) return with(compute::plus<T>());
        if constexpr (std::is_same_v<Op, Product>) return with(compute::multiplies<T>());
        if constexpr (std::is_same_v<Op, Min>) return with(compute::min<T>());
        return with(compute::max<T>());
    });
}

Call scan(Stream& stream, const Work& work, Views in, Views out) {
    return visit_scan(work, [&]<class T>(detail::TypeTag<T>, auto op, bool exclusive) -> Call {
        using Op = decltype(op);
        auto with = [&](auto function) {
            return rethrown([exclusive, queue = queue_for(stream), from = Part<T>(in[0]),
                             to = Part<T>(out[0]), n = static_cast<std::ptrdiff_t>(work.n),
                             function]() mutable {
                if (exclusive) {
                    compute::exclusive_scan(from.begin(), from.begin() + n, to.begin(),
                                            Op::template identity<T>, function, queue);
                } else {
                    compute::inclusive_scan(from.begin(), from.begin() + n, to.begin(), function, queue);
                }
            });
        };
        if constexpr (std::is_same_v<Op, Sum>) return with(compute::plus<T>());
        if constexpr (std::is_same_v<Op, Product>) return with(compute::multiplies<T>());
        if constexpr (std::is_same_v<Op, Min>) return with(compute::min<T>());
        return with(compute::max<T>());
    });
}

// Boost.Compute returns the end of the output to the host. The host writes the count to the device.
Call compact(Stream& stream, const Work& work, Views in, Views out) {
    return visit_compact(work, [&]<class T>(detail::TypeTag<T>, auto keep) -> Call {
        return rethrown([queue = queue_for(stream), from = Part<T>(in[0]), to = Part<T>(out[0]),
                         count = compute::buffer(memory_of(out[1])), at = out[1].offset,
                         n = static_cast<std::ptrdiff_t>(work.n), limit = keep.limit]() mutable {
            using compute::lambda::_1;
            const auto end = compute::copy_if(from.begin(), from.begin() + n, to.begin(), _1 < limit, queue);
            const u64 kept = static_cast<u64>(end - to.begin());
            queue.enqueue_write_buffer(count, at, sizeof kept, &kept);
        });
    });
}

// The sorts work in place, so each call copies the input first.
Call sort_keys(Stream& stream, const Work& work, Views in, Views out) {
    return visit_sort(work, [&]<class T>(detail::TypeTag<T>) -> Call {
        return rethrown([queue = queue_for(stream), from = Part<T>(in[0]), to = Part<T>(out[0]),
                         n = static_cast<std::ptrdiff_t>(work.n)]() mutable {
            compute::copy(from.begin(), from.begin() + n, to.begin(), queue);
            compute::sort(to.begin(), to.begin() + n, queue);
        });
    });
}

Call sort_pairs(Stream& stream, const Work& work, Views in, Views out) {
    return visit_sort_pairs(work, [&]<class K, class V>(detail::TypeTag<K>, detail::TypeTag<V>) -> Call {
        return rethrown([queue = queue_for(stream), keys = Part<K>(in[0]), values = Part<V>(in[1]),
                         keys_out = Part<K>(out[0]), values_out = Part<V>(out[1]),
                         n = static_cast<std::ptrdiff_t>(work.n)]() mutable {
            compute::copy(keys.begin(), keys.begin() + n, keys_out.begin(), queue);
            compute::copy(values.begin(), values.begin() + n, values_out.begin(), queue);
            compute::sort_by_key(keys_out.begin(), keys_out.begin() + n, values_out.begin(), queue);
        });
    });
}

detail::Support map_support(const Device&, const Work& work) {
    if (work.title == "sqrt" && work.type() == Type::f32)
        return detail::Support::no("its f32 square root is not correctly rounded");
    return {};
}

// For operators other than plus, its GPU code counts groups in f32 arithmetic.
detail::Support reduce_support(const Device& device, const Work& work) {
    if (device.traits().launch == LaunchModel::groups && work.title != "sum" && work.n > u64{1} << 24)
        return detail::Support::no("supports at most 2^24 elements on GPUs, because it counts in f32");
    return {};
}

const char* map_name(const Work& work) {
    return work.title == "copy" ? "boost::compute::copy" : "boost::compute::transform";
}
const char* scan_name(const Work& work) {
    return work.title.rfind("exclusive", 0) == 0 ? "boost::compute::exclusive_scan"
                                                 : "boost::compute::inclusive_scan";
}

void boost_compute(std::vector<Baseline>& list) {
    const std::string version = "Boost.Compute " + std::to_string(BOOST_VERSION / 100000) + "." +
                                std::to_string(BOOST_VERSION / 100 % 1000);
    constexpr u64 most = std::numeric_limits<u32>::max();  // its kernels count in uint
    append(
        list, {"boost_compute", version, "opencl", most},
        {{"map", map_titles, compiled_types, map, map_name, map_support},
         {"add", {"sum"}, compiled_types, add, "boost::compute::transform"},
         {"reduce", reduce_titles, compiled_types, reduce, "boost::compute::reduce", reduce_support},
         {"scan", scan_titles, compiled_types, scan, scan_name},
         {"compact", compact_titles, compiled_types, compact, "boost::compute::copy_if", nullptr, waits},
         {"sort", sort_titles, sort_types, sort_keys, "boost::compute::sort", nullptr, waits},
         {"sort", sort_pairs_titles, sort_types, sort_pairs, "boost::compute::sort_by_key", nullptr, waits}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::boost_compute)
