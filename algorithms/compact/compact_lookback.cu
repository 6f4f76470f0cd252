// Compact in one pass, `lookback`, CUDA C++. What tiles tell one another is in lookback.cu.
//
// Algorithm  A tile a group. Its elements go straight to shared memory, so that registers do not limit how many tiles a
//            multiprocessor has on their way; that is what hides the wait for other tiles. A warp owns ROWS rows of 32
//            packs (16 bytes), which follow one another, and a lane a pack of each row: flags stay in registers, one scan of
//            the warp ranks its rows. Look-back over the totals of the other tiles says how many elements are kept before
//            this one. A warp's kept elements then close up within its own part of shared memory, row by row, and leave in
//            16-byte stores.
// Passes     one launch; traffic: the input once, what is kept once, and some 17 bytes a tile.
// In place   What is kept before a tile is known once all tiles before it have published their totals, which each does
//            after it has read its elements: so all that a tile stores over has been read. The read-only path is not
//            used.
// Tunables   GROUP lanes a group, PACK elements an access (16 bytes), ROWS packs a lane, RESIDENT groups a multiprocessor.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
//
// Positions count from the 16-byte boundary at or before the input's first element, so that every pack is aligned wherever the
// input begins: valid are [first, last). T: element type; B: unsigned integer of its size, as which elements move; apply(op,
// x): the predicate; COUNT: u32 or, from 2^32 elements on, u64: what counts kept elements.

constexpr u32 row_length = warp_width * PACK;    // of a warp
constexpr u32 part_length = row_length * ROWS;   // of a warp
constexpr u32 part_stride = part_length + PACK;  // what is kept may begin up to a pack later than it was
constexpr u32 warps = GROUP / warp_width;
constexpr u32 tile_length = part_length * warps;
constexpr int words = (ROWS + 3) / 4;
static_assert(row_length < 65536, "the counts of four rows are 16 bits each of a word");

extern __shared__ __align__(16) unsigned char parts[];  // one a warp, of part_stride elements

struct AddCounts {
    __device__ __forceinline__ COUNT operator()(COUNT a, COUNT b) const { return a + b; }
};

__device__ __forceinline__ bool keeps(const Op op, B bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return apply(op, value) != 0;
}

// Starts to copy 16 bytes to shared memory, past the first cache. Before sm_80 they have arrived when it returns.
__device__ __forceinline__ void copy_pack(B* to, const B* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    *reinterpret_cast<Pack<B, PACK>*>(to) = *reinterpret_cast<const Pack<B, PACK>*>(from);
#endif
}
__device__ __forceinline__ void await_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Brings a lane's packs of a warp's part, which begins at `begin`, to shared memory. own: the lane's first pack there.
__device__ __forceinline__ void load_part(B* own, const B* base, u64 begin, u64 first, u64 last) {
    const u64 at = begin + threadIdx.x % warp_width * PACK;
    if (begin >= first && begin + part_length <= last) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) copy_pack(own + r * row_length, base + at + r * row_length);
        await_copies();
    } else {
#pragma unroll 1
        for (int r = 0; r < ROWS; ++r) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) {
                const u64 i = at + r * row_length + j;
                if (i >= first && i < last) own[r * row_length + j] = base[i];
            }
        }
    }
}

// Which elements a lane keeps, a bit each.
struct Flags {
    u32 row[ROWS];
};

__device__ __forceinline__ Flags flag_part(const B* own, u64 begin, u64 first, u64 last, const Op op) {
    const u64 at = begin + threadIdx.x % warp_width * PACK;
    const bool whole = begin >= first && begin + part_length <= last;
    Flags flags;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const auto pack = *reinterpret_cast<const Pack<B, PACK>*>(own + r * row_length);
        flags.row[r] = 0;
#pragma unroll
        for (int j = 0; j < PACK; ++j) flags.row[r] |= u32(keeps(op, pack.item[j])) << j;
        if (whole) continue;
#pragma unroll
        for (int j = 0; j < PACK; ++j) {
            const u64 i = at + r * row_length + j;
            if (i < first || i >= last) flags.row[r] &= ~(1u << j);
        }
    }
    return flags;
}

// Of each row, in 16 bits of a word: what the lanes before this one keep, and the whole warp.
struct Ranks {
    u64 before[words], all[words];

