#!/usr/bin/env bash
# mutation.sh BIN_DIR SOURCE_DIR [SELECTOR...]: proof that `concord check` catches faults. Each mutant below is planted in a
# copy of its kernel text, which the program takes from CONCORD_KERNELS, and the narrowest check that must catch it has to
# end with status 1 and a result that differs. A text that no longer holds what a mutant replaces, exactly once, is a
# failure, and so is a mutant that does not compile. On the SELECTORs, else on the first OpenCL and the first CUDA device.
# CUDA mutants are compiled for a device that is not here where there is none. Ends with 77 if no mutant ran.
set -u
export LC_ALL=C

bin=$(cd -- "$1" && pwd -P) || exit 2
source=$(cd -- "$2" && pwd -P) || exit 2
shift 2
concord=$bin/concord
[[ -x $concord ]] || { echo "mutation.sh: there is no $concord" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset CONCORD_DEVICE CONCORD_KERNELS CONCORD_OPENCL_LANES CONCORD_LOG
export XDG_CACHE_HOME=$work/cache

# --- The mutants ----------------------------------------------------------------------------------------------------

# mutant FILE LANES CHECK WHAT FROM TO. LANES: many or one, the shape of the OpenCL kernels that the fault is in, or any.
files=() lanes=() checks=() whats=() froms=() tos=()
mutant() {
    files+=("$1") lanes+=("$2") checks+=("$3") whats+=("$4") froms+=("$5") tos+=("$6")
}

# The checks: one operator (near_one is a pattern of products; in f32 of a second one too) and few sizes where that will do.
add_naive="add --variants naive --types i32 --sizes 1009"
add_fast="add --variants vectorized --types i32 --sizes 1009"
fixed="reduce --variants fixed --types i32 --patterns near_one --sizes 127,1009,1025"
fixed_large="reduce --variants fixed --types i32 --patterns near_one --sizes 65537"
signs="reduce --variants interleaved --types f32 --patterns special,zeros --sizes 127"
steps="--types i32 --patterns near_one --sizes 257,300,1009"

mutant map.cl any "$add_naive" "a write past the end: < becomes <=" \
    'if (i < n) out[out_at + i] =' 'if (i <= n) out[out_at + i] ='
mutant map.cl any "map --variants naive --types f64 --patterns random --sizes 1009" "a copy past the end" \
    'if (i < n) out[out_at + i] =' 'if (i <= n) out[out_at + i] ='
mutant map.cl any "$add_naive" "an offset is ignored: that of b is taken for a" \
    'F(a[a_at + i], b[b_at + i])' 'F(a[b_at + i], b[b_at + i])'
mutant map.cl any "add --variants naive --types f32 --patterns tiny --sizes 1009" "denormals are flushed to zero" \
    '= F(a[a_at + i], b[b_at + i])' '= fabs(F(a[a_at + i], b[b_at + i])) < 0x1p-126f ? 0 : F(a[a_at + i], b[b_at + i])'
mutant map.cl any "add --variants naive --types f32 --patterns zeros --sizes 1009" "-0 becomes +0" \
    '= F(a[a_at + i], b[b_at + i])' '= F(a[a_at + i], b[b_at + i]) + 0'
# F(1, 0) is saxpy's a; a function of one argument has a shorter call.
mutant map.cl any "map --variants naive --types f32 --patterns random --sizes 1009" "saxpy is contracted to an fma" \
    'if (i < n) out[out_at + i] = F(a[a_at + i], b[b_at + i]);' \
    '#define CALL(f) #f
#define CALL_OF(f) CALL(f)
    const bool two = sizeof CALL_OF(F(x, y)) > sizeof "apply(op, x)";
    if (i < n && two) out[out_at + i] = (U)fma((f32)F(1, 0), (f32)a[a_at + i], (f32)b[b_at + i]);
    if (i < n && !two) out[out_at + i] = F(a[a_at + i], b[b_at + i]);'
mutant map.cl many "$add_fast" "the tail is dropped" 'get_group_id(0) != 0 || lane >= ends' 'get_group_id(0) != 0 || lane >= head'
mutant map.cl many "$add_fast" "the tail begins one late" 'lane + packs * PACK;' 'lane + packs * PACK + 1;'
mutant map.cl many "$add_fast" "a pack past the end" 'if (i < packs) {
            PackU z;' 'if (i <= packs) {
            PackU z;'
mutant map.cl many "$add_fast" "the first pack is left out" '(GROUP * UNROLL) + lane;' '(GROUP * UNROLL) + lane + 1;'
mutant map.cl one "$add_fast" "the first element of a tile is left out" \
    'u64 i = get_group_id(0) * tile;' 'u64 i = get_group_id(0) * tile + 1;'
mutant map.cl one "add --variants vectorized --types i32 --sizes 16000" "the last tile is not cut" \
    'min(n, (get_group_id(0) + 1) * tile)' '(get_group_id(0) + 1) * tile'

mutant common.cl many "$fixed_large" "no group finishes" \
    'atomic_inc(ticket) == groups - 1' 'atomic_inc(ticket) == groups'
mutant common.cl many "$fixed_large" "the ticket is not left zero" 'if (*last) *ticket = 0;' ''

mutant reduce.cl many "$fixed" "a step of the tree is left out" 'distance = TEAM / 2;' 'distance = TEAM / 4;'
mutant reduce.cl many "$fixed" "no barrier: lanes meet what their partners held before the tree" \
    '    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < distance) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) mine[j] = sum[j] =' '    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
        if (lane < distance) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) sum[j] ='
mutant reduce.cl many "$fixed" "unaligned rows are read one late" '= from[j];' '= from[j + 1];'
mutant reduce.cl many "${fixed/i32/f64}" "another association: lanes 64 apart meet crosswise" \
    'sum[PACK + j]' 'sum[HELD - 1 - j]'
mutant reduce.cl many "$fixed_large" "the last chunk is lost" \
    '(chunks == 1 ? out : sums)[c] = sum;' '(chunks == 1 ? out : sums)[c] = c + 1 < chunks ? sum : identity;'
mutant reduce.cl many "${fixed_large/65537/1048577}" "the third level is short of one sum" \
    'team == 0 ? upper_chunks : 0' 'team == 0 ? upper_chunks - 1 : 0'
mutant reduce.cl one "$fixed" "the last element is dropped" 'l < rest; ++l' 'l + 1 < rest; ++l'
mutant reduce.cl one "${fixed/i32/f64}" "another association: lanes meet crosswise" \
    'sum[l + distance]' 'sum[2 * distance - 1 - l]'
mutant reduce.cl one "${fixed_large/65537/1000003}" "all groups write their sums to the same place" \
    'sums + first, identity, op)' 'sums, identity, op)'

meeting='shared[lane] = apply(op, shared[lane], shared[lane + distance]);'
pair="if (lane % (2 * distance) == 0) $meeting"
mutant reduce_steps.cl any "$signs" "min passes over NaN" "$pair" \
    "if (lane % (2 * distance) == 0 && !(identity > 1 && shared[lane + distance] != shared[lane + distance])) $meeting"
mutant reduce_steps.cl any "$signs" "min takes +0 before -0" "$pair" \
    "if (lane % (2 * distance) == 0 && identity > 1 && shared[lane] == shared[lane + distance]) {
            shared[lane] += shared[lane + distance];
        } else $pair"
