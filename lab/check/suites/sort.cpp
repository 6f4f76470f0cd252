// Test cases of sort.

#include <concord/lab/suite.hpp>

#include <concord/sort.hpp>
#include <concord/sort_axes.hpp>

#include "lines.hpp"
#include "sort_reference.hpp"

namespace concord::lab {

CONCORD_FUNCTION(u8, by_remainder, (u32 a, u32 b, u32 of), return a % of < b % of ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(i32, nearer, (f32 a, f32 b, f32 to), return fabs(a - to) < fabs(b - to) ? -3 : 0;)
CONCORD_FUNCTION(u64, by_low_half, (i64 a, i64 b), return (u32)b < (u32)a ? (u64)1 << 40 : (u64)0;)
CONCORD_FUNCTION(u8, by_bits, (u8 a, u8 b), return (a & 7) < (b & 7) ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(u16, remainder_key, (u32 x, u32 of), return (u16)(x % of);)
CONCORD_FUNCTION(f32, distance_key, (f64 x, f64 to), return (f32)fabs(x - to);)

namespace {

using Depth = Plan::Depth;

enum class Elements { keys, pairs };

// Larger inputs are generated such that their sorted order is known.
constexpr u64 max_sorted = u64{1} << 24;

template <class T>
T from_bits(u64 bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T>
u64 to_bits(T value) {
    u64 bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

using Call =
    std::function<Enqueued(Stream&, std::span<const View> in, std::span<const View> out, const Options&)>;

Call builtin_call(const SortBy& by) {
    return [by](Stream& stream, std::span<const View> in, std::span<const View> out, const Options& options) {
        return in.size() == 1 ? sort(stream, in[0], out[0], by, options)
                              : sort_pairs(stream, in[0], in[1], out[0], out[1], by, options);
    };
}

Work sort_work(std::string title, const Input& keys, const std::optional<Input>& values) {
    Work work;
    work.algorithm = "sort";
    work.title = std::move(title);
    work.n = keys.count;
    work.inputs = {keys};
    work.outputs = {{keys.type, keys.count}};
    if (values) {
        work.inputs.push_back(*values);
        work.outputs.push_back({values->type, values->count});
    }
    work.traffic = work.bytes();
    work.has_ceiling = false;
    work.in_place = !values;  // for pairs the harness would place only the keys in place
    return work;
}

Work sorted_work(std::string title, const Input& keys, const std::optional<Input>& values,
                 SortReferenceOrder order, Call call) {
    Work work = sort_work(std::move(title), keys, values);
    work.call = std::move(call);
    work.verify = [reference = std::make_shared<SortReference>(keys, values, std::move(order))](
                      const Variant& variant, std::size_t output, u64 first, std::span<const std::byte> got,
                      Verdict& verdict) { reference->verify(variant, output, first, got, verdict); };
    return work;
}

// Values that are the elements' indices, modulo the range of the type.
Input indices(Type type, u64 n, u64 seed) {
    return {type, n, Pattern::random, seed, [](u64 i, u64) { return i; }};
}

Work builtin_work(std::string title, const Input& keys, std::optional<Type> value_type, const SortBy& by) {
    std::optional<Input> values;
    if (value_type) values = indices(*value_type, keys.count, keys.seed);
    SortReferenceOrder order;
    order.by = by;
    order.key_type = keys.type;
    return sorted_work(std::move(title), keys, values, std::move(order), builtin_call(by));
}

// Keys with a known sorted order, alone or with their indices.
Work known_work(std::string title, const KnownOrder& known, std::optional<Type> value_type,
                const SortBy& by) {
    const Input keys = known.input();
    std::optional<Input> values;
    if (value_type) values = indices(*value_type, keys.count, keys.seed);
    Work work = sort_work(std::move(title), keys, values);
    work.call = builtin_call(by);
    work.verify = [known, outputs = work.outputs](const Variant&, std::size_t output, u64 first,
                                                  std::span<const std::byte> got, Verdict& verdict) {
        detail::visit_element(outputs[output].type, [&]<class T>(detail::TypeTag<T>) {
            for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
                const T expected =
                    from_bits<T>(output == 0 ? known.sorted_key(first + i) : known.sorted_index(first + i));
                const T value = element<T>(got, i);
                if (!same(expected, value)) return verdict.differ(difference_of(first + i, expected, value));
            }
        });
    };
    return work;
}

Work keys_work(const char* title, Type type, u64 n, Pattern pattern, u64 seed, const SortBy& by) {
    if (n > max_sorted) return known_work(title, {type, n, seed, by.order}, {}, by);
    return builtin_work(title, {type, n, pattern, seed}, {}, by);
}

// A user's comparator. The host compiler's version of it is the reference.
template <class T, class F>
Work less_work(const char* title, const Input& keys, std::optional<Input> values, const F& less) {
    SortReferenceOrder order;
    order.key_type = keys.type;
    order.less = [less](u64 a, u64 b) { return less(from_bits<T>(a), from_bits<T>(b)) != 0; };
    return sorted_work(
        title, keys, values, std::move(order),
        [less](Stream& stream, std::span<const View> in, std::span<const View> out, const Options& options) {
            if (in.size() == 1) return sort(stream, Span<T>(in[0]), Span<T>(out[0]), less, {}, options);
            return sort_pairs(stream, Span<T>(in[0]), Span<u32>(in[1]), Span<T>(out[0]), Span<u32>(out[1]),
                              less, {}, options);
        });
}

template <class T, class F>
Work key_work(const char* title, const Input& in, const F& key, const SortBy& by) {
    SortReferenceOrder order;
    order.by = by;
    order.key_type = type_of<typename F::Result>();
    order.key = [key](u64 x) { return to_bits(key(from_bits<T>(x))); };
    return sorted_work(title, in, {}, std::move(order),
                       [key, by](Stream& stream, std::span<const View> views, std::span<const View> out,
                                 const Options& options) {
                           return sort(stream, Span<T>(views[0]), Span<T>(out[0]), key, by, options);
                       });
}

// Values whose size differs from the keys'. Together the key types test every size of values.
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

// What a call over an axis sorts.
enum class LinesElements { keys, pairs, indices };

// Sort over an axis: each line is that of std::stable_sort on its elements.
class LinesReference {
  public:
    LinesReference(const LinesShape& shape, LinesElements elements, const SortBy& by, const Work& work)
        : shape_(shape), elements_(elements), inputs_(work.inputs), outputs_(work.outputs) {
        order_.by = by;
        order_.key_type = inputs_[0].type;
    }

    void verify(std::size_t output, u64 first, std::span<const std::byte> got, Verdict& verdict) {
        once_.call([&] { sort(); });
        detail::visit_element(outputs_[output].type, [&]<class T>(detail::TypeTag<T>) {
            for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
                const T expected = from_bits<T>(results_[output][first + i]), value = element<T>(got, i);
                if (to_bits(expected) != to_bits(value))
                    return verdict.differ(difference_of(first + i, expected, value));
            }
        });
    }

  private:
    static std::vector<u64> bits_of(const Input& input) {
        std::vector<std::byte> scratch;
        const auto bytes = input.piece(0, input.count, scratch);
        const u64 size = size_of(input.type);
        std::vector<u64> bits(input.count);
        for (u64 i = 0; i < input.count; ++i)
            std::memcpy(&bits[i], bytes.data() + i * size, size);
        return bits;
    }
    void sort() {
        const std::vector<u64> keys = bits_of(inputs_[0]);
        std::vector<u64> values;
        if (elements_ == LinesElements::pairs) values = bits_of(inputs_[1]);
        results_.assign(outputs_.size(), std::vector<u64>(shape_.out().size()));
        struct Item {
            u64 rank, index;
        };
        std::vector<Item> items(shape_.length());
        for (u64 line = 0; line < shape_.lines(); ++line) {
            for (u64 i = 0; i < items.size(); ++i)
                items[i] = {order_.rank(keys[shape_.in().place(shape_.index(line, i))]), i};
            std::stable_sort(items.begin(), items.end(),
                             [](const Item& a, const Item& b) { return a.rank < b.rank; });
            for (u64 i = 0; i < items.size(); ++i) {
                const u64 from = shape_.in().place(shape_.index(line, items[i].index)),
                          to = shape_.out().place(shape_.index(line, i));
                results_[0][to] = elements_ == LinesElements::indices ? items[i].index : keys[from];
                if (elements_ == LinesElements::pairs) results_[1][to] = values[from];
            }
        }
    }

    LinesShape shape_;
    LinesElements elements_;
    std::vector<Input> inputs_;
    std::vector<Output> outputs_;
    SortReferenceOrder order_;
    detail::Once once_;
    std::vector<std::vector<u64>> results_;  // bits of each output
};

Work lines_work(const LinesCase& of, LinesElements elements, const SortBy& by, Input keys, Type value_type) {
    const LinesShape shape(of, keys.count);
    keys.count = shape.in().memory();
    Work work;
    work.algorithm = "sort";
    work.n = shape.out().size();
    work.inputs = {keys};
    switch (elements) {
        case LinesElements::keys:
            work.title = "keys of ";
            work.outputs = {{keys.type, work.n}};
            break;
        case LinesElements::pairs:
            work.title = "pairs of ";
            work.inputs.push_back(indices(value_type, keys.count, keys.seed));
            work.outputs = {{keys.type, work.n}, {value_type, work.n}};
            break;
        case LinesElements::indices:
            work.title = "indices of ";
            work.outputs = {{size_of(keys.type) == 8 ? Type::u64 : Type::u32, work.n}};
            break;
    }
    work.title += of.title;
    work.traffic = work.bytes();
    work.has_ceiling = false;
    work.in_place = shape.in_place() && elements == LinesElements::keys;
    work.variant = &lines_variant;
    work.verify = [reference = std::make_shared<LinesReference>(shape, elements, by, work)](
                      const Variant&, std::size_t output, u64 first, std::span<const std::byte> got,
                      Verdict& verdict) { reference->verify(output, first, got, verdict); };
    work.call = [shape, elements, by](Stream& stream, std::span<const View> in, std::span<const View> out,
                                      const Options& options) {
        const NdView from = shape.in().view(in[0]), to = shape.out().view(out[0]);
        if (!shape.in_place() && from.size() > 0)
            check_refused("sort", [&] {
                (void)sort(stream, from, shape.out().view(in[0]), shape.axis(), by, options);
            });
        switch (elements) {
            case LinesElements::keys:
                return sort(stream, from, to, shape.axis(), by, options);
            case LinesElements::pairs:
                return sort_pairs(stream, from, shape.in().view(in[1]), to, shape.out().view(out[1]),
                                  shape.axis(), by, options);
            case LinesElements::indices:
                break;
        }
        return argsort(stream, from, to, shape.axis(), by, options);
    };
    return work;
}

void sort_cases(const Plan& plan, Type type, const CaseSink& emit) {
    std::vector<Pattern> all = patterns_of(type), few = {Pattern::random, Pattern::few, Pattern::skewed};
    for (const Pattern more : {Pattern::sorted, Pattern::reversed, Pattern::few, Pattern::digit,
                               Pattern::skewed, Pattern::alternating})
        all.push_back(more);
    if (is_float(type)) few.push_back(Pattern::special);
    const SortBy ascending{}, descending{.order = SortOrder::descending};
    auto input = [&](u64 n, Pattern pattern) { return Input{type, n, pattern, plan.seed()}; };
    // Sorting is slow, so only one or two sizes past 2^17 are tested, except in a full plan or with the user's sizes.
    auto wanted = [&](u64 n) {
        return n < u64{1} << 17 || n == 1000003 || (n == 2109497 && type == Type::f32) || plan.full() ||
               !plan.sizes_or({}).empty();
    };
    auto cases = [&](Depth depth, const std::vector<Pattern>& patterns, auto make) {
        std::size_t index = 0;
        for (const u64 n : plan.sizes(type, depth)) {
            const bool some =
                depth == Depth::some && n == (u64{1} << 20) + 1 && (type == Type::u32 || type == Type::f64);
            if (!wanted(n) && !some) continue;
            for (const Plan::Shape& shape : plan.shapes(index++, n, patterns))
                emit(make(n, shape.pattern), shape.placements);
        }
    };

    cases(Depth::huge, all,
          [&](u64 n, Pattern p) { return keys_work("keys", type, n, p, plan.seed(), ascending); });
    cases(Depth::some, few, [&](u64 n, Pattern p) {
        return keys_work("keys_descending", type, n, p, plan.seed(), descending);
    });
    const Type value_type = value_type_of(type);
    cases(Depth::some, all,
          [&](u64 n, Pattern p) { return builtin_work("pairs", input(n, p), value_type, ascending); });
    if (type == Type::f32 || type == Type::u64 || type == Type::i8)
        cases(Depth::some, few, [&](u64 n, Pattern p) {
            return builtin_work("pairs_descending", input(n, p), value_type, descending);
        });
    // Bit ranges within a digit, across digits, and of a single bit.
    auto bits = [&](const char* title, Elements elements, const SortBy& by) {
        cases(Depth::some, few, [&](u64 n, Pattern p) {
            return builtin_work(title, input(n, p),
                                elements == Elements::pairs ? std::optional(value_type) : std::nullopt, by);
        });
    };
    if (type == Type::u32) bits("pairs_bits_5_21", Elements::pairs, {.begin_bit = 5, .end_bit = 21});
    if (type == Type::f32)
        bits("keys_bits_9_32", Elements::keys,
             {.order = SortOrder::descending, .begin_bit = 9, .end_bit = 32});
    if (type == Type::i64) bits("keys_bits_63_64", Elements::keys, {.begin_bit = 63, .end_bit = 64});
    if (type == Type::u8) bits("pairs_bits_2_5", Elements::pairs, {.begin_bit = 2, .end_bit = 5});

    // Lines: each shape with one of keys, pairs and indices, and over all shapes every combination with an order.
    u32 turn = 0;
    for (const LinesCase& of : lines_cases()) {
        const auto elements = static_cast<LinesElements>(turn % 3);
        const SortBy& by = turn % 2 == 0 ? ascending : descending;
        if (!is_storage(type))
            cases(Depth::few, {Pattern::few, patterns_of(type).back()},
                  [&](u64 n, Pattern p) { return lines_work(of, elements, by, input(n, p), value_type); });
        ++turn;
    }

    // Comparators and key functions.
    auto less = [&](auto tag, const char* title, Elements elements, const auto& f) {
        cases(Depth::some, {Pattern::random, Pattern::few}, [&](u64 n, Pattern p) {
            std::optional<Input> values;
            if (elements == Elements::pairs) values = indices(Type::u32, n, plan.seed());
            return less_work<typename decltype(tag)::type>(title, input(n, p), values, f);
        });
    };
    auto key = [&](auto tag, const char* title, const auto& f, const SortBy& by) {
        cases(Depth::some, {Pattern::random, Pattern::few}, [&](u64 n, Pattern p) {
            return key_work<typename decltype(tag)::type>(title, input(n, p), f, by);
        });
    };
    switch (type) {
        case Type::u32:
            less(detail::TypeTag<u32>{}, "by_remainder", Elements::keys, by_remainder.bind(1000));
            less(detail::TypeTag<u32>{}, "pairs_by_remainder", Elements::pairs, by_remainder.bind(10));
            key(detail::TypeTag<u32>{}, "remainder_key", remainder_key.bind(777), ascending);
            break;
        case Type::f32:
            less(detail::TypeTag<f32>{}, "nearer", Elements::keys, nearer.bind(0.25f));
            break;
        case Type::i64:
            less(detail::TypeTag<i64>{}, "pairs_by_low_half", Elements::pairs, by_low_half);
            break;
        case Type::u8:
            less(detail::TypeTag<u8>{}, "by_bits", Elements::keys, by_bits);
            break;
        case Type::f64:
            key(detail::TypeTag<f64>{}, "distance_key", distance_key.bind(0.5), descending);
            break;
        default:
            break;
    }
}

// Keys that benchmarks measure. Many keys in random order have a known sorted order. Peers do not order NaNs, so there
// are none.
Work workload(const char* title, Pattern pattern, Type type, u64 n, u64 seed) {
    constexpr u64 few = u64{1} << 22;
    if (pattern == Pattern::random && n > few)
        return known_work(title, {type, n, seed, SortOrder::ascending, false}, {}, {});
    return builtin_work(title, {type, n, pattern, seed}, {}, {});
}

// Pairs of a key and its index, a u64 for 8-byte keys and a u32 for others.
Work pairs_workload(const char* title, Type type, u64 n, u64 seed) {
    const Type value_type = size_of(type) == 8 ? Type::u64 : Type::u32;
    const KnownOrder known(type, n, seed, SortOrder::ascending, false);
    constexpr u64 few = u64{1} << 22;
    if (n > few && known.distinct()) return known_work(title, known, value_type, {});
    return builtin_work(title, {type, n, Pattern::random, seed}, value_type, {});
}

}  // namespace

Suite sort_suite() {
    Suite suite;
    suite.cases = sort_cases;
    suite.more_variants = {&lines_variant};
    suite.supports_storage = true;
    suite.study_sizes.quick = {1 << 18};
    suite.scaling_sizes = {.quick = powers_of_two(16, 18, 1), .full = powers_of_two(16, 22, 1)};
    // 2^13: `auto` uses a variant for few elements on GPUs.
    const Sizes sizes = {powers_of_two(13, 20, 7), {1 << 10, 1 << 13, 1 << 16, 1 << 20, 1 << 24, 1 << 28}};
    suite.headlines = {{.types = {Type::f32, Type::u32, Type::u64, Type::u8}, .sizes = sizes},
                       {.workloads = {"pairs"}, .types = {Type::u32}, .sizes = sizes}};
    suite.tuning = {.workloads = {"keys", "pairs"},
                    .types = {Type::u32, Type::f32, Type::u64, Type::u16, Type::u8},
                    .quick_workloads = 2,
                    .guards = {"_sorted", "_few", "_skewed"}};
    suite.steps = {
        .name = "sort",
        .question = "How much does each step from sorting networks to radix sorts gain?",
        .explanation =
            "Sorting networks do n log² n comparisons, whatever the data. Radix sorts read each digit "
            "of the keys once.",
        .sizes = {.quick = powers_of_two(10, 18, 4), .full = powers_of_two(10, 26, 4)},
        .rate = StepsStudy::Rate::items,
        .types = {Type::u32}};
    constexpr std::pair<const char*, Pattern> workloads[] = {{"keys", Pattern::random},
                                                             {"keys_sorted", Pattern::sorted},
                                                             {"keys_few", Pattern::few},
                                                             {"keys_skewed", Pattern::skewed}};
    for (const auto& [title, pattern] : workloads)
        suite.workloads.push_back({title, [title = title, pattern = pattern](Type type, u64 n, u64 seed) {
                                       return workload(title, pattern, type, n, seed);
                                   }});
    suite.workloads.push_back(
        {"pairs", [](Type type, u64 n, u64 seed) { return pairs_workload("pairs", type, n, seed); }});
    suite.workloads.push_back({"by_less", [](Type type, u64 n, u64 seed) -> std::optional<Work> {
                                   if (type != Type::u32) return std::nullopt;
                                   return less_work<u32>("by_less", {type, n, Pattern::random, seed}, {},
                                                         by_remainder.bind(1U << 31));
                               }});
    return suite;
}

}  // namespace concord::lab
