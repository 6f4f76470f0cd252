#include "kernel_key.hpp"

#include <cstring>

namespace concord {
namespace {

u64 word_at(const char* from, std::size_t bytes = sizeof(u64)) {
    u64 word = 0;
    std::memcpy(&word, from, bytes);
    return word;
}

// The halves of the product, folded: every bit of both factors reaches every bit of the result.
u64 fold(u64 a, u64 b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

}  // namespace

// After Wang Yi's wyhash: two words a step, each step a product; here two of them side by side.
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

char* KernelKey::grow(std::size_t bytes) {
    if (more_.empty()) {
        if (bytes <= sizeof room_ - size_) {
            size_ += bytes;
            return room_ + size_ - bytes;
        }
        more_.assign(room_, size_);
    }
    more_.resize(more_.size() + bytes);
    return more_.data() + more_.size() - bytes;
}

template <class T>
void KernelKey::add(const T& value) {
    static_assert(std::has_unique_object_representations_v<T>, "padding has no value");
    std::memcpy(grow(sizeof value), &value, sizeof value);
}

// Its length goes first, so that what follows cannot be taken for a part of it.
void KernelKey::add(std::string_view text) {
    add(text.size());
    if (!text.empty()) std::memcpy(grow(text.size()), text.data(), text.size());
}

void KernelKey::add(const Operator& op) {
    add(std::string_view(op.text));
    add(std::string_view(op.file));
    add(op.line);
    add(op.result);
    for (const std::vector<Type>* types : {&op.arguments, &op.bound}) {
        add(types->size());
        for (const Type type : *types)
            add(type);
    }
}

KernelKey::KernelKey(const KernelSpec& spec, Dialect dialect) {
    add(spec.entry);
    if (dialect == Dialect::host) {
        for (const HostIsa isa : {HostIsa::baseline, HostIsa::avx2, HostIsa::avx512})
            add(spec.host.entry(isa));
        add(spec.host.parameters.data());
        return;
    }
    if (spec.source != nullptr) add(spec.source->content());
    add(spec.max_group_size);
    for (const Constant& constant : spec.constants) {
        add(constant.name_);
        add(constant.value_.index());
        std::visit([this](const auto& value) { add(value); }, constant.value_);
    }
    if (spec.op != nullptr) add(*spec.op);
}

}  // namespace concord
