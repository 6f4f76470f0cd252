// Sorts of the CPU libraries. They work in place, so each call copies the input first.

#include "host_sort.hpp"

#include "functors.hpp"

#include <tbb/parallel_sort.h>

#include <cstring>
#include <execution>
#include <memory>

namespace concord::baselines {
namespace {

using lab::native_pointer;

struct StdSort {
    static constexpr const char* name = "std::sort";
    template <class I, class Less>
    static void sort(I first, I last, Less less) {
        std::sort(first, last, less);
    }
};
struct StdStableSort {
    static constexpr const char* name = "std::stable_sort";
    template <class I, class Less>
    static void sort(I first, I last, Less less) {
        std::stable_sort(first, last, less);
    }
};
struct StdParSort {
    static constexpr const char* name = "std::sort(par)";
    template <class I, class Less>
    static void sort(I first, I last, Less less) {
        std::sort(std::execution::par, first, last, less);
    }
};
struct TbbSort {
    static constexpr const char* name = "tbb::parallel_sort";
    template <class I, class Less>
    static void sort(I first, I last, Less less) {
        tbb::parallel_sort(first, last, less);
    }
};

// std::less does not order NaNs and signed zeros. The benchmark's floats contain neither.
template <class Sort>
Call sort_keys(Stream&, const Work& work, Views in, Views out) {
    return visit_compiled(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        return [from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]), n = work.n] {
            std::memcpy(to, from, n * sizeof(T));
            Sort::sort(to, to + n, std::less<T>{});
        };
    });
}

// The libraries sort one array, so the call packs keys and values into pairs.
template <class Sort>
Call sort_pairs(Stream&, const Work& work, Views in, Views out) {
    return visit_sort_pairs(work, [&]<class K, class V>(detail::TypeTag<K>, detail::TypeTag<V>) -> Call {
        struct Pair {
            K key;
            V value;
        };
        return [keys = native_pointer<const K>(in[0]), values = native_pointer<const V>(in[1]),
                keys_out = native_pointer<K>(out[0]), values_out = native_pointer<V>(out[1]), n = work.n,
                pairs = std::make_shared<std::vector<Pair>>(work.n)] {
            for (u64 i = 0; i < n; ++i)
                (*pairs)[i] = {keys[i], values[i]};
            Sort::sort(pairs->begin(), pairs->end(),
                       [](const Pair& a, const Pair& b) { return a.key < b.key; });
            for (u64 i = 0; i < n; ++i) {
                keys_out[i] = (*pairs)[i].key;
                values_out[i] = (*pairs)[i].value;
            }
        };
    });
}

template <class Sort>
std::vector<Row> rows() {
    return {{"sort", sort_titles, compiled_types, sort_keys<Sort>, Sort::name},
            {"sort", sort_pairs_titles, sort_types, sort_pairs<Sort>, Sort::name}};
}

}  // namespace

std::vector<Row> std_sorts() {
    return rows<StdSort>();
}
std::vector<Row> std_stable_sorts() {
    return rows<StdStableSort>();
}
std::vector<Row> std_par_sorts() {
    return rows<StdParSort>();
}
std::vector<Row> tbb_sorts() {
    return rows<TbbSort>();
}

}  // namespace concord::baselines