    __device__ __forceinline__ u32 before_of(int row) const { return u32(before[row / 4] >> (16 * (row % 4))) & 0xffff; }
    __device__ __forceinline__ u32 all_of(int row) const { return u32(all[row / 4] >> (16 * (row % 4))) & 0xffff; }
};

__device__ __forceinline__ Ranks rank_part(const Flags& flags) {
    const u32 lane = threadIdx.x % warp_width;
    Ranks ranks;
#pragma unroll
    for (int w = 0; w < words; ++w) {
        u64 mine = 0;
#pragma unroll
        for (int r = 4 * w; r < ROWS && r < 4 * w + 4; ++r) mine |= u64(__popc(flags.row[r])) << (16 * (r % 4));
        u64 sum = mine;
#pragma unroll
        for (u32 distance = 1; distance < warp_width; distance *= 2) {
            const u64 other = __shfl_up_sync(all_lanes, sum, distance);
            if (lane >= distance) sum += other;
        }
        ranks.before[w] = sum - mine;
        ranks.all[w] = __shfl_sync(all_lanes, sum, warp_width - 1);
    }
    return ranks;
}

// Closes up what the warp keeps, from part[shift] on. A row is read before the one ahead of it is written, for that may reach
// into it by `shift`.
__device__ __forceinline__ void close_up(B* part, const Flags& flags, const Ranks& ranks, u32 shift) {
    B* const own = part + threadIdx.x % warp_width * PACK;
    auto next = *reinterpret_cast<const Pack<B, PACK>*>(own);
    u32 start = shift;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const auto pack = next;
        if (r + 1 < ROWS) next = *reinterpret_cast<const Pack<B, PACK>*>(own + (r + 1) * row_length);
        __syncwarp();
        u32 to = start + ranks.before_of(r);
#pragma unroll
        for (int j = 0; j < PACK; ++j) {
            const bool kept = flags.row[r] >> j & 1;
            if (kept) part[to] = pack.item[j];
            to += kept;
        }
        start += ranks.all_of(r);
    }
    __syncwarp();
}

// Stores part[shift], ..., part[shift + count - 1] from out on, which lies `shift` elements after a pack's boundary.
__device__ __forceinline__ void store_part(B* out, const B* part, u32 shift, u32 count) {
    B* const base = out - shift;
    for (u32 at = threadIdx.x % warp_width * PACK; at < shift + count; at += row_length) {
        if (at >= shift && at + PACK <= shift + count) {
            *reinterpret_cast<Pack<B, PACK>*>(base + at) = *reinterpret_cast<const Pack<B, PACK>*>(part + at);
        } else {
#pragma unroll
            for (u32 i = at; i < at + PACK; ++i) {
                if (i >= shift && i < shift + count) base[i] = part[i];
            }
        }
    }
}

// shift: elements between the 16-byte boundary before the input and its first one.
extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    compact_lookback(const B* in, B* out, u64* count, u64* workspace, u64 n, u32 shift, u32 tiles, u32 in_place,
                     const Op op) {
    __shared__ u32 kept_by[warps];
    const u32 warp = threadIdx.x / warp_width, lane = threadIdx.x % warp_width;
    B* const part = reinterpret_cast<B*>(parts) + warp * part_stride;
    B* const own = part + lane * PACK;
    const Turn turn = take_turn(workspace);
    const u64 first = shift, last = shift + n, begin = u64(turn.ticket) * tile_length + warp * part_length;
    load_part(own, in - shift, begin, first, last);
    if (in_place) __threadfence();  // read, whatever the predicate makes of it, before the total tells so
    const Flags flags = flag_part(own, begin, first, last, op);
    const Ranks ranks = rank_part(flags);
    u32 kept = 0;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) kept += ranks.all_of(r);
    if (lane == 0) kept_by[warp] = kept;
    __syncthreads();
    u32 total = 0, before_warp = 0;
#pragma unroll
    for (u32 w = 0; w < warps; ++w) {
        if (w == warp) before_warp = total;
        total += kept_by[w];
    }
    const COUNT before = tile_carry(workspace, turn, tiles, COUNT(total), COUNT(0), AddCounts{});
    if (turn.ticket == tiles - 1 && threadIdx.x == 0) *count = u64(before) + total;
    B* const to = out + before + before_warp;
    const u32 skip = u32(reinterpret_cast<u64>(to) / sizeof(B) % PACK);
    close_up(part, flags, ranks, skip);
    store_part(to, part, skip, kept);
}
