# Mutants of scan, for mutation.sh.
# shellcheck shell=bash disable=SC2016

# i64 is checked with sums only, i32 also with an operator that does not commute.
tiled="scan --variants reduce_then_scan --types i64 --patterns mixed --sizes 4095,4097,9001"
tiled_wide="scan --variants reduce_then_scan --types i64 --patterns mixed --sizes 65537,140001"
partitioned="scan --variants partitioned --types i64 --patterns mixed --sizes 1009,1200001"
blocks="--types i64 --patterns mixed --sizes 1009"

mutant tile.cl many "$tiled" "the last result of a tile is not stored" 'i < TILE && i < left; i' 'i + 1 < TILE && i < left; i'
mutant scan_tile.cl many "$tiled" "what lies before a tile is left out of its later nodes" \
    'node == 0 ? carry[k] : apply(op, carry[k], left_node)' 'node == 0 ? carry[k] : left_node'
mutant scan_tile.cl many "$tiled" "a node begins with its second block" 'if (local_id % 16 != 0) before' 'if (local_id % 16 > 1) before'
mutant scan_tile.cl many "$tiled" "an exclusive scan begins inclusively" \
    'exclusive && local_id % SHARERS == 0 ? left : first_item' 'first_item'
mutant tile.cl many "$tiled" "a result past the end" \
    'left >= TILE && (ulong)to % 16 == 0' 'left + 1 >= TILE && (ulong)to % 16 == 0'
mutant scan_tile.cl many "scan --variants reduce_then_scan --types f64 --patterns random --sizes 9001" "another association" \
    'before = apply(op, before, left_block);' \
    'before = node == 0 ? apply(op, before, left_block) : apply(op, carry[k], apply(op, left_node, left_block));'

