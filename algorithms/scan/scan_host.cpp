// The kernels of scan for the CPU, for every element type and operator: they distribute tiles and combine totals.
// scan_host.hpp has the phases of a tile. Elements are bytes here.

#include <concord/detail/scan_lines_host.hpp>
#include <concord/internal/scan_carry.hpp>
#include <concord/internal/thread_room.hpp>

#include <algorithm>
#include <atomic>

namespace concord::detail {
namespace host {
namespace {

constexpr u32 max_levels = 16;  // of the tree above the tiles

// Room of the thread for a tile of an expression.
std::byte* tile_room() {
    struct Room {
        alignas(64) std::byte elements[scan_tile * sizeof(u64)];
    };
    static ThreadRoom<Room> rooms;
    return rooms.get().elements;
}

class Scan {
  public:
    Scan(const Group& group, const ScanPhases& phases, const ScanCall& call)
        : group_(group), phases_(phases), call_(call), size_(phases.size) {}

    void totals() {
        Elements nodes, before;
        const u64 first = group_.x * scan_tile, length = std::min(scan_tile, call_.n - first);
        load(first, length);
        upsweep(length, nodes);
        sixteen(nodes, call_.identity, before, total_at(group_.x));
    }

    void partitioned() {
        const u64 tiles = (call_.n + scan_tile - 1) / scan_tile;
        std::atomic_ref<u32> ticket(call_.flags[0]);
        if (tiles == 1 && group_.count_x > 1) {
            shared_tile();
        } else {
            for (u64 tile = 0; tile < tiles; ++tile) {
                if (tiles > 1) tile = ticket.fetch_add(1, std::memory_order_relaxed);
                if (tile >= tiles) break;
                const u64 first = tile * scan_tile, length = std::min(scan_tile, call_.n - first);
                Elements nodes, before;
                Elements carry, total;
                load(first, length);
                upsweep(length, nodes);
                copy(carry.bytes, call_.identity);
                if (tiles > 1) tile_carry(tile, tiles, nodes, carry);
                sixteen(nodes, carry.bytes, before, total.bytes);
                downsweep(first, length, before.bytes);
            }
        }
        if (call_.non_temporal) stream_fence();
    }

    // Scans the whole call, at most a tile.
    void one_tile() {
        Elements nodes, before, total;
        load(0, call_.n);
        upsweep(call_.n, nodes);
        sixteen(nodes, call_.identity, before, total.bytes);
        downsweep(0, call_.n, before.bytes);
    }

  private:
    void copy(void* to, const void* from) const { std::memcpy(to, from, size_); }
    std::byte* at(Elements& elements, u64 i) const { return elements.bytes + i * size_; }
    std::byte* total_at(u64 i) const { return static_cast<std::byte*>(call_.totals) + i * size_; }

    // The elements that the phases read: those in memory, or those of an expression, which are computed here.
    void load(u64 first, u64 length) {
        if (call_.in != nullptr) {
            in_ = static_cast<const std::byte*>(call_.in) + first * size_;
        } else {
            std::byte* const room = tile_room();
            call_.expression->store(group_.isa, call_.begin + first, length, size_, room);
            in_ = room;
        }
    }
    void upsweep(u64 length, Elements& nodes) {
        void *work = work_, *to = nodes.bytes;
        const void* const arguments[] = {&in_, &length, &work, &to, call_.identity, call_.op};
        phases_.upsweep.entry(group_.isa)(group_, arguments);
    }
    void downsweep(u64 first, u64 length, const void* before) {
        void *out = static_cast<std::byte*>(call_.out) + first * size_, *work = work_;
        const u32 exclusive = call_.exclusive, non_temporal = call_.non_temporal;
        const void* const arguments[] = {&in_,  &out,    &length,        &exclusive, &non_temporal,
                                         &work, &before, call_.identity, call_.op};
        phases_.downsweep.entry(group_.isa)(group_, arguments);
    }
    void sixteen(const Elements& totals, const void* carry, Elements& before, void* total) const {
        const void* from = totals.bytes;
        void* to = before.bytes;
        const void* const arguments[] = {&from, carry, &to, &total, call_.op};
        phases_.sixteen.entry(group_.isa)(group_, arguments);
    }

    // Tiles exchange their totals as in lookback.cu. flags[0] is the ticket; flags[1 + i] is set when total i is
    // published.
    void publish(u64 index, const Elements& total) const {
        copy(total_at(index), total.bytes);
        std::atomic_ref(call_.flags[1 + index]).store(1, std::memory_order_release);
    }
    const void* await(u64 index) const {
        const std::atomic_ref flag(call_.flags[1 + index]);
        for (u32 spins = 0; flag.load(std::memory_order_acquire) == 0; ++spins) {
            if (spins >= 256) yield(group_);
        }
        return total_at(index);
    }

    // Publishes the totals of the tile and of the nodes that it completes. `carry` is the identity and becomes the
    // tile's carry.
    void tile_carry(u64 tile, u64 tiles, const Elements& nodes, Elements& carry) const {
        Elements levels[max_levels], before;
        Elements total;
        sixteen(nodes, call_.identity, before, total.bytes);
        u64 level = 0, index = tile, count = tiles;
        u32 depth = 0;
        for (bool complete = true; count > 1; ++depth) {
            if (complete) publish(level + index, total);
            const u64 digit = index % scan_fan;
            for (u64 i = 0; i < scan_fan; ++i)
                copy(at(levels[depth], i), i < digit    ? await(level + index - digit + i)
                                           : i == digit ? total.bytes
                                                        : call_.identity);
            complete = complete && digit == scan_fan - 1;
            level += count;
            index /= scan_fan;
            count = (count + scan_fan - 1) / scan_fan;
            if (complete && count > 1) sixteen(levels[depth], call_.identity, before, total.bytes);
        }
        while (depth-- > 0) {
            sixteen(levels[depth], carry.bytes, before, total.bytes);
            copy(carry.bytes, at(before, (tile >> (4 * depth)) % scan_fan));
        }
    }

