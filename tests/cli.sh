#!/usr/bin/env bash
# cli.sh BIN_DIR MODULES_DIR: the command line contract of BIN_DIR/concord. MODULES_DIR holds modules that cannot be used.
# A check that fails says what was expected and what came; a check whose device is not here is left out and counted as that.
set -u
export LC_ALL=C

bin=$(cd -- "$1" && pwd -P) || exit 2
modules=$(cd -- "$2" && pwd -P) || exit 2
concord=$bin/concord
[[ -x $concord ]] || { echo "cli.sh: there is no $concord" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
unset CONCORD_DEVICE CONCORD_BACKEND_PATH CONCORD_CACHE CONCORD_LOG CONCORD_THREADS CONCORD_HOST_ISA CONCORD_KERNELS NO_COLOR POCL_CACHE_DIR
export XDG_CACHE_HOME=$work/cache

passed=0
failed=0
declare -A left_out=()
without=    # why the checks that follow are left out; empty: they are done
escapes=    # the commands whose output held escape codes

verdict() {  # NAME PROBLEM: passed if there is no problem
    if [[ $without ]]; then
        left_out[$without]=$((${left_out[$without]:-0} + 1))
    elif [[ -z $2 ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED  $1: $2"
    fi
}

# Runs the program: $status, $out, $err.
run() {
    "$concord" "$@" >stdout 2>stderr </dev/null
    status=$?
    out=$(tr -d '\0' <stdout) err=$(tr -d '\0' <stderr)
    [[ $out$err != *$'\e'* ]] || escapes+=" [$*]"
}
came() { echo "status $status, stderr '$(head -c 400 stderr | tr '\n' '|')'"; }
came_out() { echo "stdout '$(head -c 400 stdout | tr '\n' '|')'"; }

# ends STATUS WORDS ARGUMENTS...: the status, and WORDS on stderr of a run that fails, on stdout of one that does not.
ends() {
    local wanted=$1 words=$2 problem=
    shift 2
    if [[ -z $without ]]; then
        run "$@"
        if [[ $status != "$wanted" ]]; then
            problem="expected status $wanted, came $(came)"
        elif [[ $wanted -ge 2 ]]; then
            problem=$(bad_complaint "$words")
        elif [[ $out != *"$words"* ]]; then
            problem="expected '$words' on stdout, came $(came_out)"
        fi
    fi
    verdict "concord $*" "$problem"
}
# One line that says what was wrong, nothing on stdout.
bad_complaint() {  # WORDS
    if [[ $err != *"$1"* ]]; then
        echo "expected '$1' on stderr, came $(came)"
    elif [[ $err != "concord: "* || $err == *$'\n'* ]]; then
        echo "expected one line on stderr, came $(came)"
    elif [[ $out ]]; then
        echo "expected nothing on stdout, came $(came_out)"
    fi
}

# refused STATUS WORDS run ARGUMENTS...: as `ends`; with --out box/new.npy nothing appears, with --out box/kept.npy the
# old content stays, and in both cases nothing else is left behind.
refused() {
    local problem=
    if [[ -z $without ]]; then
        fresh_box
        run "${@:3}"
        if [[ $status != "$1" ]]; then
            problem="expected status $1, came $(came)"
        else
            problem=$(bad_complaint "$2")
        fi
        [[ $problem ]] || problem=$(bad_box)
    fi
    verdict "concord ${*:3}" "$problem"
}
fresh_box() {
    rm -rf box
    mkdir box
    echo old >box/kept.npy
}
bad_box() {
    local there
    there=$(ls -A box)
    if [[ $there != kept.npy ]]; then
        echo "expected nothing new beside the output, came '${there//$'\n'/ }'"
    elif [[ $(cat box/kept.npy) != old ]]; then
        echo "expected the old content of kept.npy, which is gone"
    fi
}

# gives FILE run ARGUMENTS...: --out is added; every byte of what it writes is that of FILE. A device may refuse
# arithmetic that it lacks (f64, exact square roots), if it says so.
gives() {
    local problem="" lacks=""
    if [[ -z $without ]]; then
        fresh_box
        run "${@:2}" --out box/new.npy
        if [[ $status == 2 && $* != *"--device tbb"* ]]; then
            case $err in
                *"has no f64 arithmetic"*) lacks="$device has no f64 arithmetic" ;;
                *"no correctly rounded square root"*) lacks="$device has no correctly rounded square root" ;;
            esac
        fi
        if [[ $status != 0 ]]; then
            problem="expected status 0, came $(came)"
        elif [[ $err == *concord* ]]; then  # drivers do as they like
            problem="expected nothing on stderr, came $(came)"
        else
            problem=$(bad_bytes "$1" box/new.npy)
        fi
    fi
    if [[ $lacks ]]; then
        without=$lacks
        verdict "" ""
        without=
    else
        verdict "concord ${*:2}" "$problem"
    fi
}
bad_bytes() {  # FILE FILE
    cmp -s "$1" "$2" || echo "expected $1, the bytes $(ends_of "$1"); came $(ends_of "$2")"
}
ends_of() { od -An -v -tx1 "$1" 2>&1 | tail -n 3 | tr -s ' \n' ' '; }

# Whether a file holds one JSON object, written with indents, and nothing else.
bad_object() {  # FILE
    if [[ $(head -n 1 "$1") != "{" || $(tail -n 1 "$1") != "}" || $(grep -c '^[^ ]' "$1") != 2 ]]; then
        echo "expected one JSON object in $1, came '$(head -c 200 "$1" | tr '\n' '|')'"
    fi
}
bad_keys() {  # FILE KEYS...
    local key flat
    flat=$(tr -d ' \n' <"$1")
    for key in "${@:2}"; do
        [[ $flat == *"\"$key\":"* ]] || echo "expected the key '$key' in $1"
    done
}

# .npy files: values are integers, or "-0 inf -inf" and raw bits "0x..." for floats.
declare -A descr=([i8]='|i1' [i16]='<i2' [i32]='<i4' [i64]='<i8' [u8]='|u1' [u16]='<u2' [u32]='<u4' [u64]='<u8'
    [f32]='<f4' [f64]='<f8')
types="i8 i16 i32 i64 u8 u16 u32 u64 f32 f64"

# The bits of a value, in $bits.
encode() {  # TYPE VALUE
    local mantissa=23 bias=127 sign=0 value=$2 exponent=0
    if [[ $1 != f* || $value == 0x* ]]; then
        bits=$((value))
        return
    fi
    [[ $1 == f32 ]] || mantissa=52 bias=1023
    if [[ $value == -* ]]; then
        sign=1
        value=${value#-}
    fi
    if [[ $value == inf ]]; then
        bits=$(((2 * bias + 1) << mantissa))
    elif [[ $value == 0 ]]; then
        bits=0
    else
        while ((value >> (exponent + 1))); do exponent=$((exponent + 1)); done
        bits=$((((exponent + bias) << mantissa) | ((value - (1 << exponent)) << (mantissa - exponent))))
    fi
    ((sign == 0)) || bits=$((bits | 1 << (${1#f} - 1)))
}

# The bytes of values, as escapes for printf, in $bytes.
pack() {  # TYPE VALUES...
    local type=$1 width=$((${1:1} / 8)) value i byte
    shift
    bytes=
    for value in "$@"; do
        encode "$type" "$value"
        for ((i = 0; i < width; i++)); do
            printf -v byte '\\x%02x' $(((bits >> (8 * i)) & 255))
            bytes+=$byte
        done
    done
}

# The head of a file, padded as NumPy pads it.
head_of() {  # MAJOR DICT
    local dict=$2 before=10 length i
    [[ $1 == 1 ]] || before=12
    local pad=$(((64 - (before + ${#dict} + 1) % 64) % 64))
    length=$((${#dict} + pad + 1))
    printf '\x93NUMPY'
    printf '%b' "\\x0$1\\x00"
    for ((i = 8; i < before; i++)); do
        printf '%b' "$(printf '\\x%02x' $(((length >> (8 * (i - 8))) & 255)))"
    done
    printf '%s%*s\n' "$dict" "$pad" ''
}
dict() { echo "{'descr': $1, 'fortran_order': $2, 'shape': $3, }"; }  # DESCR ORDER SHAPE

npy() {  # FILE TYPE SHAPE VALUES...; the shape '-' is that of a plain list
    local shape=$3
    [[ $shape != - ]] || shape="($(($# - 3)),)"
    pack "$2" "${@:4}"
    {
        head_of 1 "$(dict "'${descr[$2]}'" False "$shape")"
        printf '%b' "$bytes"
    } >"$1"
}
raw_npy() {  # FILE MAJOR DESCR ORDER SHAPE, then 12 bytes of data
    head_of "$2" "$(dict "$3" "$4" "$5")" >"$1"
    printf '\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00' >>"$1"
}

# The devices: the first one of every backend that has any.
run devices --json
selectors=$(sed -n 's/^ *"selector": "\(.*\)".*/\1/p' stdout)
has() { grep -q "^$1:" <<<"$selectors"; }
use() {  # BACKEND
    device=$1 without=
    has "$1" || without="no $1 device"
}

## Help, and what is no command, option or value.
visited=
visit() {  # COMMAND WORDS...
    local name problem=
    run "$@" --help
    visited+=" [$*]"
    if [[ $status != 0 || $err ]]; then
        problem="expected status 0 and nothing on stderr, came $(came)"
    elif [[ $out != *$'Example:\n  concord '* ]]; then
        problem="expected an example, came $(came_out)"
    fi
    verdict "concord $* --help" "$problem"
    while read -r name; do visit "$@" "$name"; done < <(sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' <<<"$out")
}
visit
for level in devices doctor algorithms run "run map" "run add" "run reduce" "run scan" "run histogram" "run compact" "run sort" "run transpose" "run convolve" "run stencil" "run matmul" check bench tune cache "cache ls" "cache verify" \
    "cache clear"; do
    problem=
    [[ $visited == *"[$level]"* ]] || problem="expected it among the commands that --help lists, which are$visited"
    verdict "concord $level" "$problem"
done

npy three.npy f32 - 1 4 9
npy bytes.npy u8 - 1 2 3
ends 0 "concord " --version
ends 2 "subcommand is required"
ends 2 "subcommand is required" run
ends 2 "frob" frob
ends 2 "--frob" --frob
ends 2 "map, add, reduce, scan, histogram, compact, sort, transpose, convolve, stencil, matmul" run frob --in three.npy --out box/new.npy
ends 2 "ls, verify, clear" cache frob
ends 2 "'frob'" algorithms frob
ends 2 "'frob'" check frob
ends 2 "'frob'" bench frob
ends 2 "'frob'" check --variants frob
ends 2 "'frob'" check --types frob
ends 2 "'2^99'" check --sizes '2^99'
ends 2 "'-5'" bench --sizes -5
ends 2 "which study?" study
ends 2 "there is no study 'frob'" study frob --out box
ends 2 "--out" study reduce-steps
ends 0 "reduce-steps" study --list
ends 2 "frob" devices --log-level frob
ends 2 "--threads" devices --threads 0
for command in devices doctor algorithms check bench tune "cache ls" "run map" "run reduce" "run scan" "run histogram" "run compact" "run sort" "run transpose" "run convolve" "run stencil" "run matmul"; do
    # shellcheck disable=SC2086  # a command is one word or two
    ends 2 "--frob" $command --frob
done
refused 2 "--in" run map --out box/new.npy
refused 2 "--out" run map --in three.npy
refused 2 "median" run reduce --op median --in three.npy --out box/new.npy
for rule in median greater less greater: less:x greater:1x less:256 greater:-1 greater:1.5 odd:1 even: ''; do
    refused 2 "'$rule'" run compact --keep "$rule" --in bytes.npy --out box/new.npy
done
for rule in even odd greater:1e99 less:1e-99 greater:1,5; do
    refused 2 "'$rule'" run compact --keep "$rule" --in three.npy --out box/kept.npy
done
npy matrix.npy u8 "(1, 3)" 1 2 3
npy lone.npy u8 "()" 1
for file in matrix lone; do
    refused 2 "compact takes one dimension" run compact --keep odd --in $file.npy --out box/new.npy
    refused 2 "sort takes one dimension" run sort --in $file.npy --out box/new.npy
    refused 2 "sort takes one dimension" run sort --in three.npy --values $file.npy --out box/new.npy --out-values box/kept.npy
done
npy pair.npy u8 - 1 2
refused 2 "three.npy has 3 keys, pair.npy 2 values" run sort --in three.npy --values pair.npy --out box/new.npy --out-values box/kept.npy
refused 2 "--values requires --out-values" run sort --in three.npy --values bytes.npy --out box/new.npy
refused 2 "--out-values requires --values" run sort --in three.npy --out-values box/new.npy --out box/kept.npy
refused 2 "'box/new.npy' is both outputs' file" run sort --in three.npy --values bytes.npy --out box/new.npy --out-values box/new.npy
refused 2 "'box/new.npy' is what --out names" run sort --in three.npy --out box/new.npy --trace box/new.npy
refused 2 "'three.npy' is what --in names" run sort --in ./three.npy --out box/new.npy --trace three.npy
refused 2 "'box/../box/new.npy' is what --json names" bench map --sizes 10 --json box/new.npy --csv box/../box/new.npy
refused 2 "'box/new.npy' is what --json names" check map --sizes 10 --json box/new.npy --junit box/new.npy
refused 2 "'box/new.npy' is what --out names" tune map --device tbb --out box/new.npy --json box/new.npy
refused 2 "2 given" run sort --in three.npy --in bytes.npy --out box/new.npy
npy nested.npy u8 "(1, 3, 1)" 1 2 3
for file in bytes lone nested; do
    refused 2 "not two dimensions" run transpose --in $file.npy --out box/new.npy
done
npy image.npy f32 "(2, 3)" 1 2 4 8 16 32
npy mask.npy f32 "(3, 1)" 1 10 100
npy even.npy f32 "(2, 3)" 1 2 3 4 5 6
npy mask.f64.npy f64 "(3, 1)" 1 10 100
npy image.i32.npy i32 "(2, 2)" 1 2 3 4
filter() { refused 2 "$1" run convolve --in "$2" --in "$3" --out box/new.npy "${@:4}"; }  # WORDS IMAGE MASK OPTIONS...
filter "three.npy has the shape (3,), not two dimensions" three.npy mask.npy
filter "three.npy has the shape (3,), not two dimensions" image.npy three.npy
filter "even.npy has the shape (2, 3); a mask's sides are odd numbers up to 31" image.npy even.npy
filter "mask.f64.npy is f64; a mask for an image of f32 is f32" image.npy mask.f64.npy
filter "image.i32.npy is i32; images are u8, f32 or f64" image.i32.npy mask.npy
filter "mirror" image.npy mask.npy --border mirror
refused 2 "1 given" run convolve --in image.npy --out box/kept.npy
npy volume.npy f32 "(1, 2, 2)" 1 2 3 4
npy star.npy f32 - 1 2
npy one_of_a_star.npy f32 - 1
star() { refused 2 "$1" run stencil --in "$2" --in "$3" --out box/new.npy "${@:4}"; }  # WORDS VOLUME COEFFICIENTS OPTIONS...
refused 2 "takes 2 inputs, 1 given" run stencil --in volume.npy --out box/new.npy
star "three.npy has the shape (3,), not three dimensions" three.npy star.npy
star "volume.npy has the shape (1, 2, 2), coefficients take one dimension" volume.npy volume.npy
star "nested.npy is u8, star.npy f32" nested.npy star.npy
star "nested.npy is u8; f32 and f64" nested.npy bytes.npy
star "has 1 coefficients: a star of radius 1 to 8 has 2 to 9" volume.npy one_of_a_star.npy
star "'-1' is no number of steps" volume.npy star.npy --steps -1
star "'2.5' is no number of steps" volume.npy star.npy --steps 2.5
npy star.f64.npy f64 - 1 2
generate() { refused 2 "$1" run stencil --in star.npy --out box/new.npy "${@:2}"; }  # WORDS OPTIONS...
for kind in frob '' Random; do
    generate "--generate: '$kind' is no kind of volume; there are random, point" --generate "$kind" --shape 4x4x4
done
for shape in '' 4 4x4 4x4x4x4 4x4x x4x4 4xx4 4xax4 -1x4x4 4x4x4.5 0x4x4x4 '4x4x4 '; do
    generate "--shape: '$shape' is no shape of a volume; example: 400x480x480" --generate random --shape "$shape"
done
generate "'18446744073709551616x1x1' has a length that does not fit 64 bits" --generate point --shape 18446744073709551616x1x1
generate "'1048576x1048576x1048576' of f32 takes more than 2^60 bytes" --generate random --shape 1048576x1048576x1048576
generate "'4294967296x4294967296x2' of f64 takes more" --generate random --shape 4294967296x4294967296x2 --type f64
for type in f16 i32 F32 ''; do
    generate "--type: '$type' is no type of a volume; there are f32, f64" --generate random --shape 4x4x4 --type "$type"
done
for seed in -1 1.5 frob 18446744073709551616 ''; do
    generate "--seed: '$seed' is no seed: a whole number below 2^64" --generate random --shape 4x4x4 --seed "$seed"
done
generate "--generate requires --shape" --generate random
generate "--generate requires --shape" --generate random --seed 1
for option in "shape 4x4x4" "type f32" "seed 1"; do
    # shellcheck disable=SC2086  # an option and its value
    refused 2 "--${option% *} requires --generate" run stencil --in volume.npy --in star.npy --out box/new.npy --$option
done
refused 2 "stencil takes 1 input beside --generate random, 2 given" run stencil --generate random --shape 1x2x2 --in volume.npy --in star.npy --out box/new.npy
refused 2 "--in is required" run stencil --generate random --shape 1x2x2 --out box/new.npy
refused 2 "--generate random is f32, star.f64.npy f64" run stencil --generate random --shape 1x2x2 --in star.f64.npy --out box/new.npy
refused 2 "--generate point is f64, star.npy f32" run stencil --generate point --type f64 --shape 1x2x2 --in star.npy --out box/new.npy
refused 2 "takes 56 bytes" run stencil --generate random --shape 1x2x2 --in star.npy --out box/new.npy --memory-limit 55 --device tbb
refused 2 "'star.npy' is what --in names" run stencil --generate random --shape 1x2x2 --in star.npy --out box/new.npy --trace star.npy
refused 2 "cube" run map --function cube --in three.npy --out box/new.npy
refused 2 "--frob" run map --in three.npy --out box/new.npy --frob
refused 2 "2 given" run map --in three.npy --in three.npy --out box/new.npy
refused 2 "1 given" run add --in three.npy --out box/new.npy
bins() { refused 2 "$1" run histogram --in "$2" --out box/new.npy "${@:3}"; }  # WORDS FILE OPTIONS...
bins "--bins" bytes.npy --identity
bins "one of --range LO HI, --modulo and --identity" bytes.npy --bins 3
bins "'0' is no number of bins" bytes.npy --bins 0 --identity
bins "'-1' is no number of bins" bytes.npy --bins -1 --identity
bins "'3.5' is no number of bins" bytes.npy --bins 3.5 --identity
bins "'many' is no number of bins" bytes.npy --bins many --identity
bins "more than" bytes.npy --bins 9223372036854775808 --identity
bins "excludes" bytes.npy --bins 3 --identity --modulo
bins "excludes" bytes.npy --bins 3 --range 0 1 --modulo
bins "excludes" bytes.npy --bins 3 --range 0 1 --identity
bins "--range" bytes.npy --bins 3 --range 0
bins "u24" bytes.npy --bins 3 --identity --counter u24
bins "'lo' is no number" bytes.npy --bins 3 --range lo 1
bins "'1x' is no number" three.npy --bins 3 --range 0 1x
bins "from 1 to 1 is empty" three.npy --bins 3 --range 1 1
bins "from 5 to -1 is empty" bytes.npy --bins 3 --range 5 -1
bins "from 0 to inf" three.npy --bins 3 --range 0 inf
bins "from nan to 1" three.npy --bins 3 --range nan 1
bins "from -inf to 1" three.npy --bins 3 --range -inf 1
bins "1e+39" three.npy --bins 3 --range 0 1e39
bins "no whole number" bytes.npy --bins 3 --range 0 1.5
bins "--modulo: takes unsigned samples; three.npy is f32" three.npy --bins 3 --modulo
bins "--identity: takes integer samples; three.npy is f32" three.npy --bins 3 --identity

## Devices.
run devices --json
problem=$(bad_object stdout)$(bad_keys stdout auto devices selector backend name driver backends available reason)
[[ $status == 0 && -z $err ]] || problem+=" expected status 0 and nothing on stderr, came $(came)"
[[ $selectors == *tbb:0* ]] || problem+=" expected tbb:0 among the selectors, came $selectors"
verdict "concord devices --json" "$problem"
run devices --verbose --json
verdict "concord devices --verbose --json" "$(bad_object stdout)$(bad_keys stdout traits properties)"
for selector in $selectors; do ends 0 "$selector" devices; done
ends 0 "compiles text" devices --verbose
ends 0 "tbb:0" doctor
ends 0 "kernel cache: $XDG_CACHE_HOME/concord, writable" doctor

for selector in cuda:7 opencl:99 tbb:1 nosuch; do
    refused 3 "'$selector': " run map --in three.npy --out box/new.npy --device "$selector"
    ends 3 "'$selector': " check --devices "$selector"
    ends 3 "'$selector': " bench --devices "$selector"
done
refused 3 "there is no backend 'nosuch'" run map --in three.npy --out box/kept.npy --device nosuch
refused 3 "numbered from 0" run map --in three.npy --out box/new.npy --device tbb:1
refused 2 "'tbb:x' is no selector" run map --in three.npy --out box/new.npy --device tbb:x
export CONCORD_DEVICE=nosuch
refused 3 "'nosuch': " run map --in three.npy --out box/new.npy
device=tbb
gives three.npy run map --in three.npy --device tbb
export CONCORD_DEVICE=tbb
gives three.npy run map --in three.npy
run run map --in three.npy --out box/new.npy --json
verdict "CONCORD_DEVICE=tbb" "$([[ $out == *'"tbb:0"'* ]] || echo "expected tbb:0, came $(came) $(came_out)")"
unset CONCORD_DEVICE

## Modules that cannot be used, beside devices that can.
mkdir modules
cp "$modules"/concord-backend-*.so modules
echo "no shared object" >modules/concord-backend-broken.so
export CONCORD_BACKEND_PATH=$work/modules:/no/such/folder
ends 0 "old: not available: the module is for backend interface" doctor
problem=
for words in "rebuild one with the other" "entryless: not available: the module has no entry point" \
    "broken: not available: the module does not load" "tbb: available"; do
    [[ $out == *"$words"* ]] || problem+=" expected '$words', came $(came_out)"
done
verdict "concord doctor, modules" "$problem"
ends 0 "old is not available: the module is for backend interface" devices
refused 3 "rebuild one with the other" run map --in three.npy --out box/new.npy --device old
gives three.npy run map --in three.npy --device tbb
run run map --in three.npy --out box/new.npy --device tbb --json --log-level info
problem=$(bad_object stdout)
[[ $status == 0 && $err == *"backend interface"* ]] || problem+=" expected the log on stderr, came $(came)"
verdict "the log is on stderr" "$problem"
for setting in CONCORD_THREADS=abc CONCORD_THREADS=0 CONCORD_THREADS=9999 CONCORD_HOST_ISA=sse9 CONCORD_LOG=loud \
    CONCORD_CACHE=0; do
    export "${setting?}"
    refused 2 "${setting%=*}: '${setting#*=}'" run map --in three.npy --out box/new.npy
    unset "${setting%=*}"
done
CONCORD_LOG=info run run map --in three.npy --out box/new.npy --device tbb
verdict "CONCORD_LOG=info" "$([[ $err == *"backend interface"* ]] || echo "expected the log on stderr, came $(came)")"
unset CONCORD_BACKEND_PATH

## Files that are refused. A good one first: the others differ from it in one thing.
raw_npy good.npy 1 "'<i4'" False '(3,)'
npy good_expected.npy i32 - 1 2 3
gives good_expected.npy run map --in good.npy --device tbb
for major in 2 3; do
    raw_npy "format$major.npy" "$major" "'<i4'" False '(3,)'
    gives good_expected.npy run map --in "format$major.npy" --device tbb
done
bad_file() {  # FILE WORDS: refused by its name, into a new file and over an old one
    local words
    for words in "$1" "$2"; do
        refused 2 "$words" run map --in "$1" --out box/new.npy --device tbb
        refused 2 "$words" run reduce --in "$1" --out box/kept.npy --device tbb
    done
}
head -c 9 good.npy >magic_only.npy
head -c 60 good.npy >header.npy
head -c $(($(wc -c <good.npy) - 1)) good.npy >data.npy
sed 's/NUMPY/NUMPX/' good.npy >magic.npy
echo "one,two,three" >text.npy
: >empty_file.npy
raw_npy version.npy 4 "'<i4'" False '(3,)'
raw_npy fortran.npy 1 "'<i4'" True '(3,)'
raw_npy big.npy 1 "'>i4'" False '(3,)'
raw_npy bool.npy 1 "'|b1'" False '(12,)'
raw_npy object.npy 1 "'|O'" False '(1,)'
raw_npy complex.npy 1 "'<c8'" False '(1,)'
raw_npy half.npy 1 "'<f2'" False '(6,)'
raw_npy string.npy 1 "'<U3'" False '(1,)'
raw_npy struct.npy 1 "[('x', '<i4'), ('y', '<i4')]" False '(1,)'
raw_npy more.npy 1 "'<i4'" False '(4,)'
raw_npy huge.npy 1 "'<i4'" False '(4611686018427387904, 4)'
raw_npy shape.npy 1 "'<i4'" False '(3'
raw_npy negative.npy 1 "'<i4'" False '(-3,)'
bad_file magic_only.npy truncated
bad_file header.npy truncated
bad_file data.npy truncated
bad_file magic.npy "no .npy file"
bad_file text.npy "no .npy file"
bad_file empty_file.npy "no .npy file"
bad_file version.npy "format 4.0"
bad_file fortran.npy Fortran
bad_file big.npy big-endian
bad_file bool.npy bool
bad_file object.npy objects
bad_file complex.npy complex
bad_file half.npy "half precision"
bad_file string.npy text
bad_file struct.npy structures
bad_file more.npy "takes 16 bytes, the file has 12"
bad_file huge.npy "64 bits"
bad_file shape.npy "not a tuple of numbers"
bad_file negative.npy "not a tuple of numbers"
bad_file missing.npy "No such file"
bad_file "$work" "not a regular file"
mkfifo pipe.npy
bad_file pipe.npy "not a regular file"

npy two.npy f32 - 1 2
npy square.npy f32 "(3, 1)" 1 2 3
npy double.npy f64 - 1 2 3
refused 2 "two.npy is f32 (2,)" run add --in three.npy --in two.npy --out box/new.npy --device tbb
refused 2 "square.npy is f32 (3, 1)" run add --in three.npy --in square.npy --out box/kept.npy --device tbb
refused 2 "double.npy is f64 (3,)" run add --in three.npy --in double.npy --out box/new.npy --device tbb
refused 2 "data.npy" run add --in good.npy --in data.npy --out box/kept.npy --device tbb

{ cat good.npy && printf xy; } >trailing.npy
run run map --in trailing.npy --out box/new.npy --device tbb --json
problem=$(bad_object stdout)$(bad_bytes good_expected.npy box/new.npy)
[[ $status == 0 && $err == *"trailing.npy: 2 bytes"* ]] || problem+=" expected a warning on stderr, came $(came)"
verdict "bytes after the array" "$problem"
gives good_expected.npy run map --in trailing.npy --device tbb --log-level error

## Output files appear whole or not at all.
refused 2 "no/such/new.npy" run map --in three.npy --out no/such/new.npy --device tbb
refused 2 "three.npy is no folder" run map --in three.npy --out three.npy/new.npy --device tbb
refused 2 "it is a folder" run map --in three.npy --out box --device tbb
refused 2 "names no file" run map --in three.npy --out box/ --device tbb
refused 2 "cannot be written" run map --in three.npy --out '' --device tbb
refused 3 "nosuch" run map --in three.npy --out box/kept.npy --device nosuch
refused 2 "frob" run map --in three.npy --out box/kept.npy --device tbb --variant frob
[[ $EUID != 0 ]] || without="root can write everywhere"
mkdir closed
chmod 555 closed
refused 2 "closed/new.npy" run map --in three.npy --out closed/new.npy --device tbb
without=
[[ -c /dev/full ]] || without="no /dev/full"
refused 2 "/dev/full" run map --in three.npy --out /dev/full --device tbb
"$concord" devices >/dev/full 2>stderr
status=$?
verdict "standard output that is full" "$([[ $status == 2 ]] || echo "expected status 2, came $(came)")"
without=
{
    head_of 1 "$(dict "'|u1'" False '(200000,)')"
    head -c 200000 /dev/zero | tr '\0' '\1'
} >ones.npy
for name in kept new; do
    fresh_box
    # Writing fails halfway.
    (
        trap '' XFSZ
        ulimit -f 64
        exec "$concord" run map --in ones.npy --out "box/$name.npy" --device tbb >stdout 2>stderr
    )
    status=$?
    problem=$(bad_box)
    [[ $status == 2 && $(cat stderr) == *"box/$name.npy: cannot be written"* ]] ||
        problem+=" expected status 2 and the file's name, came $(came)"
    verdict "a disk that is full, $name.npy" "$problem"
done
cp three.npy itself.npy
npy squares.npy f32 - 1 16 81
run run map --function square --in itself.npy --out itself.npy --device tbb
verdict "an output that is the input" "$(bad_bytes squares.npy itself.npy)"
ln -s itself.npy link.npy
run run map --in three.npy --out link.npy --device tbb
problem=$(bad_bytes three.npy itself.npy)
[[ -L link.npy ]] || problem+=" expected that the link stays one"
verdict "an output that is a link" "$problem"

## Memory that is not there: 2 GiB in and out of 3.5 GiB, the file has holes.
head_of 1 "$(dict "'|u1'" False '(2147483648,)')" >large.npy
truncate -s $((2147483648 + $(wc -c <large.npy))) large.npy
small() { (ulimit -v 3670016 && CONCORD_THREADS=1 exec "$concord" "$@" >stdout 2>stderr); }
small run map --in three.npy --out new.npy --device tbb || without="the program does not start in 3.5 GiB"
fresh_box
small run sort --in large.npy --out box/kept.npy --device tbb
status=$?
problem=$(bad_box)
[[ $status == 4 && $(cat stderr) == *memory* ]] || problem+=" expected status 4 and 'memory', came $(came)"
verdict "memory that is not there" "$problem"
small run reduce --in large.npy --out new.npy --device tbb --log-level info
status=$?
problem=
[[ $status == 0 ]] || problem="expected that it is done by segments, came $(came)"
verdict "memory that is not there, and is not needed" "$problem"
rm -f large.npy
without=

npy left.npy f32 "(2, 3)" 1 2 3 4 5 6
npy right.npy f32 "(3, 2)" 1 0 2 1 0 3
npy right64.npy f64 "(3, 2)" 1 0 2 1 0 3
npy integers.npy i32 "(2, 2)" 1 2 3 4
npy left_by_right.npy f32 "(2, 2)" 5 11 14 23
npy no_columns.npy f32 "(2, 0)"
npy no_rows.npy f32 "(0, 2)"
npy zeros_2x2.npy f32 "(2, 2)" 0 0 0 0
use tbb
refused 2 "1 given" run matmul --in left.npy --out box/new.npy
refused 2 "not two dimensions" run matmul --in left.npy --in three.npy --out box/new.npy
refused 2 "the types differ: left.npy is f32 (2, 3), right64.npy is f64 (3, 2)" run matmul --in left.npy --in right64.npy --out box/new.npy
refused 2 "the shapes do not fit: left.npy is f32 (2, 3), left.npy is f32 (2, 3)" run matmul --in left.npy --in left.npy --out box/new.npy
refused 2 "integers.npy is i32, matmul takes f32 or f64" run matmul --in integers.npy --in integers.npy --out box/new.npy
for device in tbb opencl cuda; do
    use "$device"
    gives left_by_right.npy run matmul --in left.npy --in right.npy --device "$device"
    gives zeros_2x2.npy run matmul --in no_columns.npy --in no_rows.npy --device "$device"
    refused 2 "these would do: " run matmul --in left.npy --in right.npy --out box/new.npy --device "$device" --variant frob
done
use tbb

## Several devices.
for device in opencl cuda; do
    use "$device"
    npy nine.npy f32 "()" 9
    npy running.npy f32 - 2 5 9
    npy shared.npy f32 - 2 3 4
    gives nine.npy run reduce --in shared.npy --devices "tbb,$device"
    gives running.npy run scan --in shared.npy --devices "$device,tbb"
    refused 2 "sort is not done by segments, which several devices of one process would share" run sort --in three.npy --out box/new.npy --devices "tbb,$device"
    refused 2 "tbb:0 is named twice" run map --in three.npy --out box/kept.npy --devices "tbb,$device,tbb:0"
done
use tbb
gives three.npy run map --in three.npy --devices tbb
npy mixed.npy u8 - 3 1 2
npy ordered.npy u8 - 1 2 3
gives ordered.npy run sort --in mixed.npy --devices tbb
refused 2 "--device excludes --devices" run map --in three.npy --out box/new.npy --device tbb --devices tbb
refused 3 "'nosuch'" run map --in three.npy --out box/new.npy --devices tbb,nosuch

## Variants.
for device in tbb opencl cuda; do
    use "$device"
    refused 2 "these would do: vectorized, naive" run map --in three.npy --out box/new.npy --device "$device" --variant frob
    refused 2 "these would do: fixed" run reduce --in three.npy --out box/kept.npy --device "$device" --variant frob
    refused 2 "these would do: " run histogram --bins 3 --identity --in bytes.npy --out box/new.npy --device "$device" --variant frob
    refused 2 "these would do: " run compact --in bytes.npy --out box/new.npy --device "$device" --variant frob
    refused 2 "these would do: " run sort --in bytes.npy --out box/kept.npy --device "$device" --variant frob
    refused 2 "these would do: sliding" run convolve --in image.npy --in mask.npy --out box/kept.npy --device "$device" --variant frob
    refused 2 "these would do: " run transpose --in matrix.npy --out box/new.npy --device "$device" --variant frob
    refused 2 "these would do: " run stencil --in volume.npy --in star.npy --out box/new.npy --device "$device" --variant frob
    refused 2 "sqrt takes f32 or f64, not u8" run map --function sqrt --in bytes.npy --out box/kept.npy --device "$device"
    [[ $device == tbb ]] && continue
    refused 2 "serial is not written in" run reduce --in three.npy --out box/new.npy --device "$device" --variant serial
    refused 2 "these would do: fixed" run reduce --in three.npy --out box/new.npy --device "$device" --variant serial
done
use tbb
refused 2 "shuffle is not written in" run reduce --in three.npy --out box/new.npy --device tbb --variant shuffle
refused 2 "these would do: fixed" run reduce --in three.npy --out box/new.npy --device tbb --variant shuffle
[[ $("$concord" devices --json) == *'"name": "cuda"'* ]] || without="no cuda backend"
refused 2 "only compiles" run map --in three.npy --out box/new.npy --device cuda@sm_90
without=

## Results, to the byte.
# Extremes of a type, as the numbers of this shell.
limits() {  # TYPE
    local n=${1:1}
    case $1 in
        u*) low=0 high=$(((1 << (n - 1) << 1) - 1)) ;;
        *) low=$((-1 << (n - 1))) high=$(((1 << (n - 1)) - 1)) ;;
    esac
}
apply() {  # FUNCTION TYPE VALUES...: integers, in $result
    local f=$1 type=$2 x
    shift 2
    result=
    for x in "$@"; do
        case $f in
            copy) result+=" $x" ;;
            negate) result+=" $((-x))" ;;
            square) result+=" $((x * x))" ;;
            abs) [[ $type == i* && $x == -* ]] && result+=" $((-x))" || result+=" $x" ;;
        esac
    done
}
for type in i8 i16 i32 i64 u8 u16 u32 u64; do
    limits $type
    values="0 1 2 3 11 100 $low $high $((high - 1))"
    [[ $type == u* ]] || values+=" -1 -2 -11"
    # shellcheck disable=SC2086  # lists of words
    {
        npy "map.$type.npy" $type - $values
        for f in copy negate square abs; do
            apply $f $type $values
            npy "map.$type.$f.npy" $type - $result
        done
        reversed=
        sums=
        for x in $values; do reversed="$x $reversed"; done
        read -ra a <<<"$values"
        read -ra b <<<"$reversed"
        for i in "${!a[@]}"; do sums+=" $((a[i] + b[i]))"; done
        npy "add.$type.npy" $type - $reversed
        npy "sum.$type.npy" $type - $sums
        npy "reduce.$type.npy" $type "(2, 3)" 5 100 7 2 11 3
        npy "reduce.$type.sum.npy" $type "()" 128
        npy "reduce.$type.product.npy" $type "()" $((5 * 100 * 7 * 2 * 11 * 3))
        npy "reduce.$type.min.npy" $type "()" 2
        npy "reduce.$type.max.npy" $type "()" 100
        npy "empty.$type.sum.npy" $type "()" 0
        npy "empty.$type.product.npy" $type "()" 1
        npy "empty.$type.min.npy" $type "()" "$high"
        npy "empty.$type.max.npy" $type "()" "$low"
    }
done
npy reduce.i32.npy i32 "(2, 3)" 5 -100 7 2 -11 3
npy reduce.i32.sum.npy i32 "()" -94
npy reduce.i32.product.npy i32 "()" $((5 * -100 * 7 * 2 * -11 * 3))
npy reduce.i32.min.npy i32 "()" -100
npy reduce.i32.max.npy i32 "()" 7
for type in f32 f64; do
    quiet=0x7fc12345 signalling=0xff812345 root=0x3fb504f3
    [[ $type == f32 ]] || quiet=0x7ff8000012345678 signalling=0xfff0000012345678 root=0x3ff6a09e667f3bcd
    npy "map.$type.npy" $type - 0 -0 1 -2 3 1000 inf -inf
    npy "map.$type.copy.npy" $type - 0 -0 1 -2 3 1000 inf -inf
    npy "map.$type.negate.npy" $type - -0 0 -1 2 -3 -1000 -inf inf
    npy "map.$type.square.npy" $type - 0 0 1 4 9 1000000 inf inf
    npy "map.$type.abs.npy" $type - 0 0 1 2 3 1000 inf inf
    npy "roots.$type.npy" $type - 0 -0 1 4 9 2 1000000 inf
    npy "roots.$type.sqrt.npy" $type - 0 -0 1 2 3 $root 1000 inf
    npy "nan.$type.npy" $type - $quiet 1 $signalling
    npy "add.$type.npy" $type - 1 0 2 4 -3 24 1 -inf
    npy "sum.$type.npy" $type - 1 0 3 2 0 1024 inf -inf
    npy "reduce.$type.npy" $type "(2, 3)" 5 -100 7 2 -11 3
    npy "reduce.$type.sum.npy" $type "()" -94
    npy "reduce.$type.product.npy" $type "()" $((5 * -100 * 7 * 2 * -11 * 3))
    npy "reduce.$type.min.npy" $type "()" -100
    npy "reduce.$type.max.npy" $type "()" 7
    npy "zeros.$type.npy" $type - 0 -0 0 -0
    npy "zeros.$type.min.npy" $type "()" -0
    npy "zeros.$type.max.npy" $type "()" 0
    npy "empty.$type.sum.npy" $type "()" 0
    npy "empty.$type.product.npy" $type "()" 1
    npy "empty.$type.min.npy" $type "()" inf
    npy "empty.$type.max.npy" $type "()" -inf
done
for type in $types; do
    npy "empty.$type.npy" "$type" "(0,)"
    npy "hollow.$type.npy" "$type" "(2, 0, 3)"
    npy "scalar1.$type.npy" "$type" - 3
    npy "scalar.$type.npy" "$type" "()" 3
    npy "scalar.$type.square.npy" "$type" "()" 9
    npy "scalar.$type.sum.npy" "$type" "()" 6
done
# Histograms, of which a u16 counter is full: ones.npy has 200000 samples.
for type in i8 i16 i32 i64 f32 f64; do
    npy "histogram.$type.npy" $type "(2, 4)" -5 -4 -1 0 1 3 5 100
    npy "histogram.$type.even.npy" u64 - 2 0 2 1 1
done
for type in u8 u16 u32 u64; do
    npy "histogram.$type.npy" $type "(2, 4)" 0 1 2 3 4 5 11 100
    npy "histogram.$type.even.npy" u64 - 2 2 2 0 0
    npy "histogram.$type.modulo.npy" u32 - 2 3 3
    npy "histogram.$type.identity.npy" u16 - 1 1 1
done
npy histogram.none.npy u64 - 0 0 0 0 0
npy histogram.signed.npy u64 - 1 1 0 1 0
npy histogram.small.npy f32 - 0xbf000000 0xbe800000 0x3e800000 0x3f000000  # -0.5, -0.25, 0.25, 0.5
npy histogram.small.even.npy u64 - 2 0 1 1
npy histogram.full.npy u16 - 0 65535 0
npy histogram.many.npy u32 - 0 200000 0
for type in $types; do
    npy "compact.$type.npy" "$type" - 5 0 100 7 2 2 11 3 0 8
    npy "compact.$type.even.npy" "$type" - 0 100 2 2 0 8
    npy "compact.$type.odd.npy" "$type" - 5 7 11 3
    npy "compact.$type.nonzero.npy" "$type" - 5 100 7 2 2 11 3 8
    npy "compact.$type.positive.npy" "$type" - 5 100 7 2 2 11 3 8
    npy "compact.$type.greater:7.npy" "$type" - 100 11 8
    npy "compact.$type.less:5.npy" "$type" - 0 2 2 3 0
done
for type in $types; do
    npy "sort.$type.npy" "$type" - 5 0 100 7 2 2 11 3 0 8
    npy "sort.$type.up.npy" "$type" - 0 0 2 2 3 5 7 8 11 100
    npy "sort.$type.down.npy" "$type" - 100 11 8 7 5 3 2 2 0 0
    npy "sort.$type.values.up.npy" "$type" - 2 9 5 6 8 1 4 10 7 3
    npy "sort.$type.values.down.npy" "$type" - 3 7 10 4 1 8 5 6 2 9
    npy "sort.$type.values.npy" "$type" - 1 2 3 4 5 6 7 8 9 10
done
npy total.npy f32 - 0 0x7fc12345 -inf -0 0xff812345 1 inf 0x80000001 0xffc00000 -1
npy total.up.npy f32 - 0xffc00000 0xff812345 -inf -1 0x80000001 -0 0 1 inf 0x7fc12345
npy total.down.npy f32 - 0x7fc12345 inf 1 0 -0 0x80000001 -1 -inf 0xff812345 0xffc00000
npy signs.up.npy i8 - -128 -1 0 1 127
for type in $types; do
    npy "matrix.$type.npy" "$type" "(2, 3)" 1 2 3 4 5 6
    npy "matrix.$type.turned.npy" "$type" "(3, 2)" 1 4 2 5 3 6
    npy "hollow2.$type.npy" "$type" "(0, 3)"
    npy "hollow2.$type.turned.npy" "$type" "(3, 0)"
done
for type in f32 f64; do
    npy "volume.$type.npy" $type "(2, 2, 3)" 1 2 3 4 5 6 7 8 9 10 11 12
    npy "star.$type.npy" $type - 2 -1 3
    npy "volume.$type.1.npy" $type "(2, 2, 3)" -2 -13 -8 10 -13 4 22 -13 16 34 -13 28
    npy "volume.$type.2.npy" $type "(2, 2, 3)" -47 10 -29 13 -14 31 73 -38 91 133 -62 151
done
# What --generate gives. random_bits SEED I: SplitMix64, the seed mixed by it as well, in $bits.
logical() { bits=$((($1 >> $2) & ((1 << (64 - $2)) - 1))); }  # VALUE SHIFT
mix() {  # SEED I
    local z=$(($1 + ($2 + 1) * 0x9e3779b97f4a7c15))
    logical $z 30 && z=$(((z ^ bits) * 0xbf58476d1ce4e5b9))
    logical $z 27 && z=$(((z ^ bits) * 0x94d049bb133111eb))
    logical $z 31 && bits=$((z ^ bits))
}
random() {  # TYPE SEED COUNT: the elements, as raw bits
    local digits=24 mantissa=23 key i
    [[ $1 == f32 ]] || digits=53 mantissa=52
    mix "$2" 0
    key=$bits
    for ((i = 0; i < $3; i++)); do
        mix "$key" $i
        logical "$bits" $((64 - digits))
        encode "$1" "$bits"
        printf '0x%x ' $((bits == 0 ? 0 : bits - (digits << mantissa)))
    done
}
response() {  # what the star 2 -1 3 makes of a 1 in the middle of 5 x 6 x 7
    local z y x at
    local -A star=([0]=2 [1]=-1 [2]=3)
    for ((z = -2; z < 3; z++)); do for ((y = -3; y < 3; y++)); do for ((x = -3; x < 4; x++)); do
        at=$((z < 0 ? -z : z))
        ((y == 0)) || at=$((z == 0 ? (y < 0 ? -y : y) : 9))
        ((x == 0)) || at=$((z == 0 && y == 0 ? (x < 0 ? -x : x) : 9))
        printf '%s ' "${star[$at]:-0}"
    done; done; done
}
for type in f32 f64; do
    for seed in 0 7 18446744073709551615; do
        # shellcheck disable=SC2046  # one value each
        npy "random.$type.$seed.npy" $type "(2, 3, 5)" $(random $type $((seed)) 30)
    done
    # shellcheck disable=SC2046
    npy "response.$type.npy" $type "(5, 6, 7)" $(response)
done
npy hollow3.npy f32 "(2, 0, 3)"
npy payloads.npy f32 "(2, 2)" 0x7fc12345 -0 inf 0xff812345
npy payloads.turned.npy f32 "(2, 2)" 0x7fc12345 inf -0 0xff812345
npy line.npy i64 "(1, 4)" 1 2 3 4
npy line.turned.npy i64 "(4, 1)" 1 2 3 4
npy image.zero.npy f32 "(2, 3)" 810 1620 3240 81 162 324
npy image.clamp.npy f32 "(2, 3)" 811 1622 3244 881 1762 3524
npy image.u8.npy u8 "(2, 3)" 1 2 4 8 16 32
npy image.f64.npy f64 "(2, 3)" 1 2 4 8 16 32
npy across.f64.npy f64 "(1, 3)" 1 10 100
npy image.f64.across.npy f64 "(2, 3)" 210 421 42 1680 3368 336
npy hollow.image.npy f32 "(0, 3)"
npy signs.npy i8 - -128 127 -1 0 1
npy signs.positive.npy i8 - 127 1
npy signs.odd.npy i8 - 127 -1 1
npy signs.less.npy i8 - -128 -1
npy floats.npy f32 - 0x7fc12345 0 -0 inf -1 0x3f000000 0xff812345
npy floats.nonzero.npy f32 - 0x7fc12345 inf -1 0x3f000000 0xff812345
npy floats.less.npy f32 - 0 -0 -1
npy ones_sum.npy u8 "()" 200000
npy cube.npy i16 "(2, 1, 3)" 1 2 3 4 5 6
npy cube_negate.npy i16 "(2, 1, 3)" -1 -2 -3 -4 -5 -6

# All of it on tbb. Elsewhere a function of a type is a kernel to compile: then as many as show every function and type.
kernels=" sort.f32 sort.u64 compact.u8 compact.i64 compact.f32 copy.i8 copy.f32 negate.i16 negate.u64 negate.f64 square.u8 square.i64 square.f32 abs.i32 abs.u16 abs.f64
    add.u32 add.i16 add.f32 sum.i32 sum.u8 sum.f64 product.i16 product.f32 min.f32 min.i64 max.u16 max.f64 "
on() { [[ $device == tbb || $kernels =~ [[:space:]]$1[[:space:]] ]]; }  # KERNEL
for device in tbb opencl cuda; do
    use "$device"
    for type in $types; do
        for f in copy negate square abs; do
            ! on "$f.$type" || gives "map.$type.$f.npy" run map --function $f --in "map.$type.npy" --device "$device"
        done
        if on "add.$type"; then
            gives "sum.$type.npy" run add --in "map.$type.npy" --in "add.$type.npy" --device "$device"
            gives "scalar.$type.sum.npy" run add --in "scalar.$type.npy" --in "scalar.$type.npy" --device "$device"
        fi
        for op in sum product min max; do
            if on "$op.$type"; then
                gives "reduce.$type.$op.npy" run reduce --op $op --in "reduce.$type.npy" --device "$device"
                gives "scalar.$type.npy" run reduce --op $op --in "scalar.$type.npy" --device "$device"
            fi
            # What is empty compiles nothing.
            gives "empty.$type.$op.npy" run reduce --op $op --in "empty.$type.npy" --device "$device"
        done
        if on "compact.$type"; then
            for rule in even odd nonzero positive greater:7 less:5; do
                [[ $type == f* && $rule == [eo]* ]] && continue
                gives "compact.$type.$rule.npy" run compact --keep $rule --in "compact.$type.npy" --device "$device"
            done
            gives "empty.$type.npy" run compact --keep less:0 --in "empty.$type.npy" --device "$device"
            gives "empty.$type.npy" run compact --keep less:0 --in "scalar1.$type.npy" --device "$device"
        fi
        if on "sort.$type"; then
            gives "sort.$type.up.npy" run sort --in "sort.$type.npy" --device "$device"
            gives "sort.$type.down.npy" run sort --in "sort.$type.npy" --descending --device "$device"
            for way in up down; do
                [[ $way == down ]] && descending=--descending || descending=
                gives "sort.$type.$way.npy" run sort --in "sort.$type.npy" $descending --device "$device" \
                    --values "sort.i16.values.npy" --out-values box/values.npy
                [[ $without ]] || problem=$(bad_bytes "sort.i16.values.$way.npy" box/values.npy)
                verdict "values of sort.$type, $way, on $device" "$problem"
            done
            gives "empty.$type.npy" run sort --in "empty.$type.npy" --device "$device"
            gives "scalar1.$type.npy" run sort --in "scalar1.$type.npy" --device "$device"
        fi
        if on "square.$type"; then
            gives "scalar.$type.square.npy" run map --function square --in "scalar.$type.npy" --device "$device"
            gives "empty.$type.sum.npy" run reduce --in "hollow.$type.npy" --device "$device"
            gives "hollow.$type.npy" run map --function negate --in "hollow.$type.npy" --device "$device"
            gives "empty.$type.npy" run add --in "empty.$type.npy" --in "empty.$type.npy" --device "$device"
        fi
    done
    for type in f32 f64; do
        gives "roots.$type.sqrt.npy" run map --function sqrt --in "roots.$type.npy" --device "$device"
        ! on "copy.$type" || gives "nan.$type.npy" run map --function copy --in "nan.$type.npy" --device "$device"
        for op in min max; do
            on "$op.$type" || continue
            gives "zeros.$type.$op.npy" run reduce --op $op --in "zeros.$type.npy" --device "$device"
            ends 0 "= nan" run reduce --op $op --in "nan.$type.npy" --out box/new.npy --device "$device"
        done
    done
    for type in $types; do
        lo=-5 hi=5
        [[ $type != u* ]] || lo=0 hi=10
        if [[ $device == tbb || $type == f32 || $type == u8 || $type == i64 ]]; then
            gives "histogram.$type.even.npy" run histogram --bins 5 --range $lo $hi --in "histogram.$type.npy" --device "$device"
            if [[ $type == u* ]]; then
                gives "histogram.$type.modulo.npy" run histogram --bins 3 --modulo --counter u32 \
                    --in "histogram.$type.npy" --device "$device"
                gives "histogram.$type.identity.npy" run histogram --bins 3 --identity --counter u16 \
                    --in "histogram.$type.npy" --device "$device"
            fi
        fi
        gives histogram.none.npy run histogram --bins 5 --range 0 1 --in "empty.$type.npy" --device "$device"
    done
    gives histogram.signed.npy run histogram --bins 5 --identity --in histogram.i32.npy --device "$device"
    gives histogram.small.even.npy run histogram --bins 4 --range -.5 .50001 --in histogram.small.npy --device "$device"
    gives histogram.full.npy run histogram --bins 3 --identity --counter u16 --in ones.npy --device "$device"
    gives histogram.many.npy run histogram --bins 3 --range 0 3 --counter u32 --in ones.npy --device "$device"
    for rule in positive odd less:0; do gives "signs.${rule%:*}.npy" run compact --keep $rule --in signs.npy --device "$device"; done
    for rule in nonzero less:0.25; do gives "floats.${rule%:*}.npy" run compact --keep $rule --in floats.npy --device "$device"; done
    gives signs.up.npy run sort --in signs.npy --device "$device"
    gives total.up.npy run sort --in total.npy --device "$device"
    gives total.down.npy run sort --in total.npy --descending --device "$device"
    for type in $types; do
        gives "hollow2.$type.turned.npy" run transpose --in "hollow2.$type.npy" --device "$device"
        [[ $device != tbb && ! $type =~ [fu](8|16|32|64) ]] ||
            gives "matrix.$type.turned.npy" run transpose --in "matrix.$type.npy" --device "$device"
    done
    gives image.zero.npy run convolve --in image.npy --in mask.npy --device "$device"
    gives image.clamp.npy run convolve --in image.npy --in mask.npy --border clamp --device "$device"
    gives image.clamp.npy run convolve --in image.u8.npy --in mask.npy --border clamp --device "$device"
    gives image.f64.across.npy run convolve --in image.f64.npy --in across.f64.npy --device "$device"
    gives hollow.image.npy run convolve --in hollow.image.npy --in mask.npy --device "$device"
    for type in f32 f64; do
        [[ $device == tbb || $type == f32 ]] || continue
        gives "volume.$type.npy" run stencil --in "volume.$type.npy" --in "star.$type.npy" --steps 0 --device "$device"
        gives "volume.$type.1.npy" run stencil --in "volume.$type.npy" --in "star.$type.npy" --device "$device"
        gives "volume.$type.2.npy" run stencil --in "volume.$type.npy" --in "star.$type.npy" --steps 2 --device "$device"
        for seed in 0 7 18446744073709551615; do
            gives "random.$type.$seed.npy" run stencil --generate random --shape 2x3x5 --type $type --seed $seed \
                --in "star.$type.npy" --steps 0 --device "$device"
        done
        gives "response.$type.npy" run stencil --generate point --shape 5x6x7 --type $type --in "star.$type.npy" --device "$device"
    done
    gives random.f32.0.npy run stencil --generate random --shape 2x3x5 --in star.f32.npy --steps 0 --device "$device"
    for kind in random point; do
        gives hollow3.npy run stencil --generate $kind --shape 2x0x3 --in star.f32.npy --device "$device"
    done
    gives hollow3.npy run stencil --in hollow3.npy --in star.f32.npy --steps 3 --device "$device"
    gives payloads.turned.npy run transpose --in payloads.npy --device "$device"
    gives line.turned.npy run transpose --in line.npy --device "$device"
    gives ones_sum.npy run reduce --in ones.npy --device "$device"
    gives cube_negate.npy run map --function negate --in cube.npy --device "$device"
    for variant in fixed shuffle first_add sequential interleaved global_tree serial; do
        if [[ $without ]]; then
            verdict "" ""
            continue
        fi
        # The variants that a device has give the result, the others are refused with a reason.
        run run reduce --in ones.npy --out box/new.npy --device "$device" --variant $variant
        if [[ $status == 2 ]]; then
            verdict "reduce/$variant on $device" "$(bad_complaint "these would do: fixed")"
        else
            verdict "reduce/$variant on $device" "$(bad_bytes ones_sum.npy box/new.npy)"
        fi
    done
done

## A function of the user's.
wrong_text='float f(float x) {
    float y = x;
    return no_such_name;
}'
for device in opencl cuda; do
    use "$device"
    gives squares.npy run map --text 'float f(float x) { return x * x; }' --in three.npy --device "$device"
    npy rounded.npy i32 - 1 4 9
    gives rounded.npy run map --text 'int g(float x) { return (int)x; }' --in three.npy --device "$device"
    refused 2 "f32" run map --text 'float f(float x) { return x; }' --in bytes.npy --out box/new.npy --device "$device"
    problem=
    if [[ -z $without ]]; then
        fresh_box
        run run map --text "$wrong_text" --in three.npy --out box/kept.npy --device "$device"
        problem=$(bad_box)
        if [[ $status != 2 || $err != *"concord: --text: "* || $out ]]; then
            problem+=" expected status 2 and '--text', came $(came)"
        elif ! grep -E '(^|[^a-z_])f[:(]3([:),]|$)' stderr | grep -qi 'error'; then
            problem+=" expected an error in line 3 of f, came $(came)"
        fi
    fi
    verdict "a text that does not compile, on $device" "$problem"
done
use opencl
gives squares.npy run map --text 'float f(float x) { return x * x; }' --in three.npy
use tbb
refused 2 "is text, which tbb:0 cannot compile" run map --text 'float f(float x) { return x; }' --in three.npy \
    --out box/new.npy --device tbb
refused 2 "no parameter list" run map --text '' --in three.npy --out box/new.npy --device tbb
refused 2 "no body in braces" run map --text 'float f(float x)' --in three.npy --out box/new.npy --device tbb
refused 2 "'floot' is no element type" run map --text 'floot f(float x) { return x; }' --in three.npy --out box/kept.npy \
    --device tbb
refused 2 "--text" run map --text 'float f(float x) { return x; }' --function abs --in three.npy --out box/new.npy

## --json of `run`.
for device in tbb opencl cuda; do
    use "$device"
    problem=
    if [[ -z $without ]]; then
        run --log-level debug run map --function negate --variant naive --in cube.npy --out box/new.npy --device "$device" --json
        problem=$(bad_object stdout)$(bad_keys stdout algorithm variant device selector name backend type shape times_ms)
        flat=$(tr -d ' \n' <stdout)
        for pair in '"algorithm":"map"' '"variant":"naive"' "\"selector\":\"$device:0\"" "\"backend\":\"$device\"" \
            '"type":"i16"' '"shape":[2,1,3]'; do
            [[ $flat == *"$pair"* ]] || problem+=" expected $pair"
        done
        times=${flat#*\"times_ms\":\{}
        times=${times%%\}*}
        for key in compile upload kernel download total; do
            [[ $times =~ \"$key\":[0-9] ]] || problem+=" expected the time '$key' in '$times'"
        done
        [[ $status == 0 ]] || problem+=" expected status 0, came $(came)"
    fi
    verdict "run --json on $device" "$problem"
done
without=

## Checks and measurements.
ends 0 " 0 failed" check --devices tbb --types f32 --sizes 0,1,1025 reduce --json check.json --junit check.xml
verdict "check --json" "$(bad_object check.json)$(bad_keys check.json matrix failures passed failed skipped)"
problem=
[[ $(head -n 1 check.xml) == "<?xml "* && $(tail -n 1 check.xml) == "</testsuite>" ]] ||
    problem="expected a JUnit report, came '$(head -c 200 check.xml)'"
verdict "check --junit" "$problem"
run check reduce --devices tbb --variants shuffle
verdict "a check of nothing" "$([[ $status == 2 && $out == *"nothing that was asked for could be checked"* ]] ||
    echo "expected status 2 and why, came $(came) $(came_out)")"
refused 2 "no/such/check.json" check reduce --devices tbb --json no/such/check.json
ends 0 "fixed" bench reduce --devices tbb --sizes 64 --json bench.json --csv bench.csv
verdict "bench --json" "$(bad_object bench.json)$(bad_keys bench.json results algorithm variant device median_ms)"
problem=
[[ $(head -n 1 bench.csv) == algorithm,*variant,device* && $(wc -l <bench.csv) == 2 ]] ||
    problem="expected a header and a line, came '$(cat bench.csv)'"
verdict "bench --csv" "$problem"
ends 0 "100 calls in a row" bench reduce --devices tbb --sizes 64 --calls 100 --csv bench.csv
problem=
[[ $(tail -n 1 bench.csv) == *,3,100,1,host,* ]] || problem="expected three times 100 calls, came '$(cat bench.csv)'"
verdict "bench --calls" "$problem"
ends 0 "100 replays of a call in a row" bench reduce --devices tbb --sizes 64 --calls 100 --recorded
ends 2 "--calls" bench reduce --calls 0
ends 2 "--recorded requires --calls" bench reduce --recorded
ends 0 "fixed" bench reduce --devices tbb --sizes 64 --trace trace.json
problem=
for words in '"traceEvents":[' '"cat":"kernel"' '"cat":"upload"' '"process_name"' '"name":"stream 1"'; do
    [[ $(cat trace.json) == *"$words"* ]] || problem+=" expected $words, came '$(head -c 400 trace.json)'"
done
verdict "bench --trace" "$problem"
for device in tbb opencl; do
    without=
    has "$device" || without="no $device device"
    fresh_box
    gives three.npy run map --in three.npy --device "$device" --trace trace.json
    # There is no upload where the device shares the host's memory: files are read into its buffers.
    verdict "run --trace, $device" "$([[ $(tr -d '\n' <trace.json) == *'"cat":"kernel"'*'"cat":"download"'* ]] ||
        echo "expected a kernel, then a download, came '$(cat trace.json)'")"
done
without=
refused 2 "no/such/trace.json" run map --in three.npy --out box/new.npy --device tbb --trace no/such/trace.json
[[ -e $modules/concord-nvtx-listener.so ]] || without="no NVTX headers"
export NVTX_INJECTION64_PATH=$modules/concord-nvtx-listener.so LISTENER_FILE=$work/ranges
gives three.npy run map --in three.npy --device tbb
verdict "NVTX ranges" "$([[ $(tr '\n' ' ' <ranges) == map*\ download\ * ]] ||
    echo "expected map..., download, came '$(cat ranges)'")"
without=
export NVTX_INJECTION64_PATH=$work/three.npy
gives three.npy run map --in three.npy --device tbb
unset NVTX_INJECTION64_PATH LISTENER_FILE
refused 2 "no/such/trace.json" bench reduce --devices tbb --sizes 64 --trace no/such/trace.json
refused 2 "no/such/bench.csv" bench reduce --devices tbb --csv no/such/bench.csv
ends 0 "reduce" algorithms
ends 0 "fixed" algorithms reduce
run algorithms --json
verdict "algorithms --json" "$(bad_object stdout)$(bad_keys stdout algorithms name variants cuda opencl cpu order source)"

## The cache of compiled kernels.
export XDG_CACHE_HOME=$work/cache.damage
ends 0 "0 entries" cache ls
ends 0 "0 entries are valid, 0 damaged" cache verify
mkdir -p "$XDG_CACHE_HOME/concord"
echo "no kernel" >"$XDG_CACHE_HOME/concord/0123.program"
ends 0 "damaged" cache ls
ends 1 "0123.program" cache verify
ends 0 "1 files removed" cache clear
ends 0 "0 entries" cache ls
# What one kernel is compiled for; a device that is not here (cuda@...) compiles it all the same.
compiling() {
    if [[ $device == *@* ]]; then
        echo check add --devices "$device" --variants naive --types f32 --sizes 5
    else
        echo run map --function negate --in map.f32.npy --device "$device"
    fi
}
compile_on() {
    local -a words
    read -ra words <<<"$(compiling)"
    if [[ $device == *@* ]]; then ends 0 "3 passed, 0 failed" "${words[@]}"; else gives map.f32.negate.npy "${words[@]}"; fi
}
pocl() { [[ $device == opencl ]] && "$concord" devices --json | grep -q "Portable Computing Language"; }
for device in opencl cuda cuda@sm_90; do
    use "$device"
    if [[ $device == *@* ]]; then
        run check add --devices "$device" --variants naive --types f32 --sizes 5
        without=
        [[ $status == 0 ]] || without="$device is not available"
    fi
    export XDG_CACHE_HOME=$work/cache.$device
    compile_on
    entries=1
    if [[ -z $without ]] && pocl; then
        ends 0 "0 entries" cache ls
        entries=0 without="PoCL keeps compiled kernels itself"
    fi
    ends 0 "1 entries" cache ls
    ends 0 "${device%@*} | " cache ls
    ends 0 "1 entries are valid, 0 damaged" cache verify
    entry=$(echo "$XDG_CACHE_HOME/concord/"*.program)
    for damage in truncated emptied flipped swapped; do
        [[ $without ]] || case $damage in
            truncated) truncate -s -1 "$entry" ;;
            emptied) : >"$entry" ;;
            flipped) printf '\xa5' | dd of="$entry" bs=1 seek=$(($(wc -c <"$entry") / 2)) conv=notrunc status=none ;;
            swapped) mv "$entry" "${entry%/*}/0123456789abcdef.program" ;;  # sound, but not what its name says
        esac
        ends 1 "damaged" cache verify
        compile_on
        [[ $damage != swapped || $without ]] || rm -f "${entry%/*}/0123456789abcdef.program"
        # The run has put a sound one in its place.
        ends 0 "1 entries are valid, 0 damaged" cache verify
    done
    ends 0 "1 files removed" cache clear
    ends 0 "0 entries" cache ls
    verdict "cache clear leaves nothing" "$([[ $without || -z $(ls -A "$XDG_CACHE_HOME/concord") ]] ||
        echo "expected an empty folder, came $(ls -A "$XDG_CACHE_HOME/concord")")"

    export CONCORD_CACHE=off
    compile_on
    ends 0 "0 entries" cache ls
    unset CONCORD_CACHE

    export XDG_CACHE_HOME=$work/cache.file.$device
    mkdir "$XDG_CACHE_HOME"
    echo "no folder" >"$XDG_CACHE_HOME/concord"
    compile_on
    ends 0 "0 entries" cache ls
    ends 0 "not writable" doctor
    problem=
    if [[ -z $without ]]; then
        # shellcheck disable=SC2046
        run $(compiling) --log-level info $([[ $device == *@* ]] || echo --out box/new.npy)
        [[ $status == 0 && $err == *"kernels are not cached"* ]] || problem="expected that the log says so, came $(came)"
    fi
    verdict "the log on a cache that cannot be used, $device" "$problem"

    export XDG_CACHE_HOME=$work/cache.closed.$device
    mkdir -p "$XDG_CACHE_HOME/concord"
    chmod 555 "$XDG_CACHE_HOME/concord"
    kept=$without
    [[ $EUID != 0 || $without ]] || without="root can write everywhere"
    compile_on
    without=$kept

    # Many processes that start cold at once.
    [[ $entries == 1 ]] || without=
    export XDG_CACHE_HOME=$work/cache.many.$device
    mkdir "many.$device"
    pids=()
    for i in {1..16}; do
        [[ $without ]] && break
        # shellcheck disable=SC2046
        "$concord" $(compiling) $([[ $device == *@* ]] || echo --out "many.$device/$i.npy") >"many.$device/$i.log" 2>&1 &
        pids+=($!)
    done
    for i in {1..16}; do
        problem=
        if [[ -z $without ]]; then
            wait "${pids[i - 1]}"
            status=$?
            cp "many.$device/$i.log" stderr
            [[ $status == 0 ]] || problem="expected status 0, came $(came)"
            [[ $device == *@* ]] || problem+=$(bad_bytes map.f32.negate.npy "many.$device/$i.npy")
        fi
        verdict "process $i of 16 on one cache, $device" "$problem"
    done
    ends 0 "$entries entries are valid, 0 damaged" cache verify
    verdict "no temporary files in the cache" "$([[ $without || $(find "$XDG_CACHE_HOME/concord" -type f | wc -l) == "$entries" ]] ||
        echo "expected $entries files, came $(ls -A "$XDG_CACHE_HOME/concord")")"
done
without=
export XDG_CACHE_HOME=$work/cache

## Colours on a terminal only.
verdict "no escape codes where there is no terminal" "${escapes:+they are in the output of$escapes}"
if ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then without="no script(1) that makes a terminal"; fi
terminal() { script -qec "'$concord' devices" /dev/null </dev/null; }
verdict "colours on a terminal" "$([[ $without || $(terminal) == *$'\e['* ]] || echo "expected some")"
verdict "NO_COLOR on a terminal" "$([[ $without || $(NO_COLOR=1 terminal) != *$'\e['* ]] || echo "expected none")"
without=

for why in "${!left_out[@]}"; do echo "left out: ${left_out[$why]} checks: $why"; done | sort
echo "$passed passed, $failed failed"
[[ $failed == 0 && $passed -gt 0 ]]
