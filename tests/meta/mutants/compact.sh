# Mutants of compact, for mutation.sh.
# shellcheck shell=bash disable=SC2016

fused="compact --variants fused --types u32 --patterns random --sizes 1009,9001"
lookback="${fused/fused/lookback}"
scatter="compact --variants scan_scatter --types u32 --patterns random --sizes 1009"

mutant compact.kernel many "$fused" "an element past the end is kept" 'if (i >= first && i < last) {' 'if (i >= first && i <= last) {'
mutant group_scan.cl many "$fused" "the last step of the scan is left out" 'distance < GROUP; distance *= 2' 'distance < GROUP / 2; distance *= 2'
mutant compact.kernel many "$fused" "rows do not count the ones before" 'ranks.of_row[r] = ranks.total + ' 'ranks.of_row[r] = '
mutant compact.kernel many "$fused" "no barrier: elements leave before they are gathered" '    local_barrier();
    GLOBAL B* base' '    GLOBAL B* base'
mutant compact.kernel many "$fused" "one element more is stored than is kept" \
    'if (i >= shift && i < shift + count) base[i]' 'if (i >= shift && i <= shift + count) base[i]'
mutant compact.kernel many "$fused" "chunks begin behind themselves" '        counts[c] = before;
        before += kept;' '        before += kept;
        counts[c] = before;'
mutant compact.kernel many "$fused" "the count is one short" '*count = all;' '*count = all - 1;'
mutant compact.kernel many "$fused" "of a partition, the others count the kept ones before them" \
    'out + *count + (from - first - before), (u32)' 'out + *count + (from - first), (u32)'
mutant compact.kernel many "$fused" "of a partition, the others are turned about" \
    'staged[shift + place - rank]' 'staged[shift + (count - 1) - (place - rank)]'
mutant compact_wide.cl one "$fused" "the rest of a chunk is not counted" 'for (; i < end; ++i) kept +=' 'for (; i + 1 < end; ++i) kept +='
mutant compact_wide.cl one "$fused" "what is not kept leaves as well" 'i < g->count; ++i' 'i <= g->count; ++i'
mutant compact_wide.cl one "$fused" "the first line leaves whole" 'if (g->first != 0 && whole != 0) {' 'if (g->first != 0 && whole == 0) {'
mutant compact_wide.cl one "${fused/1009,9001/1000003}" "all chunks begin at the beginning" \
    'gather_from(&kept, out + before)' 'gather_from(&kept, out)'
mutant compact_steps.kernel any "$scatter" "elements are stored one late" 'out[position] =' 'out[position + 1] ='
mutant compact_steps.kernel any "$scatter" "the last element is not flagged" 'if (i < n) flags' 'if (i + 1 < n) flags'
mutant compact_steps.kernel any "$scatter" "the count is that before the last element" \
    'kept = positions[n],' 'kept = positions[n - 1],'
mutant compact_lookback.cl many "$lookback" "all tiles are stored at the beginning" 'out + out_at + before[0] + before_team' 'out + out_at + before_team'
mutant compact_lookback.cl many "$lookback" "teams do not count the ones before" 'if (t < team) before_team += kept_by[t];' ''
mutant compact_lookback.cl many "$lookback" "an element past the end is kept" \
    'if (i >= first && i < last) kept |=' 'if (i >= first && i <= last) kept |='
mutant compact_lookback.cl many "$lookback" "one element more is stored than is kept" \
    'if (i >= shift && i < shift + count) base[i]' 'if (i >= shift && i <= shift + count) base[i]'
mutant compact_lookback.cl many "$lookback" "the first tile tells the count" 'turn.ticket == tiles - 1' 'turn.ticket == 0'
mutant lookback.cl many "${lookback/1009,9001/1000003}" "a carry lacks the tile before it" \
    'if (level == 0 && lane + 1 >= digit' 'if (level == 0 && lane >= digit'

# Inputs that are expressions, also with flags: those of i32.
computed="${fused/u32/i32}" computed_lookback="${lookback/u32/i32}"
mutant compact.kernel many "$computed" "of an expression, an element past the end is counted" \
    'if (i < last) {
                    tile.row[r].item[j] = item_at' 'if (i <= last) {
                    tile.row[r].item[j] = item_at'
mutant compact.kernel many "$computed" "of an expression, packs are reversed" \
    'tile.row[r].item[j] = pack.item[j];' 'tile.row[r].item[j] = pack.item[PACK - 1 - j];'
mutant compact.kernel many "$computed" "of an expression, a pack takes the flags of the first one" \
    'KEPT_BITS(items, begin + place_of(r), op' 'KEPT_BITS(items, begin, op'
mutant input.kernel many "$computed" "a pack has its first element only" \
    'streams[first + j].LEAF = access.item[j];' 'streams[first + j].LEAF = access.item[0];'
mutant input.kernel many "unique --types u32 --sizes 5001" "elements of a range that is not aligned come one late" \
    'streams[j].LEAF = in.leaves.LEAF[at + j];' 'streams[j].LEAF = in.leaves.LEAF[at + (j + 1) % (COUNT)];'
mutant input.kernel many "$computed" "all flags of a pack are the first one" '&streams[j], at + j, 0,' '&streams[0], at + j, 0,'
mutant compact_input.kernel many "$computed" "elements of an expression come one late" \
    'element.value = load_item(in, i);' 'element.value = load_item(in, i + 1);'
mutant compact_input.kernel one "$computed" "flags come one late" 'concord_selected(&(ITEMS).leaves, I)' 'concord_selected(&(ITEMS).leaves, (I) + 1)'
mutant compact_lookback.cl many "$computed_lookback" "of an expression, the last elements of a part are not computed" \
    'r < ROWS; ++r)
            *(__local BitsPack*)' 'r + 1 < ROWS; ++r)
            *(__local BitsPack*)'

mutant group_scan.cu any "$fused" "warps do not count the ones before" 'if (w < warp) before += other;' ''
mutant compact_lookback.cu any "$lookback" "all tiles are stored at the beginning" 'out + before + before_warp' 'out + before_warp'
mutant group_scan.cu any "$lookback" "warps do not count the ones before" 'if (w < warp) before += other;' ''
mutant compact_lookback.cu any "$lookback" "an element past the end is kept" \
    'if (i >= first && i < last) flags[r] |=' 'if (i >= first && i <= last) flags[r] |='
mutant compact_lookback.cu any "$lookback" "a row is read after the one ahead of it is written" \
    '        if (r + 1 < ROWS) next' '        if (false) next' \
    '        start += ranks.all.of(r);' '        start += ranks.all.of(r);
        __syncwarp();
        if (r + 1 < ROWS) next = *reinterpret_cast<const Pack<B, PACK>*>(own + (r + 1) * row_length);'
mutant tile.cu any "$lookback" "one element more is stored than is kept" \
    'if (i >= shift && i < shift + count) base[i]' 'if (i >= shift && i <= shift + count) base[i]'
mutant compact_lookback.cu any "$lookback" "the first tile tells the count" 'turn.ticket == tiles - 1' 'turn.ticket == 0'
mutant compact_lookback.cu any "$computed_lookback" "of an expression, the last elements of a part are not computed" \
    'r < ROWS; ++r)
            *reinterpret_cast<BitsPack*>' 'r + 1 < ROWS; ++r)
            *reinterpret_cast<BitsPack*>'
