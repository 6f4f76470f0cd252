# Mutants of stencil, for mutation.sh.
# shellcheck shell=bash disable=SC2016

# These sizes reach radius 1 and 4 only. The larger ones exceed a tile in both directions, or two vectors.
naive="stencil --variants naive --types f32 --patterns random --sizes 1010"
tiled="${naive/naive/tiled}"
streaming="stencil --variants streaming --types f32 --patterns random --sizes 300010"
ring="${streaming/streaming/ring}"
columns="${streaming/streaming/columns}"
blocked="stencil --variants blocked --types f32 --patterns random --sizes 1010,30010"
temporal="stencil --variants temporal --types f32 --patterns random --sizes 300008,300011"
# At these sizes a step is also computed box by box.
boxes="stencil --types f32 --patterns random --sizes 30017 --variants"

mutant stencil_steps.kernel any "$naive" "a point past the end of a row counts" 'r < columns - x ?' 'r <= columns - x ?'
mutant stencil_steps.kernel any "$naive" "another association" '((left + right) + (before + after)) + (below + above)' \
    '(left + right) + ((before + after) + (below + above))'
mutant stencil_steps.kernel any "$naive" "a product that rounds" 'return fma(c, ((left' 'return t + c * (((left' \
    '(below + above), t);' '(below + above));'
mutant stencil_steps.kernel any "$tiled" "no barrier: a tile is read before it is there" '    local_barrier();
' ''
mutant stencil_steps.kernel any "$tiled" "the halo on the left is a column late" 'place.x + column - RADIUS;' \
    'place.x + column - RADIUS + (column < RADIUS ? 1 : 0);'
mutant stencil.kernel many "$streaming" "no barrier: a stage is read before it is there" '        local_barrier();
' ''
mutant stencil.kernel many "$streaming" "the first row below a tile is within it" 'if (row >= RADIUS) row += HEIGHT;' \
    'if (row > RADIUS) row += HEIGHT;'
mutant stencil.kernel many "$streaming" "the halo is of the plane before" 'load(in + (z + 1) * plane + halo_at[k]' \
    'load(in + z * plane + halo_at[k]'
mutant stencil_ring.kernel many "$ring" "no barrier: a stage is read before it is there" '        local_barrier();
' ''
mutant stencil_ring.kernel many "$ring" "planes after the volume are copied" 'front < depth, plane' 'true, plane'
mutant stencil_ring.kernel many "$ring" "the newest planes are a stage late" 'newest = RADIUS;' 'newest = RADIUS - 1;'
mutant stencil_ring.kernel many "$boxes ring" "a box begins at the volume's first row" \
    'tile_y = y_begin + (u64)' 'tile_y = (u64)'
mutant stencil_ring.kernel many "${ring/random/special}" "a NaN is not canonical" 'canonical(t[j][i])' 't[j][i]'
mutant stencil_columns.kernel many "$columns" "rows past the last are neighbours" 'inside[k] = y + k - RADIUS < rows' \
    'inside[k] = y + k - RADIUS <= rows'
mutant stencil_columns.kernel many "$columns" "the queue ends a plane early" 'in_z = z + RADIUS' 'in_z = z + 1 + RADIUS'
mutant stencil_columns.kernel many "$boxes columns" "a box begins at the volume's first row" \
    'y = y_begin + (u64)' 'y = (u64)'
mutant stencil_temporal.kernel many "$temporal" "points outside the volume are computed" 'inside[j] && in_z ? t : (T)0' \
    'in_z ? t : (T)0'
mutant stencil_temporal.kernel many "$temporal" "planes behind the volume are computed" 'inside[j] && in_z ? t : (T)0' \
    'inside[j] ? t : (T)0'
mutant stencil_temporal.kernel many "$temporal" "the margin is a point short" 'row >= MARGIN &&' 'row + 1 >= MARGIN &&'
mutant stencil_temporal.kernel many "$temporal" "a piece of the depth begins a plane late" 'begin > MARGIN ? begin - MARGIN' \
    'begin > MARGIN ? begin - MARGIN + 1'
mutant stencil_wide.cl one "$blocked" "a row past the last counts" 'r < rows - y ?' 'r <= rows - y ?'
mutant stencil_wide.cl one "$blocked" "what is left of a row stays from the row before" \
    'for (; i < n + right; ++i) centre[i] = row[i];' 'for (; i + 1 < n + right; ++i) centre[i] = row[i];'
mutant stencil_wide.cl one "$blocked" "a coefficient is the one before" 'const VECTOR c = star->c[r];' \
    'const VECTOR c = star->c[r - 1];'
mutant stencil_steps.kernel any "$boxes naive" "a box begins at the volume's first row" \
    'y_begin + (u64)(tile % tiles_y)' '(u64)(tile % tiles_y)'
mutant stencil.kernel many "$boxes streaming" "a box begins at the volume's first row" \
    'tile_y = y_begin + (u64)' 'tile_y = (u64)'
mutant stencil.kernel many "$boxes streaming" "a box begins at the volume's first plane" \
    'begin = z_begin + tile' 'begin = tile'
mutant stencil_wide.cl one "$boxes blocked" "a box begins at the volume's first plane" \
    'z_begin = z_from + group' 'z_begin = group'

mutant stencil.kernel many "$streaming" "the queue does not move on at its end" 'const u64 front = z + 1 + RADIUS;' \
    'const u64 front = z + RADIUS;'
mutant async_copy.cu any "$ring" "copies are not awaited" \
    'if (later == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");' ''
# Without sub-group shuffles the exchange between lanes has barriers of its own: a missing barrier shows on CUDA only.
mutant prelude.cu any "$temporal" "no barrier: rows are read before they are staged" 'local_barrier() __syncthreads()' \
    'local_barrier() (void)0'

# A NaN keeps the bits that the device gives it.
mutant stencil.kernel many "${streaming/random/special}" "a NaN is not canonical" 'item[i] = canonical(t);' 'item[i] = t;'
mutant stencil_wide.cl one "${blocked/random/special}" "a NaN is not canonical" 'STORE(CANONICAL(VECTOR, a), line + i);' 'STORE(a, line + i);'
