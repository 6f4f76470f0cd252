// Halos of other devices, CUDA C++ with EXCHANGES. stencil_star.kernel defines the same words without other devices.
//
// Algorithm  Groups write the planes that a neighbour needs also into its memory; see Halos.
// Passes     none of its own.
// Traffic    The planes at the volume's faces are read again and written to the neighbours.
// Tunables   number of couriers.
// Source     P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009.

#include "peer_flags.cu"

#ifdef EXCHANGES

// A neighbour along z, below or above. Planes [first, last) of this volume are its halo, whose points are `shift`
// further in its volume. `groups` groups read its planes in this volume's halo or compute [first, last): those with a
// plane in [first, last). 0: no neighbour. Groups [courier, courier + couriers) of the launch compute nothing but send.
struct Neighbour {
    u64 first, last;
    i64 shift;
    u32 groups, courier, couriers, unused;
};

// The neighbours have finished turn `turn`. If the kernel `sends`, it writes their halos of the next turn. The couriers
// follow the groups that compute, which are `computing`.
struct Exchange {
    Neighbour side[2];
    u32 turn, sends, computing, unused;
};

// What a group does for the neighbours.
//
// A group at a face first computes the planes that the neighbour needs, and so advances down from an upper face. A
// group at both faces computes the upper planes last. When all groups of a face have these planes, couriers copy them.
// Groups that send what they compute would end after all others: links are slower than memory.
struct Halos {
    const Exchange& exchange;
    T* volume[2];               // of the neighbours
    u32 *flags[2], *raised[2];  // {flag that the neighbour raises, ticket, groups that have the planes}; the same there
    u32 early = 0;              // the side whose planes the group computes first
    u32 faces[2] = {};          // planes for each side that the group computes
    u64 mark = ~u64(0);         // before this plane it has those of the early side

    __device__ __forceinline__ Halos(const Exchange& e, T* v0, T* v1, u32* f0, u32* f1, u32* r0, u32* r1)
        : exchange(e), volume{v0, v1}, flags{f0, f1}, raised{r0, r1} {}

    // Copies a courier's part of `count` elements.
    template <class E>
    static __device__ __forceinline__ void copy(const E* from, E* to, u64 count, u32 courier, u32 couriers) {
        constexpr u32 each = 8;
        for (u64 at = u64(courier) * GROUP * each; at < count; at += u64(couriers) * GROUP * each) {
            E item[each];
#pragma unroll
            for (u32 k = 0; k < each; ++k)
                if (at + k * GROUP + threadIdx.x < count) item[k] = from[at + k * GROUP + threadIdx.x];
#pragma unroll
            for (u32 k = 0; k < each; ++k)
                if (at + k * GROUP + threadIdx.x < count) to[at + k * GROUP + threadIdx.x] = item[k];
        }
    }

    // If the group is a courier, sends its part of a face and returns true.
    __device__ __forceinline__ bool deliver(const T* out, u64 plane) const {
        if (blockIdx.x < exchange.computing) return false;
#pragma unroll
        for (u32 i = 0; i < 2; ++i) {
            const Neighbour& side = exchange.side[i];
            const u32 courier = blockIdx.x - side.courier;
            if (courier >= side.couriers) continue;
            u32* const ready = flags[i] + 2;
            if (threadIdx.x == 0) await_count(ready, side.groups);
            __syncthreads();
            const T* const from = out + side.first * plane;
            T* const to = volume[i] + side.shift + side.first * plane;
            const u64 points = (side.last - side.first) * plane;
            using Wide = Pack<T, 16 / sizeof(T)>;
            if ((reinterpret_cast<u64>(from) | reinterpret_cast<u64>(to) | points * sizeof(T)) % 16 == 0) {
                copy(reinterpret_cast<const Wide*>(from), reinterpret_cast<Wide*>(to), points * sizeof(T) / 16, courier,
                     side.couriers);
            } else {
                copy(from, to, points, courier, side.couriers);
            }
            __syncthreads();
            if (threadIdx.x == 0 && is_last(flags[i] + 1, side.couriers)) {
                *ready = 0;
                raise_flag(raised[i], exchange.turn + 1);
            }
        }
        return true;
    }

    // Waits until the halos that the group reads have arrived and those that it causes to be written are free. A group
    // that advances down sees a mirrored volume.
    __device__ __forceinline__ void start(const T* __restrict__& in, T* __restrict__& out, u64& begin, u64& end,
                                          u64& plane, u64 depth) {
#pragma unroll
        for (u32 i = 0; i < 2; ++i) {
            const Neighbour& side = exchange.side[i];
            if (side.groups == 0 || begin >= side.last || end <= side.first) continue;
            faces[i] = static_cast<u32>(min(end, side.last) - max(begin, side.first));
            if (threadIdx.x == 0) await_flag(flags[i], exchange.turn);
        }
        __syncthreads();
        // The compiler may not read the volume before.
        u64 address = __cvta_generic_to_global(in);
        asm volatile("" : "+l"(address)::"memory");
        in = static_cast<const T*>(__cvta_global_to_generic(address));
        early = faces[0] == 0 && faces[1] > 0 ? 1 : 0;
        if (early == 1) {
            in += (depth - 1) * plane;
            out += (depth - 1) * plane;
            plane = u64(0) - plane;
            const u64 first = depth - end;
            end = depth - begin;
            begin = first;
        }
        const u32 face = early == 0 ? faces[0] : faces[1];
        if (exchange.sends != 0 && face > 0) mark = begin + face;
    }

    // Called when all planes before z are stored. The first one follows a barrier.
    __device__ __forceinline__ void stored(u64 z) const {
        if (z == mark && threadIdx.x == 0) add_one((early == 0 ? flags[0] : flags[1]) + 2);
    }
    __device__ __forceinline__ void stored_without_barrier(u64 z) const {
        if (z == mark) __syncthreads();
        stored(z);
    }
    // Called after the last plane.
    __device__ __forceinline__ void finish(u64 end) const {
        const bool has_late = exchange.sends != 0 && early == 0 && faces[1] > 0;
        if (mark != end && !has_late) return;
        __syncthreads();
        stored(end);
        if (threadIdx.x == 0 && has_late) add_one(flags[1] + 2);
    }
};

// The words by which kernels exchange halos. Parameters of the kernel, after all others but local memory.
#define HALO_PARAMETERS                                                                                            \
    , T *volume_below, T *volume_above, u32 *flags_below, u32 *flags_above, u32 *raised_below, u32 *raised_above,    \
        const __grid_constant__ Exchange exchange
// Declares the group's Halos, for the words below.
#define HALOS \
    Halos halos(exchange, volume_below, volume_above, flags_below, flags_above, raised_below, raised_above)
#define SENDS_HALOS(out, plane) halos.deliver(out, plane)
#define AWAIT_HALOS(in, out, begin, end, plane, depth) halos.start(in, out, begin, end, plane, depth)
#define HALO_STORED(z) halos.stored(z)
#define HALO_STORED_WITHOUT_BARRIER(z) halos.stored_without_barrier(z)
#define FINISH_HALOS(end) halos.finish(end)

#endif
