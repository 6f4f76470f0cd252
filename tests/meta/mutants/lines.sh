# Mutants of scan and sort over an axis, for mutation.sh.
# shellcheck shell=bash disable=SC2016

scan_lines="scan --variants lines --types i32 --patterns random --sizes 9001"

mutant scan_lines.kernel many "$scan_lines" "the last element of a staged line is not stored" \
    'if (i < count && first + l < s.lines)
                    out[' 'if (i + 1 < count && first + l < s.lines)
                    out['
mutant scan_lines.kernel many "$scan_lines" "exclusive scans of staged lines are inclusive" \
    'tile[x * PITCH + y * FAN + j] = canonical(exclusive ? result : through);' \
    'tile[x * PITCH + y * FAN + j] = canonical(through);'
mutant scan_lines.kernel any "$scan_lines" "exclusive scans of other lines are inclusive" \
    '* s.step[1]] = canonical(exclusive ? result : through);' '* s.step[1]] = canonical(through);'
mutant scan_lines.kernel many "$scan_lines" "a block takes the total of the first block alone" \
    'totals[j * SIDE + x] = apply(op, carry, across[j - 1]);' 'totals[j * SIDE + x] = apply(op, carry, across[0]);'
mutant scan_lines.kernel any "$scan_lines" "the next step has the carry of the one before" \
    'tree->next = apply(op, tree->carry[level], through);' 'tree->next = through;'
mutant scan_lines.kernel any "${scan_lines/9001/300007}" "all chunks begin with the carry of the first" \
    'carries[line * chunks + c] : identity' 'carries[line * chunks] : identity'
mutant scan_lines.kernel many "${scan_lines/9001/300007}" "the tree above the steps has another association" \
    'through = apply(op, tree->saved[level][k], through);' 'through = apply(op, tree->saved[level][0], through);'
mutant nd_lines.kernel any "$scan_lines" "kept axes but the first are left out" \
    '(i64)(line - whole * s->extent[axis])' '(i64)0'
mutant nd_lines.kernel any "$scan_lines" "lines of all operands begin in the first one" \
    'i64 at = (i64)s->at[operand];' 'i64 at = (i64)s->at[0];'

sort_lines="sort --variants lines --types u32 --patterns few --sizes 9001"
sort_long=${sort_lines/9001/60001}

mutant sort_lines.kernel many "$sort_lines" "the last element of a tile is not sorted" \
    '? min(count - within, (u32)ITEMS) : 0;' '? min(count - within, (u32)ITEMS) - (within + ITEMS >= count) : 0;'
mutant sort_lines.kernel many "$sort_lines" "the values of another line" \
    'tile.origin[l * slot + i] - l * slot' 'tile.origin[l * slot + i] - (l > 0 ? l - 1 : l) * slot'
mutant sort_lines_merge.kernel many "$sort_long" "values of the second run are those of the first" \
    'from_values[b + (at - a_count)]' 'from_values[a + (at - a_count)]'
mutant sort_lines_merge.kernel many "$sort_long" "all lines are split as the first one" \
    'splits + line * tiles + t' 'splits + t'
mutant sort_lines_merge.kernel many "$sort_long" "lines are split where equal keys of the second run precede" \
    't * TILE - runs.a, op);' 't * TILE - runs.a - (t * TILE > runs.a), op);'
mutant sort_lines_wide.cl one "$sort_lines" "of equal keys those of the later run come first" \
    'comes_before(op, keys[now + j], keys[now + i])' '!comes_before(op, keys[now + i], keys[now + j])'
mutant sort_lines_wide.cl one "$sort_lines" "places stay when their keys move" 'places[j] = i;' 'places[i] = i;'
mutant sort_lines_wide.cl one "$sort_lines" "the last key is not stored" \
    'flags & KEYS && i < n; ++i' 'flags & KEYS && i + 1 < n; ++i'
