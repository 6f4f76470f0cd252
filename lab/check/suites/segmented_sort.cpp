// Test cases of segmented sort: each segment is that of std::stable_sort on its elements.

#include "segments.hpp"
#include "sort_reference.hpp"

#include <concord/lab/suite.hpp>

#include <concord/segmented_sort.hpp>

namespace concord::lab {
namespace {

using Depth = Plan::Depth;

// The expected elements. Those outside of all segments are not verified.
class Reference {
  public:
    Reference(Input keys, std::optional<Input> values, const Segments& segments, const SortBy& by)
        : inputs_{std::move(keys)}, segments_(segments) {
        if (values) inputs_.push_back(std::move(*values));
        order_.by = by;
        order_.key_type = inputs_[0].type;
    }

    void verify(std::size_t output, u64 first, std::span<const std::byte> got, Verdict& verdict) {
        once_.call([&] { sort(); });
        const Input& input = inputs_[output];
        detail::visit_element(input.type, [&]<class T>(detail::TypeTag<T>) {
            for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
                const u64 at = first + i;
                if (at < segments_.offset(0) || at >= segments_.offset(segments_.count())) continue;
                if (std::memcmp(results_[output].data() + at * sizeof(T), got.data() + i * sizeof(T),
                                sizeof(T)) != 0)
                    return verdict.differ(
                        difference_of(at, element<T>(results_[output], at), element<T>(got, i)));
            }
        });
    }

  private:
    void sort() {
        struct Item {
            u64 rank, index;
        };
        std::vector<Item> items(inputs_[0].count);
        std::vector<std::vector<std::byte>> elements;
        for (const Input& input : inputs_) {
            std::vector<std::byte> scratch;
            const auto bytes = input.piece(0, input.count, scratch);
            elements.emplace_back(bytes.begin(), bytes.end());
            results_.push_back(elements.back());
        }
        const u64 size = size_of(inputs_[0].type);
        for (u64 i = 0; i < items.size(); ++i) {
            u64 bits = 0;
            std::memcpy(&bits, elements[0].data() + i * size, size);
            items[i] = {order_.rank(bits), i};
        }
        for (u64 s = 0; s < segments_.count(); ++s) {
            const auto at = [&](u64 offset) { return items.begin() + static_cast<std::ptrdiff_t>(offset); };
            std::stable_sort(at(segments_.offset(s)), at(segments_.offset(s + 1)),
                             [](const Item& a, const Item& b) { return a.rank < b.rank; });
        }
        for (std::size_t k = 0; k < inputs_.size(); ++k) {
            const u64 bytes = size_of(inputs_[k].type);
            for (u64 i = 0; i < items.size(); ++i)
                std::memcpy(results_[k].data() + i * bytes, elements[k].data() + items[i].index * bytes,
                            bytes);
        }
    }

    std::vector<Input> inputs_;  // keys, then values
    Segments segments_;
    SortReferenceOrder order_;
    detail::Once once_;
    std::vector<std::vector<std::byte>> results_;
};

Work work_of(const Input& keys, std::optional<Type> value_type, const Segments& segments, const SortBy& by) {
    Work work;
    work.algorithm = "segmented_sort";
    work.title = std::string(value_type ? "pairs" : "keys") +
                 (by.order == SortOrder::descending ? "_descending" : "") + " of " + segments.name();
    work.n = keys.count;
    work.inputs = {keys, segments.offsets()};
    work.outputs = {{keys.type, keys.count}};
    std::optional<Input> values;
    if (value_type) {
        values = Input{*value_type, keys.count, Pattern::random, keys.seed, [](u64 i, u64) { return i; }};
        work.inputs.push_back(*values);
        work.outputs.push_back({*value_type, keys.count});
    }
    work.traffic = work.bytes();
    work.has_ceiling = false;
    work.in_place = !values;  // for pairs the harness would place only the keys in place
    work.call = [by](Stream& stream, std::span<const View> in, std::span<const View> out,
                     const Options& options) {
        return in.size() == 2
                   ? segmented_sort(stream, in[0], in[1], out[0], by, options)
                   : segmented_sort_pairs(stream, in[0], in[2], in[1], out[0], out[1], by, options);
    };
    work.verify = [reference = std::make_shared<Reference>(keys, values, segments, by)](
                      const Variant&, std::size_t output, u64 first, std::span<const std::byte> got,
                      Verdict& verdict) { reference->verify(output, first, got, verdict); };
    return work;
}

// Together the key types have every size of values.
Type value_type_of(Type type) {
    switch (type) {
        case Type::f64:
        case Type::i8:
            return Type::u64;
        case Type::u8:
        case Type::i64:
            return Type::u16;
        case Type::i16:
        case Type::u64:
            return Type::u8;
        default:
            return Type::u32;
    }
}

void segmented_sort_cases(const Plan& plan, Type type, const CaseSink& emit) {
    using Kind = Segments::Kind;
    std::vector<Segments::Shape> shapes = segment_shapes();
    // One segment, and segments of a few tiles.
    shapes.push_back({Kind::equal, u64{1} << 40, Type::i64});
    shapes.push_back({Kind::around, 9000, Type::u32});
    u32 turn = 0;
    for (const Segments::Shape& shape : shapes) {
        const SortBy by{.order = turn % 4 < 2 ? SortOrder::ascending : SortOrder::descending};
        std::vector<Pattern> patterns{patterns_of(type).back(), Pattern::few};
        if (shape.is_first) patterns.push_back(Pattern::random);
        for (const bool pairs : {false, true}) {
            const bool is_main = pairs == (turn % 2 != 0);
            for_plan(plan, type,
                     shape.is_first && !pairs ? Depth::all
                     : is_main                ? Depth::some
                                              : Depth::few,
                     patterns, emit, [&](u64 n, Pattern pattern) {
                         return work_of({type, n, pattern, plan.seed()},
                                        pairs ? std::optional(value_type_of(type)) : std::nullopt,
                                        Segments(shape, n), by);
                     });
        }
        ++turn;
    }
}

// length: 0 for lengths by a power law.
Work workload(u64 length, std::optional<Type> value_type, Type type, u64 n, u64 seed) {
    const Segments segments({.kind = length == 0 ? Segments::Kind::power : Segments::Kind::equal,
                             .length = length == 0 ? 256 : length,
                             .offset_type = Type::u32},
                            n);
    return work_of({type, n, Pattern::random, seed}, value_type, segments, {});
}

}  // namespace

Suite segmented_sort_suite() {
    Suite suite;
    suite.cases = segmented_sort_cases;
    suite.supports_storage = true;
    suite.headlines = {{.workloads = {"16", "256", "4096", "65536"}, .types = {Type::f32}}};
    suite.tuning = {.workloads = {"4096"}, .guards = {"16"}};
    for (const u64 length : {u64{16}, u64{256}, u64{4096}, u64{65536}, u64{0}})
        suite.workloads.push_back(
            {length == 0 ? "power_law" : std::to_string(length),
             [length](Type type, u64 n, u64 seed) { return workload(length, {}, type, n, seed); }});
    suite.workloads.push_back({"pairs", [](Type type, u64 n, u64 seed) {
                                   return workload(256, size_of(type) == 8 ? Type::u64 : Type::u32, type, n,
                                                   seed);
                               }});
    return suite;
}

}  // namespace concord::lab
