# Mutants of matmul, for mutation.sh.
# shellcheck shell=bash disable=SC2016

steps="matmul --variants tiled --types f32 --patterns random --sizes 1009"
naive="${steps/tiled/naive}"
blocks="${steps/tiled/blocks}"
staged="${steps/tiled/blocks_tiled}"
register="${steps/tiled/register_tiled}"
larger="${register/1009/30011}"
wide="${steps/tiled/packed}"

mutant matmul_tile.kernel any "$naive" "beta does not count" ': fma(p->alpha, t, p->beta * *c)' ': p->alpha * t'
mutant matmul_tile.kernel any "$naive" "C is read where beta is 0" '(p->beta == 0 ? p->alpha * t : fma' \
    '(p->beta == 77 ? p->alpha * t : fma'
mutant matmul_steps.cl any "$naive" "two roundings a step" 't = fma(a[l * p.a_column], b[l * p.b_row], t);' \
    't += a[l * p.a_column] * b[l * p.b_row];'
mutant matmul_steps.cl any "$steps" "the last tile of k is a whole one" \
    '        const u32 count = (u32)min((u64)TILE, part.k - begin);
        for (u32 l = 0; l < count; ++l) t = fma(from_a[y][l], from_b[l][x], t);' \
    '        for (u32 l = 0; l < TILE; ++l) t = fma(from_a[y][l], from_b[l][x], t);'
mutant matmul_steps.cl any "$blocks" "a row past the end" 'if (last >= 3) store_row' 'if (last >= 2) store_row'
mutant matmul_steps.cl any "$staged" "an element past a row's end" 'if (j < columns) finish(p, row' \
    'if (j <= columns) finish(p, row'
mutant matmul.cl many "$larger" "a work-item's second pack is its first" 'from + q * stride' 'from + 0 * q'
mutant matmul.cl many "$larger" "a pack along k is stored along the side" 'to[e * pitch] = next' 'to[e] = next'
mutant matmul.cl many "$register" "the rest of k is left out" 'l < rest; ++l' 'l + 1 < rest; ++l'
mutant matmul.cl many "$register" "rows past the end are stored" 'if (down < m && across < n)' 'if (across < n)'
mutant matmul.cl many "$larger" "all products of a batch are the first" 'a += a_at + part.a' 'a += a_at'
mutant matmul_wide.cl one "$wide" "the last row of B stays behind" 'min(part.k, first + count)' 'min(part.k - 1, first + count)'
mutant matmul_wide.cl one "$wide" "a strip ends one early" 'const u64 end = min(p.m, (group % down + 1) * strip);' \
    'const u64 end = min(p.m - 1, (group % down + 1) * strip);'
mutant matmul_wide.cl one "$wide" "columns past the end are stored" 'min(left, (u64)PANEL)' '(u64)PANEL'

mutant matmul_steps.cu any "$naive" "two roundings a step" 't = fma(a[l * p.a_column], b[l * p.b_row], t);' \
    't += a[l * p.a_column] * b[l * p.b_row];'
mutant matmul.cu any "${register/1009/1000003}" "a thread's second pack is its first" 'from + q * STRIDE' 'from + 0 * q'
mutant matmul.cu any "$register" "the rest of k is left out" 'l < rest; ++l' 'l + 1 < rest; ++l'
mutant matmul.cu any "${register/1009/20011}" "a stage is read before it has arrived" \
    '                await_steps(STAGES - 2);
                __syncthreads();
                reads' '                reads'
mutant matmul.cu any "$register" "rows past the end are stored" 'if (row + down >= p.m) continue;' ''
mutant matmul.cu any "$larger" "all products of a batch are the first" 'a + part.a' 'a'

# Long k, in 7 parts.
parts="${naive/1009/918}"
mutant matmul_parts.kernel any "$parts" "parts are added in another order" 'first + r < parts ? from[(first + r)' \
    'first + r < parts ? from[(parts - 1 - first - r)'
mutant matmul_parts.kernel any "$parts" "the last part stays behind" 'first + r < parts' 'first + r + 1 < parts'
mutant matmul_tile.kernel any "$parts" "all parts have the same terms" 'part * p->k * p->a_column' '0'

# A NaN keeps the bits that the device gives it.
nans="${naive/random/special}"
mutant matmul_tile.kernel any "$nans" "a NaN is not canonical" '*c = canonical(' '*c = ('
