# Mutants of reduce and of shared building blocks, for mutation.sh.
# shellcheck shell=bash disable=SC2016

# near_one is a pattern of products; in f32 of a second operator as well.
fixed="reduce --variants fixed --types i32 --patterns near_one --sizes 127,1009,1025"
fixed_large="reduce --variants fixed --types i32 --patterns near_one --sizes 65537"
signs="reduce --variants interleaved --types f32 --patterns special,zeros --sizes 127"
steps="--types i32 --patterns near_one --sizes 257,300,1009"

mutant common.cl many "$fixed_large" "no group finishes" \
    'atomic_inc(ticket) == groups - 1' 'atomic_inc(ticket) == groups'
mutant common.cl many "$fixed_large" "the ticket is not left zero" 'if (*last) *ticket = 0;' ''

mutant group_reduce.cl many "$fixed" "a step of the tree is left out" 'distance = size / 2;' 'distance = size / 4;'
mutant group_reduce.cl many "$fixed" "no barrier: work-items meet what their partners held before the tree" \
    '    for (u32 distance = size / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (member < distance) {
#pragma unroll
            for (u32 j = 0; j < n; ++j) mine[j] = value[j] =' '    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 distance = size / 2; distance > 0; distance /= 2) {
        if (member < distance) {
#pragma unroll
            for (u32 j = 0; j < n; ++j) value[j] ='
mutant reduce.cl many "$fixed" "unaligned rows are read one late" '= from[j];' '= from[j + 1];'
mutant reduce.cl many "${fixed/i32/f64}" "another association: columns 64 apart meet crosswise" \
    'sum[PACK + j]' 'sum[HELD - 1 - j]'
mutant reduce.cl many "$fixed_large" "the last chunk is lost" \
    '(chunks == 1 ? out : sums)[c] = canonical(sum);' \
    '(chunks == 1 ? out : sums)[c] = c + 1 < chunks ? sum : identity;'
mutant reduce.cl many "${fixed_large/65537/1048577}" "the third level is short of one sum" \
    'team == 0 ? upper_chunks : 0' 'team == 0 ? upper_chunks - 1 : 0'
mutant reduce_wide.cl one "$fixed" "the last element is dropped" 'l < rest; ++l' 'l + 1 < rest; ++l'
mutant reduce_wide.cl one "${fixed/i32/f64}" "another association: columns meet crosswise" \
    'sum[l + distance]' 'sum[2 * distance - 1 - l]'
mutant reduce_wide.cl one "${fixed_large/65537/1000003}" "all groups write their sums to the same place" \
    'sums + first, identity, op)' 'sums, identity, op)'

meeting='shared[local_id] = apply(op, shared[local_id], shared[local_id + distance]);'
pair="if (local_id % (2 * distance) == 0) $meeting"
mutant reduce_steps.cl any "$signs" "min passes over NaN" "$pair" \
    "if (local_id % (2 * distance) == 0 && !(identity > 1 && shared[local_id + distance] != shared[local_id + distance])) $meeting"
mutant reduce_steps.cl any "$signs" "min takes +0 before -0" "$pair" \
    "if (local_id % (2 * distance) == 0 && identity > 1 && shared[local_id] == shared[local_id + distance]) {
            shared[local_id] += shared[local_id + distance];
        } else $pair"
mutant reduce_steps.cl any "reduce --variants interleaved --types i8 --patterns random --sizes 127" \
    "sums saturate instead of wrapping" "$pair" \
    "if (local_id % (2 * distance) == 0 && identity == 0) {
            shared[local_id] = add_sat(shared[local_id], shared[local_id + distance]);
        } else $pair"
mutant reduce_steps.cl any "reduce --variants interleaved $steps" "the last step of the tree is left out" \
    'distance < GROUP; distance *= 2' 'distance < GROUP / 2; distance *= 2'
mutant reduce_steps.cl any "reduce --variants interleaved $steps" "the input is written to" \
    'sums[sums_at + get_group_id(0)] = canonical(shared[0]);' \
    'sums[sums_at + get_group_id(0)] = ((__global T*)in)[in_at + i] = shared[0];'
mutant reduce_steps.cl any "reduce --variants sequential $steps" "no barrier: work-items meet what their partners held before the tree" \
    '    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (local_id < distance) shared[local_id] = apply(op, shared[local_id], shared[local_id + distance]);
    }
    return shared[local_id];' '    barrier(CLK_LOCAL_MEM_FENCE);
    T sum = shared[local_id];
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        if (local_id < distance) sum = apply(op, sum, shared[local_id + distance]);
    }
    return sum;'
mutant reduce_steps.cl any "reduce --variants sequential $steps" "the input's offset is ignored" \
    '= i < n ? in[in_at + i] : identity;
    const T sum' '= i < n ? in[i] : identity;
    const T sum'
mutant reduce_steps.cl any "reduce --variants first_add $steps" "an element past the end is counted" \
    'j < n ? in[j]' 'j <= n ? in[j]'
