// Calls without an output give the result of the call with one, as a new array or a future.
#include "devices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace concord;
using test::random_values;
using test::throws;

namespace {

CONCORD_FUNCTION(i32, form_increment, (i32 x), return x + 1;)
CONCORD_FUNCTION(i32, form_product, (i32 x, i32 y), return x * y;)
CONCORD_FUNCTION(i32, form_sum, (i32 x, i32 y), return x + y;)
CONCORD_FUNCTION(u8, form_is_odd, (i32 x), return (u8)((x & 1) * 2);)
CONCORD_FUNCTION(u32, form_last_digit, (i32 x), return (u32)(x < 0 ? -x : x) % 10u;)
CONCORD_FUNCTION(u8, form_greater, (i32 x, i32 y), return x > y ? 1 : 0;)

std::vector<i32> small_values(u64 n) {
    std::vector<i32> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<i32>(i * 7919 % 1009) - 500;
    return values;
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(elementwise_calls_return_arrays) {
    const std::vector<i32> x = small_values(1000);
    const Array<i32> in(stream, x);
    std::vector<i32> negative(x), next(x), squares(x), twice(x), running(x);
    for (u64 i = 0; i < x.size(); ++i)
        negative[i] = -x[i], next[i] = x[i] + 1, squares[i] = x[i] * x[i], twice[i] = 2 * x[i];
    std::partial_sum(x.begin(), x.end(), running.begin());
    CHECK(map(stream, in, MapFunction::negate).to_host(stream) == negative);
    CHECK(map(stream, in, form_increment).to_host(stream) == next);
    CHECK(map(stream, in, in, form_product).to_host(stream) == squares);
    CHECK(add(stream, in, in).to_host(stream) == twice);
    CHECK(scan(stream, in).to_host(stream) == running);
    CHECK(scan(stream, in, form_sum, 0).to_host(stream) == running);
    CHECK(map(stream, in.span().part(3, 0), form_increment).size() == 0);
    static_assert(std::is_same_v<decltype(map(stream, in, form_is_odd)), Array<u8>>);
}

STREAM_TEST(reductions_return_futures) {
    const std::vector<i32> x = small_values(1001);
    const Array<i32> in(stream, x), none(stream, 0);
    CHECK(sum(stream, in).get() == std::accumulate(x.begin(), x.end(), 0));
    CHECK(min(stream, in).get() == *std::min_element(x.begin(), x.end()));
    CHECK(max(stream, in).get() == *std::max_element(x.begin(), x.end()));
    CHECK(reduce(stream, in, form_sum, 0).get() == std::accumulate(x.begin(), x.end(), 0));
    CHECK(reduce(stream, in.span().part(0, 2), ReduceOp::product).get() == x[0] * x[1]);
    CHECK(sum(stream, none).get() == 0);
    CHECK(max(stream, none).get() == std::numeric_limits<i32>::min());
    const f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinity = std::numeric_limits<f32>::infinity();
    const Array<f32> floats(stream, {1.0F, nan, 2.0F});
    CHECK(std::isnan(min(stream, floats).get()));
    CHECK(max(stream, floats.span().part(0, 0)).get() == -infinity);
    CHECK(min(stream, floats.span().part(0, 0)).get() == infinity);
}

STREAM_TEST(results_for_the_host_are_not_recorded) {
    const Array<i32> in(stream, small_values(100));
    const auto refused = [&](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::unsupported, words, f));
    };
    stream.begin_recording();
    refused("reduce: a result for the host cannot be recorded; use the form with an output range",
            [&] { (void)sum(stream, in); });
    refused("count_if: a result for the host", [&] { (void)count_if(stream, in, KeepRule::odd); });
    refused("compact: a result for the host", [&] { (void)compact(stream, in, KeepRule::odd); });
    refused("partition: a result for the host", [&] { (void)partition(stream, in, KeepRule::odd); });
    refused("unique: a result for the host", [&] { (void)unique(stream, in); });
    refused("run_length_encode: a result for the host", [&] { (void)run_length_encode(stream, in); });
    refused("reduce_by_key: a result for the host", [&] { (void)reduce_by_key(stream, in, in); });
    const Array<i32> sums = scan(stream, in);
    const auto recording = stream.end_recording();
    recording->replay(stream);
    CHECK(sums.to_host(stream) == scan(stream, in).to_host(stream));
}

