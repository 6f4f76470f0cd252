# Mutants of map and add, for mutation.sh.
# shellcheck shell=bash disable=SC2016

add_naive="add --variants naive --types i32 --sizes 1009"
add_fast="add --variants vectorized --types i32 --sizes 1009"

mutant map.kernel any "$add_naive" "a write past the end: < becomes <=" 'if (i < n) out[i] =' 'if (i <= n) out[i] ='
mutant map.kernel any "map --variants naive --types f64 --patterns random --sizes 1009" "a copy past the end" \
    'if (i < n) out[i] =' 'if (i <= n) out[i] ='
mutant map.kernel any "$add_naive" "the first element is left out" 'const u64 i = global_id();' 'const u64 i = global_id() + 1;'
mutant prelude.cl any "$add_naive" "offsets are ignored" 'NAME += NAME##_at' '(void)NAME##_at'
mutant map.kernel any "add --variants naive --types f32 --patterns tiny --sizes 1009" "denormals are flushed to zero" \
    'if (i < n) out[i] = F(a[i], b[i])' 'if (i < n) out[i] = fabs(F(a[i], b[i])) < 0x1p-126f ? 0 : F(a[i], b[i])'
mutant map.kernel any "add --variants naive --types f32 --patterns zeros --sizes 1009" "-0 becomes +0" \
    'if (i < n) out[i] = F(a[i], b[i])' 'if (i < n) out[i] = F(a[i], b[i]) + 0'
# F(1, 0) is saxpy's a; a function of one argument has a shorter call.
mutant map.kernel any "map --variants naive --types f32 --patterns random --sizes 1009" "saxpy is contracted to an fma" \
    'if (i < n) out[i] = F(a[i], b[i]);' \
    '#define CALL(f) #f
#define CALL_OF(f) CALL(f)
    const bool two = sizeof CALL_OF(F(x, y)) > sizeof "canonical(apply(op, x))";
    if (i < n && two) out[i] = (U)fma((f32)F(1, 0), (f32)a[i], (f32)b[i]);
    if (i < n && !two) out[i] = F(a[i], b[i]);'
mutant map.kernel many "$add_fast" "the tail is dropped" 'group_id() != 0 || local_id() >= ends' 'group_id() != 0 || local_id() >= head'
mutant map.kernel many "$add_fast" "the tail begins one late" 'local_id() + packs * PACK;' 'local_id() + packs * PACK + 1;'
mutant map.kernel many "$add_fast" "a pack past the end" 'if (i < packs) {
            PackU z;' 'if (i <= packs) {
            PackU z;'
mutant map.kernel many "$add_fast" "the first pack is left out" '(GROUP * UNROLL) + local_id();' '(GROUP * UNROLL) + local_id() + 1;'
mutant map_wide.cl one "$add_fast" "the first element of a tile is left out" \
    'u64 i = get_group_id(0) * tile;' 'u64 i = get_group_id(0) * tile + 1;'
mutant map_wide.cl one "add --variants vectorized --types i32 --sizes 16000" "the last tile is not cut" \
    'min(n, (get_group_id(0) + 1) * tile)' '(get_group_id(0) + 1) * tile'

# The bits of a NaN.
map_nan="map --variants naive --types f32 --patterns special --sizes 1009"
mutant common.cl any "$map_nan" "a NaN has its sign set" '0x7fc00000u' '0xffc00000u'
mutant common.cu any "$map_nan" "a NaN has its sign set" '0x7fc00000u' '0xffc00000u'
mutant common.cl any "${map_nan/f32/f64}" "a NaN has a payload" '0x7ff8000000000000ul' '0x7ff8000000000001ul'
mutant common.cu any "${map_nan/f32/f64}" "a NaN has a payload" '? 0x7ff8000000000000' '? 0x7ff8000000000001'

# Expressions of two inputs that broadcast.
two="map --variants evaluate --types i32 --patterns random --sizes 1009"
mutant evaluate.kernel many "$two" "the last element is not stored" 'e < ends;' 'e + 1 < ends;'
mutant evaluate.kernel many "$two" "a write past the end" 'e < ends;' 'e <= ends;'
mutant evaluate.kernel any "$two" "the last pack is not stored" 'if (p < packs)' 'if (p + 1 < packs)'
