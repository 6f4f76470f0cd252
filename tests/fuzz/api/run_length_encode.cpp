// Calls of run_length_encode.
#include "../runs.hpp"

namespace concord::fuzz {

FUZZ_CALLS(run_length_encode) {
    const Type type = any_type();
    fill(choices_.one_in(2) ? std::optional(type) : std::nullopt);
    const View in = range(type, elements(type, 1000)),
               out = range(type, in.count % 65536 + choices_.below(2)),
               lengths = range(choices_.one_in(32) ? Type::i64 : Type::u64,
                               choices_.one_in(32) ? in.count / 2 : in.count % 65536),
               count = range(Type::u64, 1);
    if (out.count < in.count || lengths.count < in.count || lengths.type != Type::u64 || count.count != 1)
        outcome_ = Outcome::refused;
    for (const View& result : {out, lengths, count})
        no_overlap(in, result);
    no_overlap(out, lengths);
    no_overlap(out, count);
    no_overlap(lengths, count);
    const Options asked = options(run_length_encode_algorithm);
    if (outcome_ != Outcome::refused && in.count < 200) lengthen_runs(machine_, choices_, in);
    verify(
        type, [&] { concord::run_length_encode(stream(), in, out, lengths, count, asked); },
        [&]<class T>(Bytes& to, T) {
            const u64 runs = for_each_run(before(), in, [&](u64 run, u64 first, u64 end) {
                store(to, out, run, load<T>(before(), in, first));
                store(to, lengths, run, end - first);
            });
            store(to, count, 0, runs);
        });
}

}  // namespace concord::fuzz