STREAM_TEST(orderings_return_arrays) {
    const std::vector<i32> x = small_values(3000);
    const Array<i32> in(stream, x);
    std::vector<i32> sorted = x, falling = x;
    std::sort(sorted.begin(), sorted.end());
    std::sort(falling.rbegin(), falling.rend());
    CHECK(sort(stream, in).to_host(stream) == sorted);
    CHECK(sort(stream, in, {.order = SortOrder::descending}).to_host(stream) == falling);
    CHECK(sort(stream, in, form_greater).to_host(stream) == falling);
    const auto [keys, values] = sort_pairs(stream, in, in);
    CHECK(keys.to_host(stream) == sorted);
    CHECK(values.to_host(stream) == sorted);
    std::vector<i32> odd, parted;
    std::copy_if(x.begin(), x.end(), std::back_inserter(odd), [](i32 value) { return value & 1; });
    parted = odd;
    std::copy_if(x.begin(), x.end(), std::back_inserter(parted), [](i32 value) { return !(value & 1); });
    CHECK(compact(stream, in, form_is_odd).to_host(stream) == odd);
    CHECK(compact(stream, in, KeepRule::odd).to_host(stream) == odd);
    const auto [all, first] = partition(stream, in, form_is_odd);
    CHECK(first.get() == odd.size());
    CHECK(all.to_host(stream) == parted);
    CHECK(count_if(stream, in, form_is_odd).get() == odd.size());
    CHECK(count_if(stream, in.span().part(0, 0), KeepRule::odd).get() == 0);
    std::vector<u64> digits(10);
    for (const i32 value : x)
        ++digits[static_cast<u64>(std::abs(value)) % 10];
    CHECK(histogram(stream, in, 10, form_last_digit).to_host(stream) == digits);
    CHECK(histogram<u32>(stream, in, 4, HistogramBins::even(-500, 500)).size() == 4);
}

// More elements than the scratch memory of a count.
STREAM_TEST(long_ranges_are_counted_in_parts) {
    constexpr u64 n = (u64{1} << 25) + 12345;
    const Array<u8> in(device, n);
    const u8 pattern[] = {1, 0, 2, 3};
    static_assert(n % 4 == 1);
    stream.fill(*in.buffer(), 0, n - 1, pattern, sizeof pattern);
    stream.fill(*in.buffer(), n - 1, 1, pattern, 1);
    CHECK(count_if(stream, in, KeepRule::nonzero).get() == n / 4 * 3 + 1);
}

STREAM_TEST(matrix_calls_return_arrays) {
    const auto x = random_values<f32>(20 * 30), y = random_values<f32>(30 * 10, 2);
    const Array<f32> in(stream, x), other(stream, y);
    const Matrix a(in, 20, 30), b(other, 30, 10);
    const Array<f32> turned(stream, x.size()), product(stream, 20 * 10), filtered(stream, x.size()),
        stepped(stream, x.size());
    const std::vector<f32> mask(9, 0.25F);
    transpose(stream, a, Matrix(turned, 30, 20));
    matmul(stream, a, b, Matrix(product, 20, 10));
    convolve(stream, a, ConvolveMask(mask, 3, 3), Matrix(filtered, 20, 30), ConvolveBorder::clamp);
    stencil(stream, Volume(in, 2, 10, 30), {0.5, 0.25}, Volume(stepped, 2, 10, 30), 3);
    CHECK(transpose(stream, a).to_host(stream) == turned.to_host(stream));
    CHECK(matmul(stream, a, b).to_host(stream) == product.to_host(stream));
    CHECK(matmul(stream, Matrix(turned, 30, 20).transposed(), b).to_host(stream) == product.to_host(stream));
    CHECK(matmul(stream, Volume(in, 2, 10, 30), b).to_host(stream) == product.to_host(stream));
    CHECK(convolve(stream, a, ConvolveMask(mask, 3, 3), ConvolveBorder::clamp).to_host(stream) ==
          filtered.to_host(stream));
    CHECK(stencil(stream, Volume(in, 2, 10, 30), {0.5, 0.25}, 3).to_host(stream) == stepped.to_host(stream));
}

TEST_SUITE_END();
