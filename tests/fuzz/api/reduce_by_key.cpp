// Calls of reduce_by_key.
#include "../runs.hpp"

namespace concord::fuzz {

FUZZ_CALLS(reduce_by_key) {
    const Type type = any_type(), key_type = any_type();
    fill(type);
    const ReduceOp op = any_op(type);
    const u64 n = choices_.below(180);
    const View keys = range(key_type, n), values = range(type, choices_.one_in(32) ? n + 1 : n),
               out_keys = range(key_type, n), out = range(type, n + choices_.below(2)),
               count = range(Type::u64, 1);
    if (values.count != keys.count || out_keys.count < keys.count || out.count < keys.count ||
        count.count != 1)
        outcome_ = Outcome::refused;
    for (const View& result : {out_keys, out, count}) {
        no_overlap(keys, result);
        no_overlap(values, result);
    }
    no_overlap(out_keys, out);
    no_overlap(out_keys, count);
    no_overlap(out, count);
    const Options asked = options(reduce_by_key_algorithm);
    // Copies of values are small whole numbers as well.
    if (outcome_ != Outcome::refused && (key_type == type || !overlap(keys, values)))
        lengthen_runs(machine_, choices_, keys);
    verify(
        type, [&] { concord::reduce_by_key(stream(), keys, values, out_keys, out, count, op, asked); },
        [&]<class T>(Bytes& to, T) {
            u64 runs = 0;
            with_type(key_type, [&]<class K>(K) {
                runs = for_each_run(before(), keys, [&](u64 run, u64 first, u64 end) {
                    T result = identity_of<T>(op);
                    for (u64 i = first; i < end; ++i)
                        result = wrapped(op, result, load<T>(before(), values, i));
                    store(to, out_keys, run, load<K>(before(), keys, first));
                    store(to, out, run, result);
                });
            });
            store(to, count, 0, runs);
        });
}

}  // namespace concord::fuzz