mutant reduce_steps.cl any "reduce --variants interleaved --types i8 --patterns random --sizes 127" \
    "sums saturate instead of wrapping" "$pair" \
    "if (lane % (2 * distance) == 0 && identity == 0) {
            shared[lane] = add_sat(shared[lane], shared[lane + distance]);
        } else $pair"
mutant reduce_steps.cl any "reduce --variants interleaved $steps" "the last step of the tree is left out" \
    'distance < GROUP; distance *= 2' 'distance < GROUP / 2; distance *= 2'
mutant reduce_steps.cl any "reduce --variants interleaved $steps" "the input is written to" \
    'sums[sums_at + get_group_id(0)] = shared[0];' \
    'sums[sums_at + get_group_id(0)] = ((__global T*)in)[in_at + i] = shared[0];'
mutant reduce_steps.cl any "reduce --variants sequential $steps" "no barrier: lanes meet what their partners held before the tree" \
    '    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < distance) shared[lane] = apply(op, shared[lane], shared[lane + distance]);
    }
    return shared[lane];' '    barrier(CLK_LOCAL_MEM_FENCE);
    T sum = shared[lane];
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        if (lane < distance) sum = apply(op, sum, shared[lane + distance]);
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

mutant map.cu any "$add_naive" "a write past the end: < becomes <=" 'if (i < n) out[i] =' 'if (i <= n) out[i] ='
mutant map.cu any "$add_naive" "the first element is left out" \
    'GROUP + threadIdx.x;
    if (i < n)' 'GROUP + threadIdx.x + 1;
    if (i < n)'
