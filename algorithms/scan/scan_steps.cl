// Textbook variants of scan, OpenCL C. The parallel source scan_steps.cu describes it.
//
// SIZE: size of an element in bytes.

#include "common.cl"

#define GROUP_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))

// One pass of hillis_steele.
GROUP_KERNEL
void scan_step(__global const T* x, ulong x_at, __global T* y, ulong y_at, u64 n, u64 distance, const Op op) {
    const u64 i = get_global_id(0);
    x += x_at;
    if (i < n) y[y_at + i] = canonical(i < distance ? x[i] : apply(op, x[i - distance], x[i]));
}

// Converts an inclusive scan to an exclusive one.
GROUP_KERNEL
void scan_shift(__global const T* x, ulong x_at, __global T* out, ulong out_at, u64 n, T identity, const Op op) {
    const u64 i = get_global_id(0);
    if (i < n) out[out_at + i] = canonical(i == 0 ? identity : x[x_at + i - 1]);
}

// Converts an exclusive scan to an inclusive one.
GROUP_KERNEL
void scan_join(__global const T* x, ulong x_at, __global const T* in, ulong in_at, __global T* out, ulong out_at, u64 n,
               const Op op) {
    const u64 i = get_global_id(0);
    if (i < n) out[out_at + i] = canonical(apply(op, x[x_at + i], in[in_at + i]));
}

// One level of the up-sweep of blelloch: right nodes become sums. nodes: number of nodes of the level above.
GROUP_KERNEL
void scan_up_sweep(__global T* x, ulong x_at, u64 nodes, u64 distance, const Op op) {
    const u64 k = get_global_id(0);
    if (k >= nodes) return;
    __global T* right = x + x_at + (k + 1) * 2 * distance - 1;
    *right = apply(op, *(right - distance), *right);
}

// One level of the down-sweep: the left child receives the node's carry. The right child receives that carry combined
// with the left child's sum.
GROUP_KERNEL
void scan_down_sweep(__global T* x, ulong x_at, u64 nodes, u64 distance, const Op op) {
    const u64 k = get_global_id(0);
    if (k >= nodes) return;
    __global T* right = x + x_at + (k + 1) * 2 * distance - 1;
    const T before = *right, sum = *(right - distance);
    *(right - distance) = canonical(before);
    *right = canonical(apply(op, before, sum));
}

// Combines every element with the carry of its block.
GROUP_KERNEL
void scan_offsets(__global T* out, ulong out_at, __global const T* offsets, ulong offsets_at, u64 n, u64 block,
                  const Op op) {
    const u64 i = get_global_id(0);
    if (i < n) out[out_at + i] = canonical(apply(op, offsets[offsets_at + i / block], out[out_at + i]));
}

