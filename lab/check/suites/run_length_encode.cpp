// Test cases of run_length_encode.

#include "runs.hpp"

#include <concord/run_length_encode.hpp>

namespace concord::lab {
namespace {

Work encode_work(const Input& keys, std::string title) {
    const auto runs = std::make_shared<Runs>(keys);
    Work work = work_on_runs(
        "run_length_encode", std::move(title), runs, {Type::u64},
        [runs](const Variant&, std::size_t, u64 first, std::span<const std::byte> got, Verdict& verdict) {
            for (u64 i = 0; i < got.size() / sizeof(u64); ++i) {
                const u64 expected = runs->length(first + i), value = element<u64>(got, i);
                if (value != expected) verdict.differ(difference_of(first + i, expected, value));
            }
        });
    work.call = [](Stream& stream, std::span<const View> in, std::span<const View> out,
                   const Options& options) {
        return run_length_encode(stream, in[0], out[0], out[1], out[2], options);
    };
    return work;
}

void encode_cases(const Plan& plan, Type type, const CaseSink& emit) {
    cases_on_runs(plan, type, emit, Plan::Depth::all, encode_work);
}

}  // namespace

Suite run_length_encode_suite() {
    Suite suite;
    suite.cases = encode_cases;
    suite.headlines = {{.types = {Type::u32}}};
    for (const u64 length : run_lengths)
        suite.workloads.push_back({"runs_" + std::to_string(length), [length](Type type, u64 n, u64 seed) {
                                       Work work = encode_work(keys_with_runs(type, n, length, false, seed),
                                                               "runs of " + std::to_string(length));
                                       work.traffic =
                                           n * size_of(type) + n / length * (size_of(type) + sizeof(u64));
                                       return work;
                                   }});
    return suite;
}

}  // namespace concord::lab
