// Array views: extents, strides, parts, broadcasts, and what they refuse.
#include "devices.hpp"

#include <concord/nd_span.hpp>

#include <limits>
#include <numeric>

using namespace concord;
using test::throws;

namespace {

// The elements in the order of their indices, the last axis fastest.
std::vector<i32> elements(Stream& stream, const NdView& t) {
    std::vector<i32> memory(t.range().count), list;
    if (t.size() == 0) return list;
    stream.read(memory.data(), *t.range().buffer, t.range().offset, t.range().bytes());
    stream.synchronize();
    for (u64 i = 0; i < t.size(); ++i) {
        u64 at = t.origin(), rest = i;
        for (u32 k = t.rank(); k-- > 0; rest /= t.extent(k))
            at += rest % t.extent(k) * static_cast<u64>(t.stride(k));
        REQUIRE(at < memory.size());
        list.push_back(memory[at]);
    }
    return list;
}

Array<i32> counting(Stream& stream, u64 n) {
    std::vector<i32> values(n);
    std::iota(values.begin(), values.end(), 0);
    return {stream, values};
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(array_views_are_contiguous_by_default) {
    const Array<i32> x = counting(stream, 30);
    const NdSpan t(x, {2, 3, 4});
    static_assert(std::is_same_v<decltype(t), const NdSpan<i32>>);
    CHECK(t.rank() == 3);
    CHECK(t.extents() == NdExtents{2, 3, 4});
    CHECK(t.strides() == NdStrides{12, 4, 1});
    CHECK(t.size() == 24);
    CHECK(t.is_contiguous());
    CHECK(t.is_unique());
    CHECK(t.view().range().count == 24);
    const NdSpan<const i32> constant = t;
    CHECK(constant.extent(2) == 4);
    static_assert(OutputNdRange<NdSpan<i32>> && !OutputNdRange<NdSpan<const i32>>);
    static_assert(NdRange<Matrix<i32>> && NdRange<Volume<const i32>> && !NdRange<Array<i32>>);
    const NdSpan scalar(x, {});
    CHECK(scalar.rank() == 0);
    CHECK(scalar.size() == 1);
    CHECK(scalar.is_contiguous());
    CHECK(elements(stream, scalar.view()) == std::vector<i32>{0});
    const NdSpan large(x, {1, 2, 1, 2, 1, 2, 1, 2});
    CHECK(large.rank() == max_rank);
    CHECK(large.size() == 16);
    CHECK(NdSpan<f32>().size() == 0);
    CHECK(NdSpan(x, {5, 0, 7}).size() == 0);
    CHECK(NdSpan(x, {5, 0, 7}).is_contiguous());
}

STREAM_TEST(array_views_have_views_of_their_elements) {
    const Array<i32> x = counting(stream, 24);
    const NdSpan t(x, {2, 3, 4});
    const auto list = [&](const NdSpan<i32>& of) { return elements(stream, of.view()); };
    CHECK(list(t.part(1, 1, 2).part(2, 3, 1)) == std::vector<i32>{7, 11, 19, 23});
    CHECK(list(t.part(0, 1, 1).part(-2, 2, 1)) == std::vector<i32>{20, 21, 22, 23});
    CHECK(t.part(0, 1, 1).part(-2, 2, 1).view().range().offset == 20 * sizeof(i32));
    CHECK(t.part(0, 2, 0).size() == 0);
    CHECK(list(t.part(0, 0, 1).part(1, 0, 2).transposed()) == std::vector<i32>{0, 4, 1, 5, 2, 6, 3, 7});
    CHECK(t.transposed().extents() == NdExtents{4, 3, 2});
    CHECK(t.transposed().strides() == NdStrides{1, 4, 12});
    CHECK_FALSE(t.transposed().is_contiguous());
    CHECK(t.transposed().is_unique());
    CHECK(t.permuted({1, -1, 0}).extents() == NdExtents{3, 4, 2});
    CHECK(t.permuted({1, -1, 0}).strides() == NdStrides{4, 1, 12});
    const NdSpan line = t.part(0, 1, 1).part(1, 1, 1).permuted({2, 0, 1});
    CHECK(line.is_contiguous());
    CHECK(list(line.reversed(0)) == std::vector<i32>{19, 18, 17, 16});
    CHECK(list(line.reversed(0).reversed(0)) == std::vector<i32>{16, 17, 18, 19});
    CHECK(list(line.reversed(0).part(0, 1, 2)) == std::vector<i32>{18, 17});
    CHECK_FALSE(line.reversed(0).is_contiguous());
    CHECK(t.reversed(-1).reversed(0).view().origin() == 15);
    // The range may be longer, and element (0, ..., 0) anywhere in it.
    const NdSpan strided(x, {2, 3}, {-10, 3}, 12);
    CHECK(list(strided) == std::vector<i32>{12, 15, 18, 2, 5, 8});
    CHECK(strided.view().range().count == 17);
    CHECK(strided.view().range().offset == 2 * sizeof(i32));
    CHECK(strided.view().origin() == 10);
}

STREAM_TEST(array_views_broadcast_by_the_rules_of_numpy) {
    const Array<i32> x = counting(stream, 24);
    const NdSpan row(x, {3}), column(x, {2, 1});
    const auto list = [&](const NdSpan<i32>& of) { return elements(stream, of.view()); };
    CHECK(list(row.broadcast({2, 3})) == std::vector<i32>{0, 1, 2, 0, 1, 2});
    CHECK(list(column.broadcast({2, 3})) == std::vector<i32>{0, 0, 0, 1, 1, 1});
    CHECK(column.broadcast({5, 2, 0}).size() == 0);
    CHECK(list(NdSpan(x, {}).broadcast({2, 2})) == std::vector<i32>{0, 0, 0, 0});
    CHECK(row.broadcast({4, 1, 3}).strides() == NdStrides{0, 0, 1});
    CHECK(row.broadcast({1, 3}).is_unique());
    CHECK_FALSE(row.broadcast({2, 3}).is_unique());
    CHECK_FALSE(row.broadcast({2, 3}).is_contiguous());
    // Many more indices than elements.
    CHECK(NdSpan(x, {1}).broadcast({u64{1} << 40}).size() == u64{1} << 40);
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    refused("NdSpan::broadcast: array of 3 does not broadcast to the extents, got 3 x 4", [&] {
        (void)row.broadcast({3, 4});
    });
    refused("array of 2 x 1 does not broadcast to the extents, got 2", [&] { (void)column.broadcast({2}); });
    refused("array of 3 does not broadcast to the extents, got ()", [&] { (void)row.broadcast({}); });
    refused("exceeds 2^60 elements", [&] { (void)NdSpan(x, {1}).broadcast({u64{1} << 61}); });
}

STREAM_TEST(matrices_and_volumes_are_array_views) {
    const Array<i32> x = counting(stream, 60);
    const Matrix matrix(x, 3, 4, 5);
    const NdSpan t = matrix;
    CHECK(t.extents() == NdExtents{3, 4});
    CHECK(t.strides() == NdStrides{5, 1});
    CHECK(NdSpan(matrix.transposed()).strides() == NdStrides{1, 5});
    const Volume volume(x, 2, 3, 4, 5, 20);
    CHECK(NdSpan(volume).extents() == NdExtents{2, 3, 4});
    CHECK(NdSpan(volume).strides() == NdStrides{20, 5, 1});
    CHECK(NdSpan(volume.transposed()).strides() == NdStrides{20, 1, 5});
    CHECK(elements(stream, NdView(matrix.part(1, 1, 2, 2).view())) == std::vector<i32>{6, 7, 11, 12});
    CHECK(NdView(MatrixView{x.view(), 6, 10}).is_contiguous());
    CHECK(throws(ErrorCode::invalid_argument, "NdView: matrix of 6 x 11 needs 66 elements", [&] {
        NdView(MatrixView{x.view(), 6, 11});
    }));
}

STREAM_TEST(array_views_that_share_elements_are_not_unique) {
    const Array<i32> x = counting(stream, 60);
    CHECK(NdSpan(x, {3, 4}, {4, 1}).is_unique());
    CHECK(NdSpan(x, {3, 4}, {1, -3}, 9).is_unique());
    CHECK_FALSE(NdSpan(x, {3, 4}, {1, 2}).is_unique());
    CHECK_FALSE(NdSpan(x, {2, 2}, {1, -1}, 1).is_unique());
    CHECK(NdSpan(x, {1, 4}, {0, 2}).is_unique());
    CHECK_FALSE(NdSpan(x, {2}, {0}).is_unique());
    CHECK(NdSpan(x, {2, 0}, {0, 0}).is_unique());
    CHECK(overlap(NdSpan(x, {5}).view(), NdSpan(x, {2}, {3}, 4).view()));
    CHECK_FALSE(overlap(NdSpan(x, {4}).view(), NdSpan(x, {2}, {3}, 4).view()));
    CHECK_FALSE(overlap(NdSpan(x, {4}).view(), NdSpan(x, {0}).view()));
}

STREAM_TEST(array_views_that_do_not_fit_are_refused) {
    const Array<i32> x = counting(stream, 24);
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    constexpr i64 least = std::numeric_limits<i64>::min();
    refused("NdSpan: array of 5 x 5 needs 25 elements, got a range of 24", [&] { NdSpan(x, {5, 5}); });
    refused("NdSpan: array of 2 x 3 with strides (13, 6) needs 26 elements, got a range of 24", [&] {
        NdSpan(x, {2, 3}, {13, 6});
    });
    refused(
        "NdSpan: array of 2 x 3 with strides (-13, 1) and origin 12 begins before its range; needs an "
        "origin of at least 13, got 12",
        [&] {
            NdSpan(x, {2, 3}, {-13, 1}, 12);
        });
    refused("NdSpan: array of 2 with origin 23 needs 25 elements", [&] { NdSpan(x, {2}, {1}, 23); });
    refused("NdSpan: extents and strides differ in number, got 2 extents and 1 strides", [&] {
        NdSpan(x, {2, 2}, {1});
    });
    refused("exceeds 2^60 elements", [&] { NdSpan(x, {u64{1} << 32, u64{1} << 32}); });
    refused("exceeds 2^60 elements", [&] { NdSpan(x, {2}, {least}); });
    refused("exceeds 2^60 elements", [&] { NdSpan(x, {2}, {least + 1}, 5); });
    refused("exceeds 2^60 elements", [&] { NdSpan(x, {3, 3}, {i64{1} << 62, i64{1} << 62}); });
    refused("needs more than 2^64 elements", [&] { NdSpan(x, {3}, {1}, ~u64{0}); });
    refused("NdSpan: negative extent, got -3", [&] { NdSpan(x, {2, -3}); });
    refused("NdSpan: too many axes, got 9; at most 8 are supported",
            [] { NdExtents(std::span<const u64>(std::vector<u64>(9))); });
    // Of one index the stride does not matter.
    CHECK(NdSpan(x, {1}, {least}).reversed(0).size() == 1);
    const NdSpan t(x, {2, 3});
    refused("NdSpan::part: indices out of range, got [2, 2 + 2); axis 1 has 3",
            [&] { (void)t.part(-1, 2, 2); });
    refused("NdSpan::part: indices out of range, got [1, 1 + 18446744073709551615)",
            [&] { (void)t.part(0, 1, ~u64{0}); });
    refused("NdSpan::part: axis out of range, got 2; the array view has rank 2, axes -2 to 1",
            [&] { (void)t.part(2, 0, 1); });
    refused("NdSpan::reversed: axis out of range, got -3", [&] { (void)t.reversed(-3); });
    refused("NdSpan::reversed: axis out of range, got 0; the array view has rank 0",
            [&] { (void)NdSpan(x, {}).reversed(0); });
    refused("NdSpan::permuted: expected each axis once, got 1 axes; the array view has rank 2",
            [&] { (void)t.permuted({0}); });
    refused("NdSpan::permuted: repeated axis, got -1 (axis 1); name each axis once", [&] {
        (void)t.permuted({1, -1});
    });
    refused("Span: wrong element type, got a view of i32; expected f32", [&] { NdSpan<f32>(t.view()); });
}

TEST_SUITE_END();