mutant reduce_steps.cl any "reduce --variants global_tree $steps" "the last element is dropped" \
    'if (i + half_n < n)' 'if (i + half_n + 1 < n)'

mutant common.cu any "$fixed_large" "no group finishes" \
    'atomicAdd(ticket, 1u) == groups - 1' 'atomicAdd(ticket, 1u) == groups'
mutant common.cu any "$fixed_large" "the ticket is not left zero" '*ticket = 0;' ''
mutant common.cu any "$fixed" "shuffles take the wrong lane" \
    '__shfl_down_sync(all_lanes, bits, distance)' '__shfl_down_sync(all_lanes, bits, distance / 2)'

mutant group_reduce.cu any "$fixed" "a step of the tree is left out" 'distance = warp_width / 2;' 'distance = warp_width / 4;'
mutant reduce.cu any "$fixed" "an element past the end is counted" 'if (i < length) sum[j] =' 'if (i <= length) sum[j] ='
mutant reduce.cu any "$fixed" "unaligned rows are read one late" '__ldcg(from + j)' '__ldcg(from + j + 1)'
mutant reduce.cu any "${fixed/i32/f64}" "another association: columns 64 apart meet crosswise" \
    'sum[pack + j]' 'sum[held - 1 - j]'
mutant reduce.cu any "$fixed_large" "the last chunk is lost" \
    '(chunks == 1 ? out : sums)[c] = canonical(sum);' \
    '(chunks == 1 ? out : sums)[c] = c + 1 < chunks ? sum : identity;'
mutant reduce.cu any "${fixed_large/65537/1048577}" "the third level is short of one sum" \
    'reduce_chunk(upper, upper_chunks, identity, op)' 'reduce_chunk(upper, upper_chunks - 1, identity, op)'

meeting='shared[thread] = apply(op, shared[thread], shared[thread + distance]);'
pair="if (thread % (2 * distance) == 0) $meeting"
mutant reduce_steps.cu any "$signs" "min passes over NaN" "$pair" \
    "if (thread % (2 * distance) == 0 && !(identity > 1 && shared[thread + distance] != shared[thread + distance])) $meeting"
mutant reduce_steps.cu any "$signs" "min takes +0 before -0" "$pair" \
    "if (thread % (2 * distance) == 0 && identity > 1 && shared[thread] == shared[thread + distance]) {
            shared[thread] += shared[thread + distance];
        } else $pair"
mutant reduce_steps.cu any "reduce --variants interleaved --types i8 --patterns random --sizes 127" \
    "sums saturate instead of wrapping" "$pair" \
    "if (thread % (2 * distance) == 0 && identity == 0) {
            shared[thread] = T(max(-128, min(127, shared[thread] + shared[thread + distance])));
        } else $pair"
mutant reduce_steps.cu any "reduce --variants interleaved $steps" "the last step of the tree is left out" \
    'distance < GROUP; distance *= 2' 'distance < GROUP / 2; distance *= 2'
mutant reduce_steps.cu any "reduce --variants interleaved $steps" "the input is written to" \
    'sums[blockIdx.x] = canonical(shared[0]);' 'sums[blockIdx.x] = const_cast<T*>(in)[i] = shared[0];'
mutant reduce_steps.cu any "reduce --variants sequential $steps" "no barrier: threads meet what their partners held before the tree" \
    '    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (thread < distance) shared[thread] = apply(op, shared[thread], shared[thread + distance]);
    }
    return shared[thread];' '    __syncthreads();
    T sum = shared[thread];
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        if (thread < distance) sum = apply(op, sum, shared[thread + distance]);
    }
    return sum;'
mutant reduce_steps.cu any "reduce --variants first_add $steps" "an element past the end is counted" \
    'j < n ? in[j]' 'j <= n ? in[j]'
mutant reduce_steps.cu any "reduce --variants shuffle $steps" "no barrier: the first warp meets only its own sum" \
    '    __syncthreads();
    if (thread >= warp_width) return;
    const T sum = reduce_warp(thread < GROUP / warp_width ? shared[thread] : identity, op);' \
    '    if (thread >= warp_width) return;
    const T sum = reduce_warp(thread == 0 ? warp_sum : identity, op);'
mutant reduce_steps.cu any "reduce --variants global_tree $steps" "the last element is dropped" \
    'if (i + half < n)' 'if (i + half + 1 < n)'

# A NaN keeps the bits that the device gives it.
nans="${fixed/i32/f32}" nans="${nans/near_one/special}"
mutant reduce.cl many "$nans" "a NaN is not canonical" \
    '(chunks == 1 ? out : sums)[c] = canonical(sum);' '(chunks == 1 ? out : sums)[c] = sum;'
mutant reduce_wide.cl one "$nans" "a NaN is not canonical" 'return canonical(sum[0]);' 'return sum[0];'
mutant reduce.cu any "$nans" "a NaN is not canonical" \
    '(chunks == 1 ? out : sums)[c] = canonical(sum);' '(chunks == 1 ? out : sums)[c] = sum;'
