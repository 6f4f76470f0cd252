#pragma once
// Segmented reduce, host dialect. Parallel sources: segmented_short.kernel, segmented_parts.kernel,
// segmented_upper.kernel and segmented_reduce_wide.cl.
//
// Algorithm  Each segment is reduced in the order of reduce.hpp. A group reduces a run of segments. The chunks of long
//            segments go to a list, which all groups of the next stage share.
// Passes     one launch, or three if there may be long segments. Traffic: reads every element and offset once.
// Tunables   each: segments per group, a launch argument.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree); the rest is Concord's.
//
// T: element type; Op: the operator.

#include <concord/detail/index_word.hpp>
#include <concord/detail/reduce_lines_host.hpp>
#include <concord/reduce.hpp>

#include <atomic>

namespace concord::detail {

// A chunk of a segment: its first element in the input, and how many there are. Kernels in other languages have the
// same structs (segmented_lists.kernel).
struct SegmentPart {
    u64 begin = 0, length = 0;
};
// A segment of several chunks: the position of the first one in the list of chunks.
struct SegmentWhole {
    u64 segment = 0, first = 0, chunks = 0;
};
// Room of the lists, which wrong offsets could exceed.
struct SegmentRoom {
    u32 parts = 0, wholes = 0;
};

namespace host {

// What a launch does.
enum class SegmentStage : u32 { segments, parts, wholes };

// Offsets of one of the types u32, i32, u64 and i64.
struct Offsets {
    const u8* items;
    u32 size;  // bytes of an offset
    bool is_signed;

    [[gnu::always_inline]] u64 at(u64 i) const {
        if (size == 8) {
            u64 offset = 0;
            std::memcpy(&offset, items + i * 8, 8);
            return offset;
        }
        u32 narrow = 0;
        std::memcpy(&narrow, items + i * 4, 4);
        return is_signed ? static_cast<u64>(static_cast<i64>(static_cast<i32>(narrow))) : narrow;
    }
};

// Reduces at most `columns` elements. Columns without elements hold the identity.
template <u64 columns, class T, class Op>
[[gnu::always_inline]] inline T reduce_few(const T* items, u64 length, T identity, const Op op) {
    alignas(64) T sum[columns];
    for (u64 l = 0; l < columns; ++l)
        sum[l] = identity;
    for (u64 l = 0; l < length; ++l)
        sum[l] = op(identity, items[l]);
    combine_with_none(sum, columns, columns, identity, op);
    for (u64 distance = columns / 2; distance > 0; distance /= 2) {
        for (u64 l = 0; l < distance; ++l)
            sum[l] = op(sum[l], sum[l + distance]);
    }
    return canonical(sum[0]);
}

// The elements of short segments, which follow one another. Those of an expression are computed in blocks.
template <class T>
class SegmentItems {
  public:
    // end: of the last segment.
    [[gnu::always_inline]] SegmentItems(const HostInput<T>& in, HostIsa isa, u64 end)
        : in_(in), isa_(isa), end_(end) {}
    // At most block_length elements from `begin` on.
    [[gnu::always_inline]] const T* at(u64 begin, u64 length) {
        if (in_.is_range()) return in_.range() + begin;
        if (begin < first_ || begin + length > first_ + count_) compute(begin, length);
        return items_ + (begin - first_);
    }

  private:
    [[gnu::noinline]] void compute(u64 begin, u64 length) {
        first_ = begin;
        count_ = begin + length < end_ ? min_of(block_length, end_ - begin) : length;
        items_ = in_.block(isa_, first_, count_, room_);
    }

