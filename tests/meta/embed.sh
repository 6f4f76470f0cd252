#!/usr/bin/env bash
# embed.sh CMAKE SOURCE_DIR: tests cmake/embed.cmake. Each file that a kernel source includes precedes it once. Lines
# keep their numbers. Macros are not kernels. An error names both files of a missing, a cyclic and a wrong include.
set -u
cmake=$1 script=$2/cmake/embed.cmake
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
mkdir common

failed=0
fail() {
    echo "FAILED: $*" >&2
    failed=1
}
embed() {
    "$cmake" -DFILES="$work/own.cl;$work/part.cl;$work/both.kernel" \
        -DSHARED="$work/common/base.cl;$work/common/tile.cl;$work/common/base.cu;$work/common/words.kernel" \
        -DOUTPUT="$work/out.cpp" -P "$script" >log 2>&1
}
# Text that the output or the log must contain.
has() { [[ $(tr -s ' \n' ' ' <"$1") == *"$2"* ]] || fail "$1 has no '$2': $(<"$1")"; }

printf '// base\n' >common/base.cl
printf '#include "base.cl"\nint tile;\n' >common/tile.cl
printf '// head\n#include "base.cl"\n#define PART \\\n    __kernel void\n' >part.cl
printf '// head\n#include "tile.cl"\n#include "part.cl"\n#include "base.cl"\n__kernel void own() {}\n' >own.cl
printf '// base\n' >common/base.cu
printf '#include "base"\nint words;\n' >common/words.kernel
printf '// head\n#include "words"\nKERNEL both() {}\n' >both.kernel
embed || fail "embed.cmake: $(<log)"
has out.cpp 'cl[] = {&base_cl, &tile_cl, &part_cl, &own_cl, nullptr}; static const EmbeddedLanguage languages[] = {{"cl", cl}, {}};'
has out.cpp 'cu[] = {&base_cu, &words_kernel, &both_kernel, nullptr};'
has out.cpp 'cl[] = {&base_cl, &words_kernel, &both_kernel, nullptr}; static const EmbeddedLanguage languages[] = {{"cu", cu}, {"cl", cl}, {}};'
[[ $(<out.cpp) == *$'// head\n\n\n\n__kernel void own() {}'* ]] || fail "lines moved: $(<out.cpp)"
[[ $(<out.cpp) != *part\(\)* ]] || fail "part.cl has no kernel, but a KernelSource"

printf '#include "tyle.cl"\n' >part.cl
embed && fail "a missing include is not an error"
has log "part.cl includes 'tyle.cl'; no such kernel source in"

printf '#include "part"\nKERNEL both() {}\n' >both.kernel
printf '\n' >part.cl
embed && fail "an include that exists in one of two languages is not an error"
has log "both.kernel includes 'part'; no such kernel source in"
printf '#include "base.cl"\nKERNEL both() {}\n' >both.kernel
embed && fail "a file of one language in a source of all languages is not an error"
has log "both.kernel is a source in all languages and includes 'base.cl'; include 'base'"
printf '\n' >both.kernel

printf '#include "own.cl"\n' >part.cl
embed && fail "a cyclic include is not an error"
has log "part.cl includes 'own.cl', which includes part.cl: cyclic includes (own.cl, part.cl)"

for line in '  #include "base.cl"' '# include "base.cl"' '#include <base.cl>'; do
    printf '%s\n' "$line" >part.cl
    embed && fail "'$line' is not an error"
    has log "is not a line '#include"
done

((failed)) || echo "passed"
exit $failed
