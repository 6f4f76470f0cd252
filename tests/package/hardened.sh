#!/usr/bin/env bash
# hardened.sh FOLDER: fails unless the ELF files in a folder are hardened, and names what each one lacks. Files of
# others, in folders NAME.libs and opencl and NVRTC's, are built by their distributors: they need a stack that is not
# executable, no writable code, and safe search paths. Ends with 1 if there is no file of Concord.
set -uo pipefail
export LC_ALL=C
status=0 own=0 checked=0
lacks() { echo "$file: $*"; status=1; }
has() { grep -qE "$1" <<<"$2"; }  # PATTERN TEXT

while IFS= read -r file; do
    [[ $(head -c 4 "$file" | tr -d '\177') == ELF ]] || continue
    headers=$(readelf -hlW "$file") dynamic=$(readelf -dW "$file")
    has 'GNU_STACK .* RW ' "$headers" || lacks "an executable stack"
    ! has 'LOAD .* RWE ' "$headers" || lacks "memory that is writable and executable"
    while IFS= read -r path; do
        [[ $path != "\$ORIGIN"* ]] || continue
        [[ $path == /* && -z $(find "$path" -maxdepth 0 -perm /022 2>/dev/null) ]] || lacks "searches libraries in '$path'"
    done < <(sed -n 's/.*R[UN]*PATH.*\[\(.*\)\]/\1/p' <<<"$dynamic" | tr : '\n')
    [[ $file != *.libs/* && $file != */opencl/* && $file != */libnvrtc* ]] || continue
    own=$((own + 1))
    has 'Type: +DYN' "$headers" || lacks "a fixed address"
    has 'GNU_RELRO' "$headers" || lacks "no read-only relocations"
    has 'BIND_NOW|Flags:.* NOW' "$dynamic" || lacks "symbols that are resolved at their first use"
    ! has 'TEXTREL' "$dynamic" || lacks "relocations of code"
    symbols=$(readelf --dyn-syms -W "$file")
    has ' __stack_chk_fail' "$symbols" || lacks "no stack protector"
    ! has ' __(mem|str|v?s|v?f|v?a)[a-z]+_chk@' "$symbols" || checked=$((checked + 1))
    # Every function that may be called indirectly begins with endbr64.
    ! has 'X86-64' "$headers" || [[ $(grep -aoP '\xf3\x0f\x1e\xfa' "$file" | wc -l) -gt 20 ]] || lacks "no CET"
done < <(find "$1" -type f)
[[ $own -gt 0 ]] || { echo "no ELF file of Concord in $1"; status=1; }
[[ $checked -gt 0 ]] || { echo "no checked function of the C library (_FORTIFY_SOURCE) in $1"; status=1; }
exit $status
