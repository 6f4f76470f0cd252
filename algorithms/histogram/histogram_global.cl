// Histogram, `global_atomic`, OpenCL C. The parallel source histogram_global.cu describes it. C++:
// histogram_count.hpp.

#include "histogram_counter.cl"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_global(__global const T* in, ulong in_at, volatile __global u32* out, ulong out_at, u64 n, u64 bins,
                      u32 words, const Op op) {
    for (u64 i = get_global_id(0); i < n; i += get_global_size(0)) {
        const BIN bin = (BIN)apply(op, in[in_at + i]);
        if (bin < bins) add_to(out + out_at, bin, 1);
    }
}
