#!/usr/bin/env bash
# guards_test.sh BUILD_DIR SOURCE_DIR COMPILER: the tests of weight, of public names, of the names of constants and of
# words notice what they must notice.
set -u
export LC_ALL=C
build=$1 source=$2 compiler=$3
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
expect() {  # STATUS WORDS COMMAND...
    local expected=$1 words=$2 status=0
    shift 2
    "$@" >"$work/log" 2>&1 || status=$?
    if [[ $status == "$expected" ]] && { [[ -z $words ]] || grep -qF -- "$words" "$work/log"; }; then
        echo "ok      $words"
    else
        echo "FAILED  expected status $expected and '$words', got $status:"
        sed 's/^/        /' "$work/log"
        failed=1
    fi
}

# Weight: a build folder whose log has a library of ten reference compilations.
weight() { CONCORD_WEIGHT_TABLE=$work/table "$source/tests/meta/weight.sh" "$work/build" "$work/tree"; }
mkdir -p "$work/build" "$work/tree/core"
log() {  # SECONDS of the library's file, SECONDS of the reference
    printf '999 core/a.cpp.o\n%s core/a.cpp.o\n500 lab/b.cpp.o\n' "$1" >"$work/build/cpu_seconds.log"
    echo "$2 tests/meta/CMakeFiles/x.dir/budget_reference.cpp.o" >>"$work/build/cpu_seconds.log"
}
log 80 8
echo 'compilation 10 x' >"$work/table"
expect 0 "compilation          10.0           10 x" weight
echo 'compilation 9.9 x' >"$work/table"
expect 1 "EXCEEDED" weight
log 3 8
expect 1 "a compiler cache was used" weight
echo 'frob 1 x' >"$work/table"
expect 1 "weight.txt names 'frob'" weight
git -C "$work/tree" init --quiet
git -C "$work/tree" -c user.name=x -c user.email=x@y.invalid commit --quiet --allow-empty -m empty
printf '1\n2\n' >"$work/tree/core/a.cpp"
echo 'lines 2 x' >"$work/table"
expect 0 "lines                   2            2 x" weight
echo 'lines 1 x' >"$work/table"
expect 1 "EXCEEDED" weight

# Public names: all kinds of declarations, and what is not public.
tree=$work/tree
names() { "$source/tests/meta/public_names.py" "$@" "$compiler" "$tree"; }
commit() {
    git -C "$tree" add -A
    git -C "$tree" -c user.name=x -c user.email=x@y.invalid commit --quiet --allow-empty -m "$1"
}
mkdir -p "$tree/core/include/concord/detail" "$tree/docs" "$tree/.ci" "$tree/python/concord"
echo '__all__ = ["sum"]' >"$tree/python/concord/__init__.py"
echo 'namespace concord { int of_detail(); }' >"$tree/core/include/concord/detail/a.hpp"
cat >"$tree/core/include/concord/a.hpp" <<'HPP'
#include <concord/detail/a.hpp>
#include <vector>
#define CONCORD_MACRO(X) X
#define CONCORD_GONE(X) X,
// CONCORD_COMMENT
namespace concord::inner {
enum class Kind : unsigned char { first, second = (1 < 2), CONCORD_GONE(third) };
#undef CONCORD_GONE
}
namespace concord {
namespace detail { struct Secret { int hidden; }; }
class Declared;
inline constexpr int answer = 42, other = (3);
template <class T, bool B = (sizeof(T) < 4)>
requires(sizeof(T) > 1) constexpr T twice(T x) { return x < 3 ? x : 2 * x; }
template <class T> concept Wide = sizeof(T) > 4;
using Values = std::vector<int>;
[[nodiscard("because")]] std::vector<Values> both(int (*f)(int), const char* text = "};(");
struct Base {};
struct Point final : Base {
    int x = 0, y{1};
    Values list = {1, 2}, more;
    static constexpr double pi = 3.0;
    Point() : x(1), list{3} {}
    explicit Point(int) noexcept : Base(), x{2} {}
    ~Point() = default;
    Point(const Point&) = delete;
    Point& operator=(const Point&) = default;
    bool operator==(const Point& b) const { return x == b.x; }
    int operator()(int) const;
    operator bool() const { return true; }
    void (*callback)(int) = nullptr;
    friend bool operator<(const Point&, const Point&) { return false; }
    virtual auto length() const -> double = 0;
    struct Inner { int deep[3]; };
  private:
    int own_ = 0;
    void own_function();
  protected:
    int guarded_;
};
inline auto Point::length() const -> double { return 0; }
class Closed {
    int own_;
  public:
    int seen() const { return own_; }
};
extern "C" void c_function();
extern const int table[3];
}
HPP
cat >"$work/expected" <<'NAMES'
CONCORD_MACRO
Base
Closed
Closed::seen
Declared
Point
Point::Inner
Point::Inner::deep
Point::callback
Point::length
Point::list
Point::more
Point::operator bool
Point::operator()
Point::operator==
Point::pi
Point::x
Point::y
Values
Wide
answer
both
c_function
inner
inner::Kind
inner::Kind::first
inner::Kind::second
inner::Kind::third
other
table
twice
concord.sum
NAMES
expect 1 "docs/public_names.txt is not current" names
expect 0 "names of the C++ headers, 1 of the Python package" names --update
grep -v '^#\|^$\|^inner$' "$tree/docs/public_names.txt" >"$work/names"
expect 0 "" diff <(grep -v '^inner$' "$work/expected") "$work/names"
echo "one" >"$tree/CHANGELOG.md"
commit names
git -C "$tree" rev-parse HEAD >"$tree/.ci/landed"
expect 0 "names of the C++ headers" names
sed -i 's/int own_;/int own_; public: int fresh;/' "$tree/core/include/concord/a.hpp"
expect 1 "+ Closed::fresh" names
expect 1 "CHANGELOG.md did not" names --update
commit "without a line"
expect 1 "CHANGELOG.md did not" names
echo "two" >>"$tree/CHANGELOG.md"
expect 0 "names of the C++ headers" names
echo 0123456789012345678901234567890123456789 >"$tree/.ci/landed"
expect 0 "git does not know the commit" names
rm "$tree/.ci/landed"
expect 0 ".ci/landed does not exist" names

