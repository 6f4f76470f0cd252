#include <concord/internal/kernel_key.hpp>
#include <concord/internal/language.hpp>

#include <cstring>

namespace concord::detail {
namespace {

u64 word_at(const char* from, std::size_t bytes = sizeof(u64)) {
    u64 word = 0;
    std::memcpy(&word, from, bytes);
    return word;
}

// At most eight bytes.
u64 short_word(std::string_view text) {
    const char* const from = text.data();
    const std::size_t size = text.size();
    u32 low = 0, high = 0;
    if (size >= sizeof low) {
        std::memcpy(&low, from, sizeof low);
        std::memcpy(&high, from + size - sizeof high, sizeof high);
        return low | u64{high} << 32;
    }
    for (std::size_t i = 0; i < size; ++i)
        low = low << 8 | static_cast<unsigned char>(from[i]);
    return low;
}

// The exclusive or of the halves of the product, so that every bit of the factors affects every bit of the result.
u64 fold(u64 a, u64 b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

// Each put() writes a value and returns the end of it.
char* put(char* to, u64 word) {
    std::memcpy(to, &word, sizeof word);
    return to + sizeof word;
}
char* put(char* to, const ContentHash& hash) {
    return put(put(to, hash.low), hash.high);
}
template <class T>
char* put(char* to, const T* pointer) {
    return put(to, reinterpret_cast<std::uintptr_t>(pointer));
}

[[gnu::noinline]] char* put_long(char* to, std::string_view text) {
    if (text.size() > longest_text) return put(to, content_hash(text));
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
}
// Writes no size. The caller writes it before, so that different sequences never give the same bytes.
char* put(char* to, std::string_view text) {
    return text.size() <= sizeof(u64) ? put(to, short_word(text)) : put_long(to, text);
}

u64 mixed(u64 hash, u64 a, u64 b) {
    return fold(hash ^ a ^ 0xa0761d6478bd642f, b ^ 0xe7037ed1a0b428db);
}

}  // namespace

// Based on Wang Yi's wyhash: one product of two words per step. Here with two products per step, for 128 bits.
ContentHash content_hash(std::string_view bytes) {
    constexpr u64 secret[] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3};
    ContentHash hash{secret[2] ^ bytes.size(), secret[3] + bytes.size()};
    auto step = [&](u64 a, u64 b) {
        hash = {fold(a ^ secret[0] ^ hash.low, b ^ secret[1]),
                fold(b ^ secret[2] ^ hash.high, a ^ secret[3])};
    };
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 16; left -= 16, at += 16)
        step(word_at(at), word_at(at + 8));
    if (left >= 8) {
        step(word_at(at), word_at(at + 8, left - 8));
    } else if (left > 0) {
        step(word_at(at, left), 0);
    }
    return {fold(hash.low ^ secret[1], hash.high ^ secret[0]),
            fold(hash.high ^ secret[3], hash.low ^ secret[2])};
}

KernelKey::KernelKey(const KernelSpec& spec, Dialect dialect) {
    char* to = put(put(room_, spec.entry.size()), spec.entry);
    u64 hash = mixed(0, spec.entry.size(), word_at(room_ + sizeof(u64)));
    if (!language_of(dialect).is_compiled()) {
        for (const HostKernel::Entry function : spec.host.versions)
            to = put(to, reinterpret_cast<std::uintptr_t>(function));
        // A library that was closed may have had other parameters where this one has its own.
        u64 parameters = spec.host.parameters.size();
        for (const HostKernel::Parameter& p : spec.host.parameters) {
            const u64 type = p.type ? static_cast<u64>(*p.type) + 1 : 0;
            const u64 word =
                u64{p.bytes} << 32 | type << 3 | u64{p.is_rest} << 2 | u64{p.pointer} << 1 | u64{p.is_class};
            parameters = parameters * 0x9e3779b97f4a7c15 + word;
        }
        to = put(put(to, spec.host.parameters.data()), parameters);
        hash = mixed(hash, reinterpret_cast<std::uintptr_t>(spec.host.versions[0]), 0);
    } else {
        if (spec.source != nullptr) to = put(to, spec.source->content());
        to = put(to, u64{spec.max_group_size});
        for (const Constant& constant : spec.constants) {
            to = put(put(to, u64{constant.name_size_} << 32 | constant.kind_), constant.name());
            const char* const value = to;
            to = constant.is_text() ? put(to, constant.text()) : put(to, constant.number_);
            hash = mixed(hash, constant.kind_, word_at(value));
        }
        if (spec.op != nullptr) {
            // Only finish() computes the hash.
            const ContentHash op = spec.op->hash == ContentHash{} ? finish(*spec.op).hash : spec.op->hash;
            to = put(to, op);
            hash = mixed(hash, op.low, op.high);
        }
    }
    size_ = static_cast<std::size_t>(to - room_);
    hash_ = hash;
}

}  // namespace concord::detail
