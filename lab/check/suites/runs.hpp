#pragma once
// Runs of equal neighbours in generated keys. The reference finds them by a plain loop.

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/internal/once.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace concord::lab {

// Keys whose runs have `length` elements; around: 1 to 2 `length`.
inline Input keys_with_runs(Type type, u64 n, u64 length, bool around, u64 seed) {
    Input keys{type, n, Pattern::random, seed};
    keys.custom = [type, length, around, seed](u64 i, u64 /*bits*/) {
        u64 run = i / length;
        if (around && run > 0 && i % length < random_bits(seed, run) % length) --run;
        // Neighbouring runs differ. Floats are in [1, 2).
        if (type == Type::f32) return 0x3f800000U | (run & 0x7fffffU);
        if (type == Type::f64) return 0x3ff0000000000000U | (run & 0xfffffffffffffU);
        return run * 0x9e3779b97f4a7c15U;
    };
    return keys;
}

// The positions at which runs begin.
class Runs {
  public:
    explicit Runs(Input keys) : keys_(std::move(keys)) {}

    const Input& keys() const { return keys_; }
    u64 count() {
        find();
        return starts_.size();
    }
    u64 begin(u64 run) {
        find();
        return starts_[run];
    }
    u64 length(u64 run) {
        find();
        return (run + 1 < starts_.size() ? starts_[run + 1] : keys_.count) - starts_[run];
    }

  private:
    void find() {
        once_.call([&] {
            detail::visit_type(keys_.type, [&]<class K>(detail::TypeTag<K>) {
                constexpr u64 piece = u64{1} << 16;
                std::vector<std::byte> scratch;
                u64 before = 0;  // the bits of the element before
                for (u64 first = 0; first < keys_.count; first += piece) {
                    const u64 length = std::min(piece, keys_.count - first);
                    const auto bytes = keys_.piece(first, length, scratch);
                    for (u64 i = 0; i < length; ++i) {
                        const K key = element<K>(bytes, i);
                        u64 bits = 0;
                        std::memcpy(&bits, &key, sizeof key);
                        bool same = bits == before && first + i > 0;
                        if constexpr (std::is_floating_point_v<K>) same = same && !std::isnan(key);
                        if (!same) starts_.push_back(first + i);
                        before = bits;
                    }
                }
            });
        });
    }

    Input keys_;
    detail::Once once_;
    std::vector<u64> starts_;
};

// Work on runs, whose last output is their number and whose first is a key of each. verify(output, run, got, i,
// verdict) compares element i of `got` for the other outputs.
template <class F>
Work work_on_runs(std::string algorithm, std::string title, const std::shared_ptr<Runs>& runs,
                  const std::vector<Type>& more, F verify) {
    const Input& keys = runs->keys();
    Work work;
    work.algorithm = std::move(algorithm);
    work.title = std::move(title);
    work.inputs = {keys};
    work.n = keys.count;
    work.outputs = {{keys.type, work.n}};
    for (const Type type : more)
        work.outputs.push_back({type, work.n});
    for (Output& output : work.outputs)
        output.written = [runs] { return runs->count(); };
    work.outputs.push_back({Type::u64, 1});
    work.traffic = keys.bytes();
    work.in_place = false;
    const std::size_t last = work.outputs.size() - 1;
    work.verify = [runs, last, verify](const Variant& variant, std::size_t output, u64 first,
                                       std::span<const std::byte> got, Verdict& verdict) {
        if (output == last) {
            if (const u64 given = element<u64>(got, 0); given != runs->count())
                verdict.differ(difference_of<u64>(0, runs->count(), given));
        } else if (output > 0) {
            verify(variant, output, first, got, verdict);
        } else {
            detail::visit_type(runs->keys().type, [&]<class K>(detail::TypeTag<K>) {
                std::vector<std::byte> scratch;
                for (u64 i = 0; i < got.size() / sizeof(K); ++i) {
                    const auto key = runs->keys().piece(runs->begin(first + i), 1, scratch);
                    if (std::memcmp(key.data(), got.data() + i * sizeof(K), sizeof(K)) != 0)
                        verdict.differ(difference_of(first + i, element<K>(key, 0), element<K>(got, i)));
                }
            });
        }
    };
    return work;
}

// Keys of the test cases: all patterns, and runs of many lengths. work(keys, title) makes the work.
template <class F>
void cases_on_runs(const Plan& plan, Type type, const CaseSink& emit, Plan::Depth depth, F work) {
    for_plan(plan, type, depth, patterns_of(type), emit, [&](u64 n, Pattern p) {
        return work(Input{type, n, p, plan.seed()}, std::string("keys"));
    });
    for (const u64 length : {u64{3}, u64{40}, u64{3000}})
        for_plan(plan, type, Plan::Depth::some, {Pattern::random}, emit, [&](u64 n, Pattern) {
            return work(keys_with_runs(type, n, length, true, plan.seed()),
                        "runs around " + std::to_string(length));
        });
}

// The lengths of runs in measured work.
inline constexpr u64 run_lengths[] = {100, 1, 4, 10000};

}  // namespace concord::lab
