// Bitonic sort of any length, `bitonic` and `odd_even`, OpenCL C. The parallel source sort_bitonic.cu describes it.

#include "sort_keys.cl"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_column(__global K* keys, ulong keys_at, __global V* values, ulong values_at, u64 n, u64 distance,
                 u32 mirrored, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 c = get_global_id(0), within = c & (distance - 1), first = 2 * (c - within);
    const u64 low = first + within, high = mirrored ? first + 2 * distance - 1 - within : low + distance;
    if (high < n) {
        const K a = keys[keys_at + low], b = keys[keys_at + high];
        if (code_of(b, code) < code_of(a, code)) {
            keys[keys_at + low] = b;
            keys[keys_at + high] = a;
#if VALUE_SIZE
            const V value = values[values_at + low];
            values[values_at + low] = values[values_at + high];
            values[values_at + high] = value;
#endif
        }
    }
}
