// Calls that must not compile, for refused_calls.sh. Each line marked `refused: TEXT` must give an error with that
// text, and no other line.
#include <concord/concord.hpp>
#include <concord/distributed.hpp>

using namespace concord;

CONCORD_FUNCTION(f32, plus, (f32 a, f32 b), return a + b;)
CONCORD_FUNCTION(f32, one_more, (f32 x), return x + 1;)
CONCORD_FUNCTION(u8, before, (f32 a, f32 b), return a < b;)
CONCORD_FUNCTION(u8, keeps, (f32 x), return x > 0;)
CONCORD_FUNCTION(u32, bin, (f32 x), return (u32)x;)
CONCORD_STRUCT(Long, double x[9];)
CONCORD_KERNEL(sized, (u64 i, f64* out, Long values), out[i] = values.x[i];)

void calls(Stream& s, Communicator& ranks) {
    const Array<f32> floats(s, 16), sorted(s, 16);
    const Array<f64> doubles(s, 16);
    const Array<u32> words(s, 16);
    const Array<i8> bytes(s, 16);
    const Array<u64> count(s, 1);
    const StarCoefficients star(std::vector<f64>{1, 2});
    // clang-format off
    map(s, floats, sorted, MapFunction::copy);
    map(s, floats, doubles, MapFunction::copy);  // refused: map: in and out must have the same
    map(s, floats, floats, doubles, PairFunction::pow);  // refused: map: a, b and out must have the same
    map(s, floats, doubles, sorted, PairFunction::pow);  // refused: map: a, b and out must have the same
    map(s, doubles, sorted, one_more);  // refused: the element type of in must be that
    map(s, floats, doubles, one_more);  // refused: the element type of out must be
    add(s, floats, floats, doubles);  // refused: add: a, b and out must have the same
    add(s, floats, doubles);  // refused: add: a, b and out must have the same
    reduce(s, floats, doubles);  // refused: reduce: in and out must have the same
    reduce(s, floats, doubles, plus, 0.0f);  // refused: in, out and the operator must have
    scan(s, floats, words);  // refused: scan: in and out must have the same
    scan(s, doubles, doubles, plus, 0.0);  // refused: in, out and the operator must have
    sort(s, floats, doubles);  // refused: sort: in and out must have the same
    sort(s, floats, doubles, before);  // refused: in and out must have the same type
    sort(s, floats, doubles, one_more);  // refused: sort: in and out must have the same
    sort_pairs(s, floats, words, doubles, words);  // refused: keys_in and keys_out must have the same
    sort_pairs(s, floats, words, sorted, doubles);  // refused: values_in and values_out must have
    sort_pairs(s, floats, words, sorted, doubles, before);  // refused: values_in and values_out must have
    compact(s, floats, doubles, count, KeepRule::nonzero);  // refused: in and out must have the same element
    compact(s, floats, sorted, words, KeepRule::nonzero);  // refused: count must be of u64
    compact(s, floats, sorted, bytes, keeps);  // refused: count must be of u64
    partition(s, floats, bytes, count, KeepRule::nonzero);  // refused: in and out must have the same element
    histogram(s, floats, doubles, HistogramBins::even(0, 1));  // refused: counters must be u16, u32 or u64
    histogram(s, floats, bytes, bin);  // refused: counters must be u16, u32 or u64
    transpose(s, Matrix(floats, 4, 4), Matrix(doubles, 4, 4));  // refused: transpose: in and out must have
    matmul(s, Matrix(floats, 4, 4), Matrix(doubles, 4, 4));  // refused: matmul: a and b must have the same
    convolve(s, Matrix(words, 4, 4), ConvolveMask(), Matrix(floats, 4, 4));  // refused: the image must have
    stencil(s, Volume(floats, 1, 4, 4), star, Volume(doubles, 1, 4, 4));  // refused: stencil: in and out must
    evaluate(s, transform(plus, floats, constant(1.0f)), sorted);
    (void)transform(one_more, Array<f32>(s, 16));  // refused: an expression of a temporary array
    (void)gather(floats, Array<u32>(s, 16));  // refused: an expression of a temporary array
    (void)reversed(Array<i32>(s, 16));  // refused: an expression of a temporary array
    (void)convert<f64>(Array<i64>(s, 16));  // refused: an expression of a temporary array
    (void)zip(floats, Array<f32>(s, 16));  // refused: an expression of a temporary array
    (void)transform(plus, floats, 1.0f);  // refused: an expression is made of ranges
    (void)transform(plus, floats);  // refused: the function must have one unbound parameter for each
    (void)transform(plus, floats, constant(1.0));  // refused: must have the element types of the function
    (void)transform(one_more, doubles);  // refused: must have the element types of the function
    (void)transform(ReduceOp::sum, floats, doubles);  // refused: both sources must have one element type
    (void)transform(PairFunction::pow, doubles, constant(2.0f));  // refused: both sources must have one element
    (void)gather(floats, doubles);  // refused: the indices of gather are integers
    (void)convert<long double>(floats);  // refused: not an element type
    evaluate(s, reversed(floats), doubles);  // refused: the element type of out must be that
    reduce(s, reversed(floats), doubles);  // refused: reduce: in and out must have the same
    scan(s, reversed(floats), words);  // refused: scan: in and out must have the same
    sort(s, reversed(floats), doubles);  // refused: sort: in and out must have the same
    dot(s, floats, words, sorted);  // refused: both sources must have one element type
    argmin(s, floats, words);  // refused: argmin: out must be of u64
    sized(s, 9, Array<f64>(s, 9), Long{});
    const Array<Long> records(s, 2);
    (void)records.view();  // refused: a struct has more than 64 bytes
    distributed_reduce(ranks, s, floats, doubles);  // refused: distributed_reduce: in and out must
    distributed_scan(ranks, s, floats, doubles);  // refused: distributed_scan: in and out must
    distributed_sort(ranks, s, floats, doubles);  // refused: distributed_sort: in and out must
    distributed_histogram(ranks, s, floats, sorted, bin);  // refused: counters must be u16, u32 or u64
    // clang-format on
}