# Words: second lists, and names of files that are gone.
mkdir -p "$work/words/tests/meta" "$work/words/algorithms"
cp "$source/tests/meta/words.sh" "$work/words/tests/meta"
git -C "$work/words" init --quiet
words() { "$work/words/tests/meta/words.sh"; }
refused() {  # FILE TEXT WORDS: that the file with the text is reported
    printf '%s\n' "$2" >"$work/words/algorithms/$1"
    expect 1 "algorithms/$1$3" words
    rm "$work/words/algorithms/$1"
}
expect 0 "words: no excluded phrase" words
refused a.cpp 'f({{Dialect::cuda, "cu"}, {Dialect::opencl, "cl"}});' ''
refused a.cpp 'x == Dialect::cuda ? "cu" : "cl"' ':1:x =='
refused a.cpp 'if (Dialect::host != x)' ':1:if'
refused a.cu 'y = __shfl_up_sync(mask, x, 1);' ':1:y'
refused a.cl 'y = sub_group_broadcast(x, 0);' ':1:y'
refused a.cl 'y = work_group_reduce_add(x);' ':1:y'
refused a.kernel '    y = __syncthreads_or(x);' ':1:'
refused a.cpp 'constexpr char text[] = "__any_sync(mask, x)";' ':1:'
refused a.kernel '// Parallel source: gone.cl.' ':1: gone.cl'
printf 'int x;\n' >"$work/words/algorithms/here.cl"
printf '// Parallel source: here.cl. A CONCORD_GROUP_KERNEL calls sub_group_reduce().\n' >"$work/words/algorithms/a.cpp"
expect 0 "words: no excluded phrase" words

# Names of constants: one is a word of the prelude. Macros of index kernels: one is that of the vocabulary.
math=core/include/concord/detail/math languages=core/internal/concord/internal/language.hpp
mkdir -p "$work/prelude/"{algorithms/common,distributed,lab,"$math","${languages%/*}"}
for language in cu cl; do
    printf '#define LOCAL(N) x\nINLINED u32 local_id() {}\ntemplate <class E>\n' >"$work/prelude/algorithms/common/prelude.$language"
done
touch "$work/prelude/algorithms/common/"{body_kernel.cpp,index_kernel.cpp,group_source.cpp,group_collectives.kernel}
echo '#define CONCORD_SUM x' >"$work/prelude/$math/vocabulary.h"
echo 'R"(#define CONCORD_X y' >"$work/prelude/$languages"
constants() { "$source/tests/meta/constant_names.sh" "$work/prelude"; }
echo '{{"LOCAL_SIZE", 1}}' >"$work/prelude/algorithms/a.cpp"
expect 0 "" constants
for name in LOCAL local_id E 'E(x)'; do
    echo "{{\"$name\", 1}}" >"$work/prelude/lab/a.cpp"
    expect 1 "a.cpp:1:{{\"$name\", 1}}" constants
done
rm "$work/prelude/lab/a.cpp"
echo 'return CONCORD_SUM;' >"$work/prelude/algorithms/common/index_kernel.cpp"
expect 1 "math: CONCORD_SUM" constants
exit "$failed"