mutant map.cu any "add --variants naive --types f32 --patterns tiny --sizes 1009" "denormals are flushed to zero" \
    'if (i < n) out[i] = F(a[i], b[i])' 'if (i < n) out[i] = fabsf(F(a[i], b[i])) < 0x1p-126f ? 0 : F(a[i], b[i])'
mutant map.cu any "add --variants naive --types f32 --patterns zeros --sizes 1009" "-0 becomes +0" \
    'if (i < n) out[i] = F(a[i], b[i])' 'if (i < n) out[i] = F(a[i], b[i]) + 0'
mutant map.cu any "map --variants naive --types f32 --patterns random --sizes 1009" "saxpy is contracted to an fma" \
    'if (i < n) out[i] = F(a[i], b[i]);' \
    '#define CALL(f) #f
#define CALL_OF(f) CALL(f)
    const bool two = sizeof CALL_OF(F(x, y)) > sizeof "apply(op, x)";
    if (i < n && two) out[i] = U(fmaf(f32(F(1, 0)), f32(a[i]), f32(b[i])));
    if (i < n && !two) out[i] = F(a[i], b[i]);'
mutant map.cu any "$add_fast" "the tail is dropped" 'blockIdx.x != 0 || threadIdx.x >= ends' 'blockIdx.x != 0 || threadIdx.x >= head'
mutant map.cu any "$add_fast" "the tail begins one late" 'threadIdx.x + packs * PACK;' 'threadIdx.x + packs * PACK + 1;'
mutant map.cu any "$add_fast" "a pack past the end" 'if (i < packs) {
            Pack<U, PACK> z;' 'if (i <= packs) {
            Pack<U, PACK> z;'
mutant map.cu any "$add_fast" "the first pack is left out" \
    '(GROUP * UNROLL) + threadIdx.x;' '(GROUP * UNROLL) + threadIdx.x + 1;'

mutant common.cu any "$fixed_large" "no group finishes" \
    'atomicAdd(ticket, 1u) == groups - 1' 'atomicAdd(ticket, 1u) == groups'
mutant common.cu any "$fixed_large" "the ticket is not left zero" '*ticket = 0;' ''
mutant common.cu any "$fixed" "shuffles take the wrong lane" \
    '__shfl_down_sync(all_lanes, value, distance)' '__shfl_down_sync(all_lanes, value, distance / 2)'

mutant reduce.cu any "$fixed" "a step of the tree is left out" 'distance = warp_width / 2;' 'distance = warp_width / 4;'
mutant reduce.cu any "$fixed" "an element past the end is counted" 'if (i < length) sum[j] =' 'if (i <= length) sum[j] ='
mutant reduce.cu any "$fixed" "unaligned rows are read one late" '__ldcg(from + j)' '__ldcg(from + j + 1)'
mutant reduce.cu any "${fixed/i32/f64}" "another association: lanes 64 apart meet crosswise" \
    'sum[pack + j]' 'sum[held - 1 - j]'
mutant reduce.cu any "$fixed_large" "the last chunk is lost" \
    '(chunks == 1 ? out : sums)[c] = sum;' '(chunks == 1 ? out : sums)[c] = c + 1 < chunks ? sum : identity;'
mutant reduce.cu any "${fixed_large/65537/1048577}" "the third level is short of one sum" \
    'reduce_chunk(upper, upper_chunks, identity, op)' 'reduce_chunk(upper, upper_chunks - 1, identity, op)'

mutant reduce_steps.cu any "$signs" "min passes over NaN" "$pair" \
    "if (lane % (2 * distance) == 0 && !(identity > 1 && shared[lane + distance] != shared[lane + distance])) $meeting"
mutant reduce_steps.cu any "$signs" "min takes +0 before -0" "$pair" \
    "if (lane % (2 * distance) == 0 && identity > 1 && shared[lane] == shared[lane + distance]) {
            shared[lane] += shared[lane + distance];
        } else $pair"
