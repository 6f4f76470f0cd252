// Calls of unique.
#include "../runs.hpp"

namespace concord::fuzz {

FUZZ_CALLS(unique) {
    const Type type = any_type();
    fill(choices_.one_in(2) ? std::optional(type) : std::nullopt);
    const View in = range(type, elements(type, 3000)),
               out = range(type, choices_.one_in(32) ? in.count / 2 : in.count % 65536 + choices_.below(2)),
               count = range(Type::u64, 1);
    if (out.count < in.count || count.count != 1) outcome_ = Outcome::refused;
    no_overlap(in, out);
    no_overlap(in, count);
    no_overlap(out, count);
    const Options asked = options(unique_algorithm);
    if (outcome_ != Outcome::refused && in.count < 200) lengthen_runs(machine_, choices_, in);
    verify(
        type, [&] { concord::unique(stream(), in, out, count, asked); },
        [&]<class T>(Bytes& to, T) {
            const u64 runs = for_each_run(before(), in, [&](u64 run, u64 first, u64) {
                store(to, out, run, load<T>(before(), in, first));
            });
            store(to, count, 0, runs);
        });
}

}  // namespace concord::fuzz
