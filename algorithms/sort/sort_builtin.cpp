// Sort in the keys' own order. A separate file because its host kernels, one set for each size of key and value,
// take long to compile.

#include "sort_table.hpp"

#include <concord/sort_textbook.hpp>

namespace concord {
namespace detail {
namespace {

template <class V>
const SortHost* host_of(u32 key_size) {
    return visit_size(key_size, [](auto tag) {
        return &SortTextbook<typename decltype(tag)::type, V, detail::host::Ascending>::kernels;
    });
}

Enqueued sort_codes(Stream& stream, const View& in, const View& values_in, const View& out,
                    const View& values_out, const SortBy& by, const Options& options) {
    const SortCode code = sort_code(in.type, by);
    const detail::host::Ascending less{code.fold, code.flip};
    const u32 value_size = values_in.buffer != nullptr ? size_of(values_in.type) : 0;
    return sort(stream,
                {.in = in,
                 .out = out,
                 .values_in = values_in,
                 .values_out = values_out,
                 .by = by,
                 .less = nullptr,
                 .less_values = {std::as_bytes(std::span(&less, 1))},
                 .host = sort_builtin_host(size_of(in.type), value_size)},
                options);
}

}  // namespace

const SortHost* sort_builtin_host(u32 key_size, u32 value_size) {
    if (value_size == 0) return host_of<detail::host::NoValue>(key_size);
    return visit_size(value_size, [&](auto tag) { return host_of<typename decltype(tag)::type>(key_size); });
}

}  // namespace detail

Enqueued sort(Stream& stream, const View& in, const View& out, const SortBy& by, const Options& options) {
    return detail::sort_codes(stream, in, {}, out, {}, by, options);
}

Enqueued sort_pairs(Stream& stream, const View& keys_in, const View& values_in, const View& keys_out,
                    const View& values_out, const SortBy& by, const Options& options) {
    return detail::sort_codes(stream, keys_in, values_in, keys_out, values_out, by, options);
}

}  // namespace concord
