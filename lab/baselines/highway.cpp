// Baseline of Google Highway: vectorised quicksort on one thread.

#include "functors.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <cstring>
#include <memory>

namespace concord::baselines {
namespace {

using lab::native_pointer;

// vqsort works in place, so the call copies the input first.
Call vqsort(Stream&, const Work& work, Views in, Views out) {
    return visit_compiled(work.type(), [&]<class T>(detail::TypeTag<T>) -> Call {
        if constexpr (sizeof(T) == 1) {
            return {};
        } else {
            return [from = native_pointer<const T>(in[0]), to = native_pointer<T>(out[0]), n = work.n,
                    sorter = std::make_shared<hwy::Sorter>()] {
                std::memcpy(to, from, n * sizeof(T));
                (*sorter)(to, n, hwy::SortAscending());
            };
        }
    });
}

void highway(std::vector<Baseline>& list) {
    const std::vector<Type> types = {Type::i16, Type::i32, Type::i64, Type::u16,
                                     Type::u32, Type::u64, Type::f32, Type::f64};
    append(list, {"vqsort", "Highway " CONCORD_HIGHWAY_VERSION, "tbb"},
           {{"sort", sort_titles, types, vqsort, "hwy::Sorter"}});
}

}  // namespace
}  // namespace concord::baselines

CONCORD_BASELINE_MODULE(concord::baselines::highway)