# Groups that stall, so that others must compute what these do not publish; several levels of the tree.
fallback="scan --variants lookback_fallback --types i64 --patterns mixed --sizes 9001,1200001"
published='publish_node(tree, level, index, total);'
harmless scan_fallback.cl any "$fallback" "a group does not wait for others at all" '#define SPINS 64' '#define SPINS 1'
harmless scan_fallback.cl any "$fallback" "every third group stalls" "$published" "if (level > 0 || index % 3 != 1) $published"
harmless scan_fallback.cl any "$fallback" "all groups stall" "$published" "if (false) $published"
mutant scan_fallback.cl any "$fallback" "a node that is worked out is not scanned" "$published" "if (level == 0) $published" \
    'scan_sixteen_loop(m->children, op);
            publish_node(tree, k' 'publish_node(tree, k'
mutant scan_fallback.cl any "$fallback" "a tile that is worked out is the group's own" "$published" "if (level > 0) $published" \
    'in + m->wanted * (u64)TILE' 'in + tile * (u64)TILE'
mutant scan_fallback.cl any "$fallback" "of a tile that is worked out, a node is left out" "$published" "if (level > 0) $published" \
    'for (u32 node = 0; node < 16' 'for (u32 node = 0; node < 15'
mutant scan_fallback.cl any "$fallback" "the siblings of a node are those of the tile" \
    'tree->siblings[16 * level + index % 16]' 'tree->siblings[index % 16]'
mutant lookback.cl any "$fallback" "a node holds its first 15 tiles" \
    'shuffle_total(p, last, lookback->meet)' 'shuffle_total(p, last - 1, lookback->meet)'

mutant scan_wide.cl one "$partitioned" "a result past the end" 'for (int k = i; k < count; ++k)' 'for (int k = i; k <= count; ++k)'
mutant scan_wide.cl one "$partitioned" "a tile takes its own total for what lies before it" \
    'before[levels] = p[(digit + FAN - 1) % FAN];' 'before[levels] = p[digit];'
mutant scan_wide.cl one "$partitioned" "the higher levels are left out" \
    'while (levels-- > 0) {' 'levels = 1; while (levels-- > 0) {'
mutant sklansky_wide.cl one "$partitioned" "an exclusive sum begins inclusively" 'if (exclusive) result.s0 = before[b];' ''
mutant sklansky_wide.cl one "$partitioned" "the network of sums lacks a step" \
    'PICK(v, sum, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31)' 'v'
mutant sklansky_wide.cl one "$partitioned" "of a node's blocks two sums are left out" \
    'rows[1] = sum_neighbours(rows[2], rows[3]);' 'rows[1] = rows[2];'
mutant sklansky_wide.cl one "${partitioned/i64 --patterns mixed/i32 --patterns skewed}" "an exclusive scan begins inclusively" \
    'if (exclusive) out[16 * b] = left;' ''
mutant scan_wide.cl one "$tiled_wide" "the totals of a tile's nodes are left out" \
    'k < pieces + nodes + 1; ++k' 'k < pieces + nodes; ++k'
mutant scan_wide.cl one "$tiled_wide" "no tile has anything before it" \
    'get_num_groups(0) == 1 ? identity : carries[carries_at + get_group_id(0)]' 'identity'

# Inputs that are expressions: those of i64.
mutant tile.cl many "$tiled" "an element of an expression comes one late" \
    'stage[STAGED(i)] = i < left ? load_item(from, i) : filler' 'stage[STAGED(i)] = i < left ? load_item(from, i + (i + 1 < left)) : filler'
mutant scan_wide.cl one "$partitioned" "the last element of a tile of an expression is not computed" \
    'i < length; ++i) out[i] = load_item' 'i + 1 < length; ++i) out[i] = load_item'

mutant scan_steps.kernel any "scan --variants hillis_steele $blocks" "the element at the distance is copied" \
    'i < distance ? x[i]' 'i <= distance ? x[i]'
mutant scan_steps.kernel any "scan --variants hillis_steele $blocks" "an exclusive scan is not shifted" \
    'identity : x[i - 1]' 'identity : x[i]'
mutant scan_steps.kernel any "scan --variants blelloch $blocks" "the down-sweep loses the left sum" \
    'x[right] = canonical(apply(op, before, sum));' 'x[right] = before;'
mutant scan_steps.kernel any "scan --variants kogge_stone $blocks" "two blocks have one offset" \
    'offsets[i / block]' 'offsets[i / (2 * block)]'
mutant scan_steps.kernel any "scan --variants brent_kung $blocks" "the down-sweep is a step short" \
    'for (u32 distance = GROUP / 2; distance > 0' 'for (u32 distance = GROUP / 2; distance > 1'
mutant scan_steps.kernel any "scan --variants conflict_free $blocks" "the root is not cleared" 'AT(last) = identity;' ''
mutant scan_steps.kernel any "scan --variants recursive_vector ${blocks/1009/5000}" "work-items are combined with themselves" \
    'own == 0 ? identity : shared[own - 1];
#pragma unroll' 'shared[own];
#pragma unroll'

lookback="scan --variants lookback --types i64 --patterns mixed --sizes 4095,4097,1200001"
mutant lookback.cu any "$lookback" "a sibling too many" 'shuffle_from(nodes, (place / 16 - 1) % 16)' 'shuffle_from(nodes, place / 16)'
mutant lookback.cu any "${lookback/i64 --patterns mixed/i32 --patterns skewed}" "levels are combined from the wrong side" \
    'node = JOIN(op, node, left);' 'node = JOIN(op, left, node);'
mutant sklansky.kernel many "$tiled" "the upper half of a work-item's values is not combined with the lower" \
    'half_ < count; half_ *= 2' 'half_ < count / 2; half_ *= 2'
mutant tile.cu any "$lookback" "a result past the end" \
    'if (left >= THREADS * S * N && reinterpret_cast<u64>(to) %' 'if (left + 1 >= THREADS * S * N && reinterpret_cast<u64>(to) %'
mutant scan_tile.cu any "$lookback" "a node begins with its second block" 'if (threadIdx.x % 16 != 0) before' 'if (threadIdx.x % 16 > 1) before'
mutant scan.kernel many "$tiled" "no tile has anything before it" 'group_count() == 1 ? identity : carries[group_id()]' 'identity'

# lookback in OpenCL C; the larger size has three levels.
lookback_cl="scan --variants lookback --types i32 --patterns skewed --sizes 4097,1200001"
mutant lookback.cl many "scan --variants lookback --types i32 --patterns mixed --sizes 2400001" "levels are combined from the wrong side" \
    'node = JOIN(op, node, lookback->before[k])' 'node = JOIN(op, lookback->before[k], node)'
mutant lookback.cl many "$lookback_cl" "a sibling too few" 'level < LEVELS && lane + 1 == digit' 'level < LEVELS && lane + 2 == digit'
mutant lookback.cl many "$lookback_cl" "a node is published without its last tile" \
    'TOTAL value = shuffle_total(p, last, lookback->meet)' 'TOTAL value = shuffle_total(p, last - 1, lookback->meet)'
mutant pack.cl many "scan --variants lookback --types u8 --patterns random --sizes 4097" "the bytes of a word are exchanged" \
    '(B)(word >> (8 * SIZE * (j % PER_WORD)))' '(B)(word >> (8 * SIZE * ((j ^ 1) % PER_WORD)))'

# A NaN keeps the bits that the device gives it.
tiled_nans="scan --variants reduce_then_scan --types f32 --patterns special --sizes 4097"
mutant scan_tile.cl many "$tiled_nans" "a NaN is not canonical" \
    'item[j] = canonical(apply(op, left, exclusive ? earlier : own));' 'item[j] = apply(op, left, exclusive ? earlier : own);'
mutant scan_wide.cl one "${tiled_nans/reduce_then_scan/partitioned}" "a NaN is not canonical" \
    'out[k] = canonical(piece[k]);' 'out[k] = piece[k];'
mutant scan_tile.cu any "$tiled_nans" "a NaN is not canonical" \
    'item[j] = canonical(apply(op, left, through[j]));' 'item[j] = apply(op, left, through[j]);'
mutant scan_tile.cu any "scan --variants lookback --types i64 --patterns mixed --sizes 4097" "the last elements of an expression's tile are not computed" \
    'k < TILES * rounds; ++k) {
            Pack<T, pack> items;' 'k + 1 < TILES * rounds; ++k) {
            Pack<T, pack> items;'