// Inclusive scan of one value per work-item, by hillis_steele in local memory. All work-items of the group call it.
INLINED T scan_work_items(__local T* shared, T value, const Op op) {
    const u32 local_id = get_local_id(0);
    shared[local_id] = value;
    for (u32 distance = 1; distance < GROUP; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const T left = shared[local_id < distance ? local_id : local_id - distance];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (local_id >= distance) shared[local_id] = value = apply(op, left, value);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return value;
}

GROUP_KERNEL
void scan_kogge_stone(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* sums, ulong sums_at,
                      u64 n, u32 exclusive, T identity, const Op op) {
    __local T shared[GROUP];
    const u32 local_id = get_local_id(0);
    const u64 i = get_global_id(0);
    const T value = scan_work_items(shared, i < n ? in[in_at + i] : identity, op);
    if (i < n) out[out_at + i] = canonical(!exclusive ? value : local_id == 0 ? identity : shared[local_id - 1]);
    if (local_id == GROUP - 1) sums[sums_at + get_group_id(0)] = value;
}

GROUP_KERNEL
void scan_brent_kung(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* sums, ulong sums_at,
                     u64 n, u32 exclusive, T identity, const Op op) {
    __local T shared[2 * GROUP];
    const u32 local_id = get_local_id(0);
    const u64 first = get_group_id(0) * (u64)(2 * GROUP);
    in += in_at;
    out += out_at;
    for (u32 i = local_id; i < 2 * GROUP; i += GROUP) shared[i] = first + i < n ? in[first + i] : identity;
    for (u32 distance = 1; distance <= GROUP; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const u32 right = (local_id + 1) * 2 * distance - 1;
        if (right < 2 * GROUP) shared[right] = apply(op, shared[right - distance], shared[right]);
    }
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const u32 right = (local_id + 1) * 2 * distance - 1 + distance;
        if (right < 2 * GROUP) shared[right] = apply(op, shared[right - distance], shared[right]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = local_id; i < 2 * GROUP; i += GROUP) {
        if (first + i < n) out[first + i] = canonical(!exclusive ? shared[i] : i == 0 ? identity : shared[i - 1]);
    }
    if (local_id == 0) sums[sums_at + get_group_id(0)] = shared[2 * GROUP - 1];
}

// recursive and conflict_free. pad: elements of `shared` per element of padding.
INLINED void scan_tree(__global const T* in, __global T* out, __global T* sum, u64 first, u64 n, u32 exclusive,
                             T identity, __local T* shared, u32 pad, const Op op) {
#define AT(I) shared[(I) + (I) / pad]
    const u32 local_id = get_local_id(0), last = 2 * GROUP - 1;
    for (u32 i = local_id; i <= last; i += GROUP) AT(i) = first + i < n ? in[first + i] : identity;
    for (u32 distance = 1; distance <= GROUP; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const u32 right = (local_id + 1) * 2 * distance - 1;
        if (right <= last) AT(right) = apply(op, AT(right - distance), AT(right));
    }
    if (local_id == 0) {  // this work-item has just written the root
        *sum = AT(last);
        AT(last) = identity;
    }
    for (u32 distance = GROUP; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const u32 right = (local_id + 1) * 2 * distance - 1;
        if (right <= last) {
            const T before = AT(right), left = AT(right - distance);
            AT(right - distance) = before;
            AT(right) = apply(op, before, left);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = local_id; i <= last; i += GROUP) {
        if (first + i < n) out[first + i] = canonical(exclusive ? AT(i) : apply(op, AT(i), in[first + i]));
    }
#undef AT
}

GROUP_KERNEL
void scan_recursive(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* sums, ulong sums_at,
                    u64 n, u32 exclusive, T identity, const Op op) {
    __local T shared[2 * GROUP];
    scan_tree(in + in_at, out + out_at, sums + sums_at + get_group_id(0), get_group_id(0) * (u64)(2 * GROUP), n, exclusive,
              identity, shared, 2 * GROUP, op);
}

GROUP_KERNEL
void scan_conflict_free(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* sums, ulong sums_at,
                        u64 n, u32 exclusive, T identity, const Op op) {
    __local T shared[2 * GROUP + 2 * GROUP / 32];
    scan_tree(in + in_at, out + out_at, sums + sums_at + get_group_id(0), get_group_id(0) * (u64)(2 * GROUP), n, exclusive,
              identity, shared, 32, op);
}

#define WIDTH 8
typedef struct { T item[WIDTH]; } __attribute__((aligned(WIDTH * SIZE))) Vector;

GROUP_KERNEL
void scan_recursive_vector(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* sums,
                           ulong sums_at, u64 n, u32 exclusive, T identity, const Op op) {
    __local T shared[GROUP];
    const u32 local_id = get_local_id(0);
    const u64 first = get_global_id(0) * WIDTH;
    in += in_at;
    out += out_at;
    T item[WIDTH];
    if (first + WIDTH <= n && (ulong)in % sizeof(Vector) == 0) {
        const Vector p = *(__global const Vector*)(in + first);
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) item[j] = p.item[j];
    } else {
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) item[j] = first + j < n ? in[first + j] : identity;
    }
#pragma unroll
    for (int j = 1; j < WIDTH; ++j) item[j] = apply(op, item[j - 1], item[j]);
    const T sum = scan_work_items(shared, item[WIDTH - 1], op);
    const T before = local_id == 0 ? identity : shared[local_id - 1];
#pragma unroll
    for (int j = WIDTH - 1; j >= 0; --j) {
        const T value = !exclusive ? apply(op, before, item[j]) : j == 0 ? before : apply(op, before, item[j - 1]);
        if (first + j < n) out[first + j] = canonical(value);
    }
    if (local_id == GROUP - 1) sums[sums_at + get_group_id(0)] = sum;
}
