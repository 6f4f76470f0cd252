// Calls of segmented_scan, with wrong offsets too.
#include "../segments.hpp"

namespace concord::fuzz {

FUZZ_CALLS(segmented_scan) {
    const Type type = any_type();
    fill(type);
    const ReduceOp op = any_op(type);
    const ScanKind kind = choices_.one_in(2) ? ScanKind::exclusive : ScanKind::inclusive;
    const View in = range(type, elements(type, 3000)), out = output(in, type, in.count);
    const View offsets =
        range(choices_.any(std::array{Type::u32, Type::u64, Type::i32, Type::i64}), choices_.below(40) + 1);
    const u64 segments = offsets.count == 0 ? 0 : offsets.count - 1;
    if (in.count != out.count || offsets.count == 0) outcome_ = Outcome::refused;
    in_place(in, out);
    no_overlap(offsets, out);
    const Options asked = options(segmented_scan_algorithm);
    // Right offsets in half of the calls, else any bits.
    if (outcome_ != Outcome::refused && !overlap(offsets, in) && choices_.one_in(2))
        put_offsets(machine_, choices_, offsets, in.count);
    const bool right = outcome_ == Outcome::refused || are_right(before(), offsets, in.count);
    bool reported = false;
    verify(
        type,
        [&] {
            concord::segmented_scan(stream(), in, offsets, out, op, kind, asked);
            try {
                stream().synchronize();
            } catch (const Error& error) {
                if (error.code() != ErrorCode::invalid_argument) throw;
                reported = true;
            }
        },
        [&]<class T>(Bytes& to, T) {
            // Without elements or segments the offsets are not read.
            const bool reads = in.count > 0 && segments > 0;
            require(reported == (!right && reads), "wrong offsets are reported");
            for (u64 i = 0; !right && reads && i < out.count; ++i)  // any result is right
                store(to, out, i, machine_.result<T>(out, i));
            with_type(offsets.type, [&]<class O>(O) {
                for (u64 s = 0; right && s < segments; ++s) {
                    T result = identity_of<T>(op);
                    const auto begin = static_cast<u64>(load<O>(before(), offsets, s)),
                               end = static_cast<u64>(load<O>(before(), offsets, s + 1));
                    for (u64 i = begin; i < end; ++i) {
                        const T next = wrapped(op, result, load<T>(before(), in, i));
                        store(to, out, i, kind == ScanKind::exclusive ? result : next);
                        result = next;
                    }
                }
            });
        });
}

}  // namespace concord::fuzz