    const HostInput<T>& in_;
    HostIsa isa_;
    u64 end_;
    const T* items_ = nullptr;
    u64 first_ = 0, count_ = 0;
    alignas(64) T room_[block_length];  // other blocks share the room of the thread
};

// Chunks of a segment that one group reduces without the lists.
inline constexpr u64 own_chunks = 64;

// The stage `segments`.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_segments(const Group& group, const Offsets& offsets,
                                                   const HostInput<T>& in, T* out, SegmentPart* parts,
                                                   SegmentWhole* wholes, u32* counts, u32* word, u64 n,
                                                   u64 segments, u64 each, const SegmentRoom room, T identity,
                                                   const Op op) {
    constexpr u64 few = 8, some = 32;
    const u64 first = group.x * each, stop = min_of(segments, first + each);
    if (first >= stop) return;
    SegmentItems<T> items(in, group.isa, min_of(offsets.at(stop), n));
    u64 next = offsets.at(first);
    if (next > n) report_index(word, first);
    for (u64 s = first; s < stop; ++s) {
        const u64 from = min_of(next, n);
        next = offsets.at(s + 1);
        if (next > n || next < from) report_index(word, s + 1);
        const u64 end = min_of(next, n), length = end > from ? end - from : 0;
        if (length <= few) {
            // Without elements the result is the identity itself.
            out[s] = length == 0 ? canonical(identity)
                                 : reduce_few<few>(items.at(from, length), length, identity, op);
            continue;
        }
        if (length <= some) {
            out[s] = reduce_few<some>(items.at(from, length), length, identity, op);
            continue;
        }
        const u64 chunk = canonical_chunk(length), chunks = (length + chunk - 1) / chunk;
        const auto items_from = [&](u64 i) { return InputItems<T>{in, group.isa, from + i}; };
        if (chunks == 1) {
            out[s] = reduce_chunk(items_from(0), length, identity, op);
        } else if (chunks <= own_chunks) {
            T sums[own_chunks];
            reduce_level(items_from, length, chunk, sums, identity, op);
            out[s] = reduce_chunk(RangeItems<T>{sums}, chunks, identity, op);
        } else {
            // With room for the sums of the levels above.
            const u64 places = chunks + (chunks + canonical_chunk(chunks) - 1) / canonical_chunk(chunks);
            const u64 part = std::atomic_ref<u32>(counts[0]).fetch_add(static_cast<u32>(places)),
                      whole = std::atomic_ref<u32>(counts[1]).fetch_add(1);
            if (part + places > room.parts || whole >= room.wholes) continue;
            wholes[whole] = {s, part, chunks};
            for (u64 c = 0; c < places; ++c)
                parts[part + c] = c < chunks
                                      ? SegmentPart{from + c * chunk, min_of(chunk, length - c * chunk)}
                                      : SegmentPart{};
        }
    }
}

template <class T, class Op>
[[gnu::always_inline]] inline void segmented_reduce(const Group& group, const u8* offsets, T* out,
                                                    SegmentPart* parts, SegmentWhole* wholes, u32* counts,
                                                    u32* word, T* sums, SegmentStage stage, u32 offset_size,
                                                    u32 is_signed, u32 is_live, u64 n, u64 segments, u64 each,
                                                    const SegmentRoom room, T identity, const Op op,
                                                    HostArguments rest) {
    const HostInput<T> in(rest);
    if (is_live != 0) {
        u64 live = 0;
        std::memcpy(&live, counts + 2, sizeof live);
        segments = min_of(segments, live);
        each = (segments + group.count_x - 1) / group.count_x;
    }
    if (stage == SegmentStage::segments) {
        reduce_segments(group, Offsets{offsets, offset_size, is_signed != 0}, in, out, parts, wholes, counts,
                        word, n, segments, each, room, identity, op);
    } else if (stage == SegmentStage::parts) {
        const u64 count = min_of(counts[0], room.parts);
        for (u64 p = group.x; p < count; p += group.count_x) {
            // Wrong offsets leave places of the lists without a value.
            const u64 begin = min_of(parts[p].begin, n),
                      length = min_of(parts[p].length, min_of(canonical_chunk(n), n - begin));
            sums[p] = reduce_chunk(InputItems<T>{in, group.isa, begin}, length, identity, op);
        }
    } else {
        const u64 count = min_of(counts[1], room.wholes);
        for (u64 w = group.x; w < count; w += group.count_x) {
            const SegmentWhole whole = wholes[w];
            const u64 chunk = canonical_chunk(whole.chunks);
            if (whole.segment >= segments || whole.chunks == 0 || whole.first > room.parts ||
                whole.chunks > room.parts - whole.first ||
                (whole.chunks + chunk - 1) / chunk > room.parts - whole.first - whole.chunks)
                continue;
            reduce_upper(sums + whole.first, whole.chunks, chunk, out + whole.segment, identity, op);
        }
    }
}

}  // namespace host
}  // namespace concord::detail
