// Stream::write, read, copy and fill, and parts of views.
#include "../api.hpp"

#include <algorithm>

namespace concord::fuzz {

FUZZ_CALLS(transfers) {
    fill();
    const View whole = range(any_type(), choices_.below(300));
    if (outcome_ == Outcome::refused) return;
    const u64 first = side(whole.count + 2), count = side(whole.count - std::min(first, whole.count) + 2);
    View view;
    const bool inside = u128{first} + count <= whole.count;
    if (accepts(ErrorCode::invalid_argument, [&] { view = whole.part(first, count); }) != inside)
        require(false, "a part is within its view");
    if (!inside) return;
    require(view.offset == whole.offset + first * size_of(whole.type) && view.count == count,
            "a part has its place");
    const u64 bytes = view.bytes();
    const u64 other = choices_.one_in(32) ? choices_.huge() : choices_.below(buffer_bytes);
    const bool other_fits = u128{other} + bytes <= buffer_bytes;
    const bool apart = u128{other} + bytes <= view.offset || other >= view.offset + bytes;
    Bytes host(bytes);
    switch (choices_.below(4)) {
        case 0:
            machine_.run(
                other_fits ? Outcome::works : Outcome::refused,
                [&] { stream().write(machine_.buffer(), other, before().data() + view.offset, bytes); },
                [&](Bytes& to) { std::memcpy(to.data() + other, before().data() + view.offset, bytes); });
            break;
        case 1:
            machine_.run(
                other_fits ? Outcome::works : Outcome::refused,
                [&] { stream().read(host.data(), machine_.buffer(), other, bytes); }, [](Bytes&) {});
            require(!other_fits || std::equal(host.begin(), host.end(),
                                              before().begin() + static_cast<std::ptrdiff_t>(other)),
                    "a read has the bytes of the buffer");
            break;
        case 2:
            if (!apart && bytes != 0) break;
            machine_.run(
                other_fits ? Outcome::works : Outcome::refused,
                [&] { stream().copy(machine_.buffer(), other, machine_.buffer(), view.offset, bytes); },
                [&](Bytes& to) { std::memcpy(to.data() + other, before().data() + view.offset, bytes); });
            break;
        default: {
            const u32 size = static_cast<u32>(choices_.below(10));
            const bool valid =
                (size == 1 || size == 2 || size == 4 || size == 8) && other % size == 0 && bytes % size == 0;
            const u64 pattern = 0x0123456789abcdef;
            machine_.run(
                other_fits && valid ? Outcome::works : Outcome::refused,
                [&] { stream().fill(machine_.buffer(), other, bytes, &pattern, size); },
                [&](Bytes& to) {
                    for (u64 i = 0; i < bytes; i += size)
                        std::memcpy(to.data() + other + i, &pattern, size);
                });
        }
    }
}

}  // namespace concord::fuzz