    // The groups of a launch share the only tile: each takes consecutive nodes of 4096 elements by ticket. It publishes
    // their totals before it waits for those of earlier nodes, whose groups have started before it.
    void shared_tile() {
        std::array<u64, 32>& words = group_.launch->words;  // the ticket, and flags of the nodes
        const u64 count = (call_.n + scan_node - 1) / scan_node;
        const u64 share = std::atomic_ref(words[0]).fetch_add(1, std::memory_order_relaxed);
        const u64 begin = share * count / group_.count_x, end = (share + 1) * count / group_.count_x;
        const u64 first = begin * scan_node, length = std::min(end * scan_node, call_.n) - first;
        Elements own, nodes, before;
        Elements total;
        load(first, length);
        upsweep(length, own);
        for (u64 i = 0; i < scan_fan; ++i)
            copy(at(nodes, i), call_.identity);
        for (u64 i = begin; i < end; ++i) {
            copy(at(nodes, i), at(own, i - begin));
            copy(total_at(i), at(own, i - begin));
            std::atomic_ref(words[1 + i]).store(1, std::memory_order_release);
        }
        for (u64 i = 0; i < begin; ++i) {
            const std::atomic_ref flag(words[1 + i]);
            for (u32 spins = 0; flag.load(std::memory_order_acquire) == 0; ++spins) {
                if (spins >= 256) yield(group_);
            }
            copy(at(nodes, i), total_at(i));
        }
        sixteen(nodes, call_.identity, before, total.bytes);
        downsweep(first, length, at(before, begin));
    }

    const Group& group_;
    const ScanPhases& phases_;
    const ScanCall& call_;
    const u32 size_;
    const void* in_ = nullptr;
    alignas(64) std::byte work_[sizeof(ScanWork<u64>)];
};

}  // namespace

void scan_partitioned(const Group& group, const ScanPhases& phases, const ScanCall& call) {
    Scan(group, phases, call).partitioned();
}

void scan_segments(const Group& group, const ScanPhases& phases, const ScanCall& call,
                   std::span<const LongSegment> list) {
    for (const LongSegment& segment : list) {
        ScanCall own = call;
        const u64 at = segment.begin * phases.size;
        if (call.in != nullptr) own.in = static_cast<const std::byte*>(call.in) + at;
        own.begin = segment.begin;
        own.out = static_cast<std::byte*>(call.out) + at;
        own.totals = static_cast<std::byte*>(call.totals) + segment.first * phases.size;
        own.flags += segment.first;
        own.n = segment.length;
        Scan(group, phases, own).partitioned();
    }
}

void scan_rows(const Group& group, const ScanPhases& phases, const ScanCall& call, const NdLines<2>& s,
               u64 run) {
    ScanCall own = call;
    Scan scan(group, phases, own);
    for (u64 line = group.x * run; line < min_of(s.lines, (group.x + 1) * run); ++line) {
        own.in = static_cast<const std::byte*>(call.in) + s.line_at(0, line) * i64{phases.size};
        own.out = static_cast<std::byte*>(call.out) + s.line_at(1, line) * i64{phases.size};
        scan.one_tile();
    }
}

void scan_totals(const Group& group, const ScanPhases& phases, const ScanCall& call) {
    Scan(group, phases, call).totals();
}

}  // namespace host

ScanCarry::ScanCarry(const ScanProblem& problem)
    : phases_(*problem.host->phases), values_(problem.values.bytes.begin(), problem.values.bytes.end()) {
    std::memcpy(identity_.bytes, problem.identity.bytes.data(), phases_.size);
}

void ScanCarry::scan(const Level& level, const void* carry, void* before, void* total) const {
    host::Elements padded = level.totals;
    for (u64 i = level.count; i < host::scan_fan; ++i)
        std::memcpy(padded.bytes + i * phases_.size, identity_.bytes, phases_.size);
    const void* from = padded.bytes;
    const void* const arguments[] = {&from, carry, &before, &total, values_.data()};
    phases_.sixteen.entry(HostIsa::baseline)({}, arguments);
}

void ScanCarry::carry(void* carry) const {
    std::memcpy(carry, identity_.bytes, phases_.size);
    host::Elements before;
    host::Elements total;
    for (std::size_t level = levels_.size(); level-- > 0;) {
        if (levels_[level].count == 0) continue;
        scan(levels_[level], carry, before.bytes, total.bytes);
        std::memcpy(carry, before.bytes + levels_[level].count * phases_.size, phases_.size);
    }
}

void ScanCarry::push(const void* totals, u64 count, u32 level) {
    const u32 size = phases_.size;
    for (u64 i = 0; i < count; ++i) {
        host::Elements total;
        std::memcpy(total.bytes, static_cast<const std::byte*>(totals) + i * size, size);
        for (std::size_t at = level;; ++at) {
            if (at >= levels_.size()) levels_.resize(at + 1);
            Level& nodes = levels_[at];
            std::memcpy(nodes.totals.bytes + nodes.count++ * size, total.bytes, size);
            if (nodes.count < host::scan_fan) break;
            host::Elements before;
            scan(nodes, identity_.bytes, before.bytes, total.bytes);
            nodes.count = 0;
        }
    }
}

}  // namespace concord::detail