mutant reduce_steps.cu any "reduce --variants interleaved --types i8 --patterns random --sizes 127" \
    "sums saturate instead of wrapping" "$pair" \
    "if (lane % (2 * distance) == 0 && identity == 0) {
            shared[lane] = T(max(-128, min(127, shared[lane] + shared[lane + distance])));
        } else $pair"
mutant reduce_steps.cu any "reduce --variants interleaved $steps" "the last step of the tree is left out" \
    'distance < GROUP; distance *= 2' 'distance < GROUP / 2; distance *= 2'
mutant reduce_steps.cu any "reduce --variants interleaved $steps" "the input is written to" \
    'sums[blockIdx.x] = shared[0];' 'sums[blockIdx.x] = const_cast<T*>(in)[i] = shared[0];'
mutant reduce_steps.cu any "reduce --variants sequential $steps" "no barrier: lanes meet what their partners held before the tree" \
    '    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (lane < distance) shared[lane] = apply(op, shared[lane], shared[lane + distance]);
    }
    return shared[lane];' '    __syncthreads();
    T sum = shared[lane];
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        if (lane < distance) sum = apply(op, sum, shared[lane + distance]);
    }
    return sum;'
mutant reduce_steps.cu any "reduce --variants first_add $steps" "an element past the end is counted" \
    'j < n ? in[j]' 'j <= n ? in[j]'
mutant reduce_steps.cu any "reduce --variants shuffle $steps" "no barrier: the first warp meets only its own sum" \
    '    __syncthreads();
    if (lane >= warp_width) return;
    const T sum = reduce_warp(lane < GROUP / warp_width ? shared[lane] : identity, op);' \
    '    if (lane >= warp_width) return;
    const T sum = reduce_warp(lane == 0 ? warp_sum : identity, op);'
mutant reduce_steps.cu any "reduce --variants global_tree $steps" "the last element is dropped" \
    'if (i + half < n)' 'if (i + half + 1 < n)'

for list in "$source"/tests/mutants/*.sh; do
    # shellcheck source=/dev/null
    source "$list"
done

# --- What runs them -------------------------------------------------------------------------------------------------

# check DEVICE LANES CHECK LOG: runs it; the status is in the last line of the log.
check() {
    local -a arguments
    read -ra arguments <<<"$3"
    [[ $2 == any ]] || export CONCORD_OPENCL_LANES=$2
    "$concord" check "${arguments[@]}" --devices "$1" >"$4" 2>&1 </dev/null
    echo "status $?" >>"$4"
}
status_of() { tail -n 1 "$1"; }

# Puts the mutant's text into a folder of its own; says what is wrong if it does not apply.
plant() {  # INDEX
    local file text without times
    file=$(find "$source/algorithms" -name "${files[$1]}")
    text=$(<"$file") || return
    without=${text//"${froms[$1]}"/}
    times=$(((${#text} - ${#without}) / ${#froms[$1]}))
    if [[ $times != 1 ]]; then
        echo "what it replaces is there $times times, not once"
        return
    fi
    mkdir "$work/$1"
    printf '%s\n' "${text/"${froms[$1]}"/"${tos[$1]}"}" >"$work/$1/${files[$1]}"
}

# Each job leaves a line in a file of its own: passed, FAILED or "left out", a tab, and what to say.
say() { printf '%s\t%s\n' "$1" "$2" >"$result"; }

# A check that a mutant will fail must pass without it.
sound_job() {  # DEVICE LANES CHECK
    check "$1" "$2" "$3" "$result.log"
    if [[ $(status_of "$result.log") == "status 0" ]]; then
        say passed "without a fault, $2 lanes, on $1: check $3"
    else
        say FAILED "without a fault, $2 lanes, on $1: check $3: $(status_of "$result.log")"$'\n'"$(head -n 3 "$result.log")"
    fi
}

mutant_job() {  # INDEX DEVICE
    local name="${files[$1]} on $2: ${whats[$1]}" log=$result.log problem how
    export CONCORD_KERNELS=$work/$1
    check "$2" "${lanes[$1]}" "${checks[$1]}" "$log"
    problem=$(status_of "$log")
    if grep -q 'does not compile' "$log"; then
        say FAILED "$name: it does not compile"$'\n'"$(grep -m 3 'error' "$log")"
    elif [[ $2 == cuda@* ]]; then
        if [[ $problem == "status 0" ]]; then say "left out" "$without_cuda"; else say FAILED "$name: $problem"; fi
    elif [[ $problem != "status 1" ]] || ! grep -q DIFFERS "$log"; then
        say FAILED "$name: NOT CAUGHT, $problem: CONCORD_OPENCL_LANES=${lanes[$1]} concord check ${checks[$1]}"
    else
        how=$(grep -m 1 -A 1 '^FAILED' "$log" | tail -n 1)
        say caught "$name:${how#   }"
    fi
}

# Runs a job beside others, as many as there are processors.
count=0
running=0
start() {
    result=$work/result.$((count++))
    if ((running == processors)); then wait -n; else ((++running)); fi
    "$@" &
}
processors=$(nproc 2>/dev/null || echo 2)

selectors=("$@")
listed=$("$concord" devices 2>&1)
first_of() { awk -v backend="$1:" 'index($1, backend) == 1 { print $1; exit }' <<<"$listed"; }
if [[ $# == 0 ]]; then
    for backend in opencl cuda; do
        first=$(first_of "$backend")
        [[ -z $first ]] || selectors+=("$first")
    done
fi
why_not() {  # BACKEND
    local line
    line=$(grep -m 1 "^$1 is not available" <<<"$listed")
    echo "${line:-no $1 device was asked for}"
}
of_backend() {  # BACKEND: its selectors
    local selector
    for selector in "${selectors[@]}"; do
        [[ $selector != "$1"* ]] || echo "$selector"
    done
}
mapfile -t cl_devices < <(of_backend opencl)
mapfile -t cu_devices < <(of_backend cuda)
without_cuda=
if [[ ${#cu_devices[@]} == 0 ]]; then
    check cuda@sm_90 any "$add_naive" "$work/nvrtc"
    if [[ $(status_of "$work/nvrtc") == "status 0" ]]; then
        cu_devices=(cuda@sm_90)
        without_cuda="CUDA mutants, which apply and compile: $(why_not cuda)"
    fi
fi

declare -A sound=()
for i in "${!files[@]}"; do
    problem=$(plant "$i")
    if [[ $problem ]]; then
        result=$work/result.$((count++))
        say FAILED "${files[i]}: ${whats[i]}: $problem"
        continue
    fi
    devices=("${cu_devices[@]}")
    without="CUDA mutants, which apply: $(why_not cuda); $(grep -v '^status' "$work/nvrtc" 2>/dev/null | head -n 1)"
    if [[ ${files[i]} == *.cl ]]; then
        devices=("${cl_devices[@]}")
        without="OpenCL mutants, which apply: $(why_not opencl)"
    fi
    if [[ ${#devices[@]} == 0 ]]; then
        result=$work/result.$((count++))
        say "left out" "$without"
    fi
    for device in "${devices[@]}"; do
        key="$device ${lanes[i]} ${checks[i]}"
        if [[ $device != cuda@* && -z ${sound[$key]:-} ]]; then
            sound[$key]=1
            start sound_job "$device" "${lanes[i]}" "${checks[i]}"
        fi
        start mutant_job "$i" "$device"
    done
done
wait

for ((i = 0; i < count; ++i)); do
    if [[ -e $work/result.$i ]]; then cat "$work/result.$i"; else echo "FAILED	a job left no result"; fi
done >"$work/results"
grep -v '^left out' "$work/results"
sed -n 's/^left out\t//p' "$work/results" | sort | uniq -c | sed 's/^ */left out: /'
caught=$(grep -c '^caught' "$work/results")
failed=$(grep -c '^FAILED' "$work/results")
echo "$caught mutants caught, $failed failures"
[[ $failed == 0 ]] || exit 1
[[ $caught -gt 0 ]] || exit 77
