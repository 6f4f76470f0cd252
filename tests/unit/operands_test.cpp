// Every public call checks its operands: each one too short, at an offset that wraps, of another device, read-only,
// page-locked, without a buffer, overlapping another one, and empty. A public function or member that is in none of the
// lists below fails.
#include "devices.hpp"

#include <concord/text_kernel.hpp>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <set>

using namespace concord;
using test::throws;

namespace {

CONCORD_KERNEL(operands_kernel, (u64 i, f32* x, const f32* y), x[i] = y[i];)
// clang-format off
CONCORD_GROUP_KERNEL(operands_group, (64), (f32* x, const f32* y, u64 n),
                     CONCORD_STRIDED((i, 0, n)) { x[i] = y[i]; })
// clang-format on
CONCORD_KERNEL(operands_kernel_if, (u64 i, f32* x, const f32* y, u32 reads), x[i] = reads != 0 ? y[i] : 2;)
CONCORD_KERNEL(operands_volume, (u64 i, u64 j, u64 k, f32* x, const f32* y), x[i + j + k] = y[i];)
CONCORD_FUNCTION(f32, operands_twice, (f32 x), return 2 * x;)
CONCORD_FUNCTION(f32, operands_plus, (f32 x, f32 y), return x + y;)
CONCORD_FUNCTION(u8, operands_positive, (f32 x), return x > 0 ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(u8, operands_less, (f32 x, f32 y), return x < y ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(u32, operands_bin, (f32 x), return x > 0 ? 1u : 0u;)
CONCORD_FUNCTION(void, operands_both, (f32 x, f32* y, f32* z), *y = x; *z = -x;)

void copy_element(u64 i, f32* x, const f32* y) {
    x[i] = y[i];
}

// A range of any view, which Span would check.
template <class T>
struct Raw {
    using Element = T;
    View range;
    View view() const { return range; }
};
using Floats = Raw<f32>;

// The same for an array view.
struct RawNd {
    using Element = f32;
    NdView tensor;
    NdView view() const { return tensor; }
};

enum class Use : u8 { in, out };
enum class Overlap : u8 { refused, allowed };
// What a call does with ranges without elements and buffer.
enum class Empty : u8 { accepted, refused, not_a_view };

constexpr u64 side = 4, n = side * side;

struct Operand {
    Use use = Use::in;
    u64 count = n;
    Type type = Type::f32;
};
using Views = std::span<const View>;
struct Call {
    std::string name;  // in public_names.txt
    std::vector<Operand> operands;
    std::function<void(Stream&, Views)> run;
    Empty empty = Empty::accepted;
    Overlap overlap = Overlap::refused;
    bool takes_host_buffers = false;
};

MatrixView square(const View& view) {
    const u64 length = view.count == 0 ? 0 : side;
    return {.range = view, .rows = length, .columns = length};
}
NdView table(const View& view) {
    return {view, {view.count == 0 ? 0 : side, side}};
}
VolumeView plane(const View& view) {
    return {.range = view, .depth = view.count == 0 ? 0u : 1u, .rows = side, .columns = side};
}

// A call of one rank.
template <class F>
std::function<void(Stream&, Views)> on_a_rank(F f) {
    return [f](Stream& stream, Views v) {
        run_on_devices({stream.device().shared_from_this()},
                       [&](Communicator& ranks, Stream& own) { f(ranks, own, v); });
    };
}

void add_algorithms(std::vector<Call>& calls) {
    static const f32 mask[9] = {};
    static const StarCoefficients star{1, 1};
    const Operand in{}, out{.use = Use::out}, one{Use::out, 1}, count{Use::out, 1, Type::u64},
        counters{Use::out, n, Type::u32}, flag{Use::in, n, Type::u8};
    const auto in_out = std::vector{in, out};
    const auto add_call = [&](const char* name, const std::vector<Operand>& operands,
                              std::function<void(Stream&, Views)> run, Empty empty = Empty::accepted) {
        calls.push_back({name, operands, std::move(run), empty});
    };
    add_call("map", in_out, [](Stream& s, Views v) { map(s, v[0], v[1], MapFunction::copy); });
    add_call("map", {in, in, out}, [](Stream& s, Views v) { map(s, v[0], v[1], v[2], PairFunction::pow); });
    add_call("map", in_out, [](Stream& s, Views v) { map(s, Floats{v[0]}, Floats{v[1]}, operands_twice); });
    add_call("map", {in, in, out},
             [](Stream& s, Views v) { map(s, Floats{v[0]}, Floats{v[1]}, Floats{v[2]}, operands_plus); });
    add_call("map", {in, in, out}, [](Stream& s, Views v) {
        map(s, inputs(Floats{v[0]}, Floats{v[1]}), outputs(Floats{v[2]}), operands_plus);
    });
    add_call("map", {in, out, out}, [](Stream& s, Views v) {
        map(s, inputs(Floats{v[0]}), outputs(Floats{v[1]}, Floats{v[2]}), operands_both);
    });
    add_call("evaluate", in_out,
             [](Stream& s, Views v) { evaluate(s, transform(operands_twice, Floats{v[0]}), Floats{v[1]}); });
    add_call("evaluate", {in, in, out}, [](Stream& s, Views v) {
        evaluate(s, transform(operands_plus, Floats{v[0]}, reversed(Floats{v[1]})), Floats{v[2]});
    });
    add_call("fill", {out}, [](Stream& s, Views v) { fill(s, v[0], 1.0f); });
    add_call("iota", {out}, [](Stream& s, Views v) { iota(s, Floats{v[0]}); });
    add_call("random", {out}, [](Stream& s, Views v) { random(s, v[0], Distribution::normal, 1); });
    add_call("add", {in, in, out}, [](Stream& s, Views v) { add(s, v[0], v[1], v[2]); });
    add_call("reduce", {in, one}, [](Stream& s, Views v) { reduce(s, v[0], v[1]); });
    add_call("reduce", {in, one},
             [](Stream& s, Views v) { reduce(s, Floats{v[0]}, Floats{v[1]}, operands_plus, 0); });
    add_call("reduce", {in, {Use::out, side}},
             [](Stream& s, Views v) { reduce(s, table(v[0]), NdView(v[1], {side}), ReduceOp::sum, 0); });
    add_call("reduce", {in, {Use::out, side}}, [](Stream& s, Views v) {
        reduce(s, RawNd{table(v[0])}, RawNd{NdView(v[1], {side})}, operands_plus, 0, 0);
    });
    const Operand offsets{Use::in, side + 1, Type::u32}, sums{Use::out, side};
    add_call("segmented_reduce", {in, offsets, sums},
             [](Stream& s, Views v) { segmented_reduce(s, v[0], v[1], v[2]); });
    add_call("segmented_reduce", {in, offsets, sums}, [](Stream& s, Views v) {
        segmented_reduce(s, transform(operands_twice, Floats{v[0]}), Raw<u32>{v[1]}, Floats{v[2]},
                         operands_plus, 0);
    });
    add_call("segmented_sort", {in, offsets, out},
             [](Stream& s, Views v) { segmented_sort(s, v[0], v[1], v[2]); });
    add_call("segmented_sort_pairs", {in, in, offsets, out, out}, [](Stream& s, Views v) {
        segmented_sort_pairs(s, v[0], v[1], v[2], v[3], v[4], {.nan = NanOrder::last});
    });
    add_call("reduce_by_key", {in, in, out, out, count},
             [](Stream& s, Views v) { reduce_by_key(s, v[0], v[1], v[2], v[3], v[4]); });
    add_call("reduce_by_key", {in, in, out, out, count}, [](Stream& s, Views v) {
        reduce_by_key(s, Floats{v[0]}, transform(operands_twice, Floats{v[1]}), Floats{v[2]}, Floats{v[3]},
                      Raw<u64>{v[4]}, operands_plus, 0);
    });
    add_call("segmented_scan", {in, offsets, out},
             [](Stream& s, Views v) { segmented_scan(s, v[0], v[1], v[2]); });
    add_call("segmented_scan", {in, offsets, out}, [](Stream& s, Views v) {
        segmented_scan(s, transform(operands_twice, Floats{v[0]}), Raw<u32>{v[1]}, Floats{v[2]},
                       operands_plus, 0);
    });
    add_call("scan_by_key", {in, in, out}, [](Stream& s, Views v) { scan_by_key(s, v[0], v[1], v[2]); });
    add_call("sum", {in}, [](Stream& s, Views v) { (void)sum(s, Floats{v[0]}).get(); });
    add_call("sum", {in}, [](Stream& s, Views v) { (void)sum(s, RawNd{table(v[0])}, 0).to_host(s); });
    add_call("min", {in}, [](Stream& s, Views v) { (void)concord::min(s, Floats{v[0]}).get(); });
    add_call("max", {in}, [](Stream& s, Views v) { (void)concord::max(s, Floats{v[0]}).get(); });
    const Operand truth{Use::out, 1, Type::boolean};
    add_call("any", {in, truth}, [](Stream& s, Views v) { any(s, Floats{v[0]}, Raw<bool>{v[1]}); });
    add_call("all", {in, truth}, [](Stream& s, Views v) { all(s, Floats{v[0]}, Raw<bool>{v[1]}); });
    add_call("reduce", {in, one},
             [](Stream& s, Views v) { reduce(s, transform(operands_twice, Floats{v[0]}), Floats{v[1]}); });
    add_call("dot", {in, in, one},
             [](Stream& s, Views v) { dot(s, Floats{v[0]}, Floats{v[1]}, Floats{v[2]}); });
    add_call("norm", {in, one}, [](Stream& s, Views v) { norm(s, Floats{v[0]}, Floats{v[1]}); });
    add_call("mean", {in, one}, [](Stream& s, Views v) { mean(s, Floats{v[0]}, Floats{v[1]}); });
    add_call("variance", {in, one}, [](Stream& s, Views v) { variance(s, Floats{v[0]}, Floats{v[1]}); });
    add_call("standard_deviation", {in, one},
             [](Stream& s, Views v) { standard_deviation(s, Floats{v[0]}, Floats{v[1]}); });
    for (const bool largest : {false, true}) {
        add_call(
            largest ? "argmax" : "argmin", {in, count},
            [largest](Stream& s, Views v) {
                const Raw<u64> index{v[1]};
                largest ? argmax(s, Floats{v[0]}, index) : argmin(s, Floats{v[0]}, index);
            },
            Empty::refused);
        add_call(
            largest ? "argmax" : "argmin", {in, count, one},
            [largest](Stream& s, Views v) {
                const Raw<u64> index{v[1]};
                const Floats value{v[2]};
                largest ? argmax(s, Floats{v[0]}, index, value) : argmin(s, Floats{v[0]}, index, value);
            },
            Empty::refused);
        add_call(
            largest ? "argmax_with_value" : "argmin_with_value", {in},
            [largest](Stream& s, Views v) {
                const auto found =
                    largest ? argmax_with_value(s, Floats{v[0]}) : argmin_with_value(s, Floats{v[0]});
                (void)found.value.get();
            },
            Empty::refused);
    }
    add_call("scan", in_out, [](Stream& s, Views v) { scan(s, v[0], v[1]); });
    add_call("scan", in_out,
             [](Stream& s, Views v) { scan(s, transform(operands_twice, Floats{v[0]}), Floats{v[1]}); });
    add_call("scan", in_out,
             [](Stream& s, Views v) { scan(s, Floats{v[0]}, Floats{v[1]}, operands_plus, 0); });
    add_call("histogram", {in, counters},
             [](Stream& s, Views v) { histogram(s, v[0], v[1], HistogramBins::even(0, 1)); });
    add_call("histogram", {in, counters},
             [](Stream& s, Views v) { histogram(s, Floats{v[0]}, Raw<u32>{v[1]}, operands_bin); });
    add_call("compact", {in, out, count},
             [](Stream& s, Views v) { compact(s, v[0], v[1], v[2], KeepRule::positive); });
    add_call("compact", {in, out, count}, [](Stream& s, Views v) {
        compact(s, Floats{v[0]}, Floats{v[1]}, Raw<u64>{v[2]}, operands_positive);
    });
    add_call(
        "compact", {in, flag, out, count},
        [](Stream& s, Views v) { compact(s, Floats{v[0]}, Raw<u8>{v[1]}, Floats{v[2]}, Raw<u64>{v[3]}); },
        Empty::refused);  // flags of another size
    add_call("partition", {in, out, count},
             [](Stream& s, Views v) { partition(s, v[0], v[1], v[2], KeepRule::positive); });
    add_call(
        "partition", {in, flag, out, count},
        [](Stream& s, Views v) { partition(s, Floats{v[0]}, Raw<u8>{v[1]}, Floats{v[2]}, Raw<u64>{v[3]}); },
        Empty::refused);  // flags of another size
    add_call("unique", {in, out, count}, [](Stream& s, Views v) { unique(s, v[0], v[1], v[2]); });
    add_call("unique", {in, out, count}, [](Stream& s, Views v) {
        unique(s, transform(operands_twice, Floats{v[0]}), Floats{v[1]}, Raw<u64>{v[2]});
    });
    const Operand lengths{Use::out, n, Type::u64};
    add_call("run_length_encode", {in, out, lengths, count},
             [](Stream& s, Views v) { run_length_encode(s, v[0], v[1], v[2], v[3]); });
    add_call("run_length_encode", {in, out, lengths, count}, [](Stream& s, Views v) {
        run_length_encode(s, transform(operands_twice, Floats{v[0]}), Floats{v[1]}, Raw<u64>{v[2]},
                          Raw<u64>{v[3]});
    });
    add_call("count_if", {in},
             [](Stream& s, Views v) { (void)count_if(s, Floats{v[0]}, KeepRule::positive).get(); });
    add_call("sort", in_out, [](Stream& s, Views v) { sort(s, v[0], v[1]); });
    add_call("sort", in_out, [](Stream& s, Views v) { sort(s, Floats{v[0]}, Floats{v[1]}, operands_less); });
    add_call("sort", in_out, [](Stream& s, Views v) { sort(s, Floats{v[0]}, Floats{v[1]}, operands_twice); });
    add_call("sort_pairs", {in, in, out, out},
             [](Stream& s, Views v) { sort_pairs(s, v[0], v[1], v[2], v[3]); });
    add_call("sort_pairs", {in, in, out, out},
             [](Stream& s, Views v) { sort_pairs(s, v[0], v[1], v[2], v[3], {.nan = NanOrder::last}); });
    add_call(
        "argsort", {in, counters}, [](Stream& s, Views v) { argsort(s, v[0], v[1]); }, Empty::refused);
    add_call("scan", in_out, [](Stream& s, Views v) { scan(s, table(v[0]), table(v[1]), ReduceOp::sum, 0); });
    add_call("scan", in_out, [](Stream& s, Views v) {
        scan(s, RawNd{table(v[0])}, RawNd{table(v[1])}, operands_plus, 0, 1);
    });
    add_call("sort", in_out, [](Stream& s, Views v) { sort(s, table(v[0]), table(v[1]), 1); });
    add_call(
        "argsort", {in, counters}, [](Stream& s, Views v) { argsort(s, table(v[0]), table(v[1]), 1); },
        Empty::refused);
    add_call("sort_pairs", {in, in, out, out}, [](Stream& s, Views v) {
        sort_pairs(s, table(v[0]), table(v[1]), table(v[2]), table(v[3]), 1);
    });
    // A count on the device: first_test.cpp has those that are wrong.
    const auto add_counted = [&](const char* name, const std::vector<Operand>& operands, auto run) {
        add_call(name, operands, [run](Stream& s, Views v) {
            const Array<u64> all(s, std::vector<u64>{v[0].count});
            run(s, first(Floats{v[0]}, all), v);
        });
    };
    add_counted("evaluate", in_out, [](Stream& s, auto x, Views v) { evaluate(s, x, Floats{v[1]}); });
    add_counted("reduce", {in, one}, [](Stream& s, auto x, Views v) { reduce(s, x, Floats{v[1]}); });
    add_counted("scan", in_out, [](Stream& s, auto x, Views v) { scan(s, x, Floats{v[1]}); });
    add_counted("sort", in_out, [](Stream& s, auto x, Views v) { sort(s, x, Floats{v[1]}); });
    add_counted("sort_pairs", {in, in, out, out}, [](Stream& s, auto x, Views v) {
        sort_pairs(s, x, Floats{v[1]}, Floats{v[2]}, Floats{v[3]});
    });
    add_counted("compact", {in, out, count}, [](Stream& s, auto x, Views v) {
        compact(s, x, Floats{v[1]}, Raw<u64>{v[2]}, operands_positive);
    });
    add_counted("unique", {in, out, count},
                [](Stream& s, auto x, Views v) { unique(s, x, Floats{v[1]}, Raw<u64>{v[2]}); });
    add_call("transpose", in_out, [](Stream& s, Views v) { transpose(s, square(v[0]), square(v[1])); });
    add_call("matmul", {in, in, out},
             [](Stream& s, Views v) { matmul(s, square(v[0]), square(v[1]), square(v[2])); });
    add_call("convolve", in_out, [](Stream& s, Views v) {
        convolve(s, square(v[0]), ConvolveMask(mask, 3, 3, Type::f32), square(v[1]));
    });
    add_call("stencil", in_out, [](Stream& s, Views v) { stencil(s, plane(v[0]), star, plane(v[1])); });
    add_call("stencil_box", in_out, [](Stream& s, Views v) {
        const u64 depth = v[0].count == 0 ? 0 : 1;
        stencil_box(s, plane(v[0]), star, plane(v[1]), {0, depth, 0, side});
    });
}

void add_kernels(std::vector<Call>& calls) {
    const std::vector<Operand> out_in{{.use = Use::out}, {}};
    calls.push_back({"IndexKernel::operator()", out_in,
                     [](Stream& s, Views v) { operands_kernel(s, {v[0].count}, v[0], v[1]); },
                     Empty::accepted, Overlap::allowed});
    calls.push_back({"GroupKernel::operator()", out_in,
                     [](Stream& s, Views v) { operands_group(s, 1, v[0], v[1], v[0].count); },
                     Empty::accepted, Overlap::allowed});
    const auto by_text = [](bool runs) {
        return [runs](Stream& s, Views v) {
            const TextKernel kernel =
                index_kernel_from_text("void copied(u64 i, f32* x, const f32* y) { x[i] = y[i]; }",
                                       index_host_kernel<&copy_element>());
            const TextKernel::Argument list[] = {v[0], v[1]};
            if (runs) {
                kernel.run(s, {v[0].count}, list);
            } else {
                kernel(s, {v[0].count}, v[0], v[1]);
            }
        };
    };
    calls.push_back({"TextKernel::operator()", out_in, by_text(false), Empty::accepted, Overlap::allowed});
    calls.push_back({"TextKernel::run", out_in, by_text(true), Empty::accepted, Overlap::allowed});
}

void add_ranges(std::vector<Call>& calls) {
    const Operand in{}, out{.use = Use::out};
    const auto add_call = [&](const char* name, const std::vector<Operand>& operands,
                              std::function<void(Stream&, Views)> run) {
        calls.push_back({name, operands, std::move(run), Empty::not_a_view});
    };
    static f32 host[n];
    add_call("Stream::write", {out},
             [](Stream& s, Views v) { s.write(*v[0].buffer, v[0].offset, host, v[0].bytes()); });
    add_call("Stream::read", {in}, [](Stream& s, Views v) {
        s.read(host, *v[0].buffer, v[0].offset, v[0].bytes());
        s.synchronize();
    });
    add_call("Stream::fill", {out},
             [](Stream& s, Views v) { s.fill(*v[0].buffer, v[0].offset, v[0].bytes(), host, 4); });
    add_call("Stream::copy", {out, in}, [](Stream& s, Views v) {
        s.copy(*v[0].buffer, v[0].offset, *v[1].buffer, v[1].offset, v[1].bytes());
    });
}

void add_ranks(std::vector<Call>& calls) {
    static const StarCoefficients star{1, 1};
    const Operand in{}, out{.use = Use::out}, one{Use::out, 1};
    const auto add_call = [&](const char* name, const std::vector<Operand>& operands, const auto& f,
                              Empty empty = Empty::accepted) {
        calls.push_back({name, operands, on_a_rank(f), empty});
    };
    using Ranks = Communicator;
    add_call("all_reduce", {out}, [](Ranks& r, Stream& s, Views v) { all_reduce(r, s, v[0]); });
    add_call("broadcast", {in}, [](Ranks& r, Stream& s, Views v) { broadcast(r, s, v[0], 0); });
    add_call("gather", {in, out}, [](Ranks& r, Stream& s, Views v) { gather(r, s, v[0], v[1], 0); });
    add_call("all_gather", {in, out}, [](Ranks& r, Stream& s, Views v) { all_gather(r, s, v[0], v[1]); });
    add_call("distributed_reduce", {in, one},
             [](Ranks& r, Stream& s, Views v) { distributed_reduce(r, s, v[0], v[1]); });
    add_call("distributed_scan", {in, out},
             [](Ranks& r, Stream& s, Views v) { distributed_scan(r, s, v[0], v[1]); });
    for (const Type type : {Type::u32, Type::u16}) {
        add_call("distributed_histogram", {in, {Use::out, n, type}}, [](Ranks& r, Stream& s, Views v) {
            distributed_histogram(r, s, v[0], v[1], HistogramBins::even(0, 1));
        });
    }
    add_call("distributed_sort", {in, out},
             [](Ranks& r, Stream& s, Views v) { distributed_sort(r, s, v[0], v[1]); });
    add_call("distributed_sort_pairs", {in, in, out, out},
             [](Ranks& r, Stream& s, Views v) { distributed_sort_pairs(r, s, v[0], v[1], v[2], v[3]); });
    add_call(
        "distributed_stencil", {in, out},
        [](Ranks& r, Stream& s, Views v) {
            distributed_stencil(r, s, v[0], star, v[1], {1, side, side});
        },
        Empty::refused);
    const auto volume = [](Ranks& r, Stream& s) {
        return std::make_unique<DistributedStencil>(r, s, Type::f32, VolumeExtents{1, side, side}, star);
    };
    add_call(
        "DistributedStencil::load", {in},
        [=](Ranks& r, Stream& s, Views v) {
            volume(r, s)->load(v[0]);
            s.synchronize();
        },
        Empty::refused);
    add_call(
        "DistributedStencil::store", {out},
        [=](Ranks& r, Stream& s, Views v) {
            volume(r, s)->store(v[0]);
            s.synchronize();
        },
        Empty::refused);
    // Rank 0 makes the call, and rank 1 its counterpart.
    const auto with_peer = [](const auto& mine, const auto& theirs) {
        return [=](Stream& stream, Views v) {
            const auto device = stream.device().shared_from_this();
            run_on_devices({device, device}, [&](Ranks& r, Stream& s) {
                if (r.rank() == 0) return mine(r, s, v);
                const Array<f32> a(s, v[0].count), b(s, v[0].count);
                const View other[] = {a.view(), b.view()};
                theirs(r, s, Views(other));
            });
        };
    };
    const auto exchange = [](Ranks& r, Stream& s, Views v) {
        const Message send{1 - r.rank(), v[0]}, receive{1 - r.rank(), v[1]};
        r.exchange(s, {&send, 1}, {&receive, 1});
        s.synchronize();
    };
    calls.push_back({"Communicator::exchange",
                     {in, out},
                     with_peer(exchange, exchange),
                     Empty::accepted,
                     Overlap::refused,
                     true});
    const auto receive = [](Ranks& r, Stream& s, Views v) {
        broadcast(r, s, v[0], 1);
        s.synchronize();
    };
    calls.push_back({"broadcast", {out}, with_peer(receive, receive)});
}

std::vector<Call> all_calls() {
    std::vector<Call> calls;
    add_algorithms(calls);
    add_kernels(calls);
    add_ranges(calls);
    add_ranks(calls);
    return calls;
}

// Calls whose device operands are ranges that constructors have checked, or which have none.
const std::set<std::string> checked_elsewhere = {
    "launch",          // launches_check_ranges, below
    "Stream::launch",  // likewise
    "from_dlpack",
    "to_dlpack",  // dlpack_test
    "clip",
    "convert",
    "first",
    "reversed",
    "strided",
    "transform",
    "where",
    "zip",      // parts of expressions, which evaluate checks
    "overlap",  // compares any views
    "pipeline_add",
    "pipeline_compact",
    "pipeline_histogram",
    "pipeline_map",
    "pipeline_reduce",
    "pipeline_scan",  // host memory
};
// Functions and members without operands.
const std::set<std::string> without_operands = {
    "accumulator_of", "adopt_device", "algorithms", "all_types", "assemble", "backend_libraries", "backends",
    "binary_function_named", "binary_predicate_named", "can_reach", "canonical_chunk", "canonical_depth",
    "canonical_part", "check", "constant", "convolve_border_named", "convolve_separates", "counting",
    "device_selectors", "dispatching_host_kernel", "distribution_named", "element_type_of", "find_algorithm",
    "find_tuning_table", "group_host_kernel", "group_kernel_from_text", "group_max", "group_min",
    "group_reduce", "group_sum", "has_nvtx", "host_isa", "host_kernel", "identity_of", "index_host_kernel",
    "index_kernel_from_text", "inputs", "is_boolean", "is_float", "is_storage", "is_unsigned",
    "keep_rule_named", "kind_of", "machine_isa", "map_function_named", "mpi_communicator", "name_of",
    "observe_launches", "open_device", "operation_order_named", "operator_from_text", "outputs",
    "pair_function_named", "part_of", "plain_host_kernel", "reduce_op_named", "run_on_devices",
    "set_log_level", "set_tuning", "size_of", "stencil_cut", "stencil_holding", "title_of", "tuning_folder",
    "tuning_of", "type_named", "type_of", "unary_predicate_named", "with_version", "workspace",
    "zero_counters",
    // members of the classes below
    "Stream::begin_recording", "Stream::callback", "Stream::device", "Stream::end_recording", "Stream::idle",
    "Stream::is_recording", "Stream::native_handle", "Stream::record", "Stream::scratch",
    "Stream::synchronize", "Stream::wait", "Communicator::all_fail", "Communicator::all_gather",
    "Communicator::barrier", "Communicator::fail", "Communicator::path_to", "Communicator::prepare",
    "Communicator::rank", "Communicator::size", "DistributedStencil::bytes_per_step",
    "DistributedStencil::cut", "DistributedStencil::holding", "DistributedStencil::local_variant",
    "DistributedStencil::messages_per_step", "DistributedStencil::run",
    "DistributedStencil::steps_per_exchange", "DistributedStencil::variant", "GroupKernel::check_orders",
    "GroupKernel::definition", "IndexKernel::definition", "IndexKernel::rank", "TextKernel::Argument",
    "TextKernel::Parameter", "TextKernel::definition", "TextKernel::name", "TextKernel::parameters",
    "TextKernel::rank", "TextKernel::signature"};

// Whether the list has a function that may take operands: a function of namespace concord, or a member of a class whose
// calls enqueue work.
bool may_take_operands(const std::string& name) {
    for (const char* owner : {"Stream::", "Communicator::", "DistributedStencil::", "GroupKernel::",
                              "IndexKernel::", "TextKernel::"}) {
        if (name.starts_with(owner)) return name.find("::", std::string(owner).size()) == std::string::npos;
    }
    return std::islower(static_cast<unsigned char>(name.front())) != 0 && !name.starts_with("operator ") &&
           name.find_first_of(":.") == std::string::npos;
}

bool is_constant(const std::string& name) {
    static const std::set<std::string> all = {"any_size",
                                              "f32x2",
                                              "f32x4",
                                              "f64x2",
                                              "f64x4",
                                              "i32x2",
                                              "i32x4",
                                              "u32x2",
                                              "u32x4",
                                              "u8x4",
                                              "backend_interface_version",
                                              "convolve_longest_side",
                                              "f32",
                                              "f64",
                                              "i16",
                                              "i32",
                                              "i64",
                                              "i8",
                                              "u16",
                                              "u32",
                                              "u64",
                                              "u8",
                                              "is_element",
                                              "is_writable_range",
                                              "all_host_isas",
                                              "all_convolve_borders",
                                              "all_keep_rules",
                                              "all_distributions",
                                              "all_map_functions",
                                              "all_binary_functions",
                                              "all_binary_predicates",
                                              "all_unary_predicates",
                                              "all_operation_orders",
                                              "all_pair_functions",
                                              "all_reduce_ops",
                                              "max_rank"};
    return all.contains(name) || (name.ends_with("_algorithm") && name != "find_algorithm");
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("the test of operands knows every public call") {
    const char* source = std::getenv("CONCORD_TEST_SOURCE");
    std::ifstream file(std::string(source == nullptr ? "." : source) + "/docs/public_names.txt");
    REQUIRE_MESSAGE(file, "CONCORD_TEST_SOURCE must be the folder of the source tree");
    std::set<std::string> covered, listed;
    for (const Call& call : all_calls())
        covered.insert(call.name);
    for (std::string name; std::getline(file, name);) {
        if (name.empty() || name.front() == '#' || !may_take_operands(name) || is_constant(name)) continue;
        listed.insert(name);
        const int lists = (covered.contains(name) ? 1 : 0) + (checked_elsewhere.contains(name) ? 1 : 0) +
                          (without_operands.contains(name) ? 1 : 0);
        CHECK_MESSAGE(lists == 1,
                      name << " is in " << lists << " lists of operands_test.cpp; add new calls to one");
    }
    for (const std::set<std::string>* list :
         {&std::as_const(covered), &checked_elsewhere, &without_operands}) {
        for (const std::string& name : *list)
            CHECK_MESSAGE(listed.contains(name), name << " is not a public name any more");
    }
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("device");

namespace {

// The buffers of a call's operands, and the calls with one of them changed.
class Trial {
  public:
    Trial(Stream& stream, const Call& call) : stream_(stream), call_(call) {
        for (const Operand& operand : call.operands)
            views_.push_back(place(stream.device(), operand, operand.count));
    }
    View place(Device& device, const Operand& operand, u64 count) {
        buffers_.push_back(device.allocate(count * size_of(operand.type)));
        const auto own = device.create_stream();
        const u8 zero = 0;
        own->fill(*buffers_.back(), 0, count * size_of(operand.type), &zero, 1);
        own->synchronize();
        return {buffers_.back().get(), 0, operand.count, operand.type};
    }
    void run(const std::vector<View>& views) {
        call_.run(stream_, views);
        stream_.synchronize();
    }
    std::vector<View> with(std::size_t i, const View& view) const {
        std::vector<View> changed = views_;
        changed[i] = view;
        return changed;
    }
    void refused(std::size_t i, const View& view, ErrorCode code, std::string_view words) {
        CAPTURE(std::string(words));
        CHECK(throws(code, words, [&] { run(with(i, view)); }));
    }
    const std::vector<View>& views() const { return views_; }

  private:
    Stream& stream_;
    const Call& call_;
    std::vector<std::shared_ptr<Buffer>> buffers_;
    std::vector<View> views_;
};

std::shared_ptr<Device> other_device(const Device& device) {
    for (const std::string& selector : device_selectors()) {
        if (selector.substr(0, selector.find(':')) != device.info().backend) return open_device(selector);
    }
    return nullptr;
}

// Adopted memory that must not be written; null where the device adopts none.
std::shared_ptr<Buffer> read_only(Device& device, std::vector<u64>& memory) {
    try {
        return device.adopt_host(
            {.handle = memory.data(), .bytes = memory.size() * sizeof(u64), .read_only = true});
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::unsupported);
        return nullptr;
    }
}

void check_overlaps(Trial& trial, const Call& call) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
        if (call.operands[i].use == Use::in) continue;
        for (std::size_t j = 0; j < call.operands.size(); ++j) {
            const Operand &a = call.operands[i], &b = call.operands[j];
            if (i == j || size_of(a.type) != size_of(b.type)) continue;
            CAPTURE(j);
            // The first element of one is the second one of the other, or the only one of both.
            const u64 shift = std::max(a.count, b.count) > 1 ? size_of(a.type) : 0;
            const View whole = trial.place(trial.views()[i].device(), a, a.count + b.count + 1);
            std::vector<View> views = trial.views();
            const bool is_short = a.count < b.count;
            views[i] = {whole.buffer, is_short ? shift : 0, a.count, a.type};
            views[j] = {whole.buffer, is_short ? 0 : shift, b.count, b.type};
            if (call.overlap == Overlap::allowed) {
                CHECK_NOTHROW(trial.run(views));
            } else {
                CHECK(throws(ErrorCode::invalid_argument, "overlap", [&] { trial.run(views); }));
            }
        }
    }
}

void check_call(Stream& stream, const Call& call, Device* other) {
    Device& device = stream.device();
    Trial trial(stream, call);
    CHECK_NOTHROW(trial.run(trial.views()));
    constexpr u64 sevens = u64{7} << 32 | 7;  // also offsets that ascend
    std::vector<u64> memory(n, sevens);
    const std::shared_ptr<Buffer> constant = read_only(device, memory);
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
        CAPTURE(i);
        const Operand& operand = call.operands[i];
        const View view = trial.views()[i];
        const u32 size = size_of(view.type);
        constexpr ErrorCode invalid = ErrorCode::invalid_argument;
        trial.refused(i, trial.place(device, operand, operand.count - 1), invalid,
                      "range exceeds the buffer");
        View changed = view;
        changed.offset = u64{0} - size;
        trial.refused(i, changed, invalid, "range exceeds the buffer");
        if (other != nullptr)
            trial.refused(i, trial.place(*other, operand, operand.count), ErrorCode::wrong_device,
                          other->info().selector);
        if (constant != nullptr) {
            changed = {constant.get(), constant->begin(), view.count, view.type};
            if (operand.use == Use::out) {
                trial.refused(i, changed, invalid, "read-only memory");
            } else {
                CHECK_NOTHROW(trial.run(trial.with(i, changed)));
            }
        }
        if (call.empty == Empty::not_a_view) continue;
        const auto locked = device.allocate_host(view.bytes());
        changed = {locked.get(), 0, view.count, view.type};
        if (call.takes_host_buffers) {
            CHECK_NOTHROW(trial.run(trial.with(i, changed)));
        } else {
            trial.refused(i, changed, invalid, "host buffer");
        }
        trial.refused(i, {nullptr, 0, view.count, view.type}, invalid, "range without a buffer");
    }
    check_overlaps(trial, call);
    if (call.empty == Empty::not_a_view) return;
    std::vector<View> empty = trial.views();
    for (View& view : empty) {
        if (view.count == n && view.type == Type::f32) view = {nullptr, 0, 0, view.type};
    }
    if (call.empty == Empty::accepted) {
        CHECK_NOTHROW(trial.run(empty));
    } else {
        CHECK(throws(ErrorCode::invalid_argument, "", [&] { trial.run(empty); }));
    }
    CHECK(memory == std::vector<u64>(n, sevens));
}

}  // namespace

STREAM_TEST(every_call_checks_its_operands) {
    const std::shared_ptr<Device> other = other_device(device);
    for (const Call& call : all_calls()) {
        CAPTURE(call.name);
        check_call(stream, call, other.get());
    }
}

namespace {

void touch(const Group& /*group*/, f32* x, u64 i) {
    if (i > 0) x[i - 1] = 1;
}
const KernelSource touch_source(
    "touch",
    {CONCORD_SOURCE(R"(extern "C" __global__ void touch(f32* x, u64 i) { if (i > 0) x[i - 1] = 1; })")},
    {CONCORD_SOURCE(
        R"(__kernel void touch(__global f32* x, ulong at, u64 i) { if (i > 0) x[at + i - 1] = 1; })")});

}  // namespace

STREAM_TEST(launches_check_ranges) {
    const auto kernel =
        device.kernel({.source = &touch_source, .entry = "touch", .host = host_kernel<&touch>()});
    const auto buffer = device.allocate(n * sizeof(f32));
    const auto run = [&](const View& view) {
        launch(stream, *kernel, LaunchShape::linear(1, 1), view, u64{0});
        stream.synchronize();
    };
    const View whole{buffer.get(), 0, n, Type::f32};
    CHECK_NOTHROW(run(whole));
    CHECK_NOTHROW(run(whole.part(n, 0)));
    const View bad[] = {{buffer.get(), 0, n + 1, Type::f32},
                        {buffer.get(), 4, n, Type::f32},
                        {buffer.get(), 0, u64{1} << 62, Type::f32},
                        {buffer.get(), 4, ~u64{0}, Type::f32},
                        {buffer.get(), u64{0} - 4, 1, Type::f32}};
    for (const View& view : bad) {
        CAPTURE(view.offset);
        CAPTURE(view.count);
        CHECK(throws(ErrorCode::invalid_argument, "range exceeds the buffer", [&] { run(view); }));
    }
}

STREAM_TEST(kernels_take_empty_ranges_next_to_others) {
    // As the column indices of a sparse matrix without entries.
    const Array<f32> x(stream, std::vector<f32>(n, 5)), none;
    for (const View& empty : {none.view(), View{x.buffer().get(), 0, 0, Type::f32}}) {
        operands_kernel_if(stream, {n}, x, empty, u32{0});
        CHECK(x.to_host(stream) == std::vector<f32>(n, 2));
        map(stream, x, x, operands_twice);
    }
}

STREAM_TEST(index_spaces_have_a_limit) {
    const Array<f32> x(stream, 1), y(stream, 1);
    constexpr u64 half = u64{1} << 32;
    const auto refused = [&](const Extents<3>& extents) {
        CHECK(throws(ErrorCode::invalid_argument, "the limit is 2^63 - 1",
                     [&] { operands_volume(stream, extents, x, y); }));
    };
    refused({half, half, 1});
    refused({1, u64{1} << 63, 1});
    refused({~u64{0}, ~u64{0}, ~u64{0}});
    CHECK_NOTHROW(operands_volume(stream, {~u64{0}, 0, ~u64{0}}, x, y));
}

STREAM_TEST(names_of_kernels_have_a_limit) {
    const Array<f32> x(stream, std::vector<f32>(n, 5)), y(stream, std::vector<f32>(n, 6));
    const auto named = [&](std::size_t length) {
        return index_kernel_from_text(
            "void " + std::string(length, 'a') + "(u64 i, f32* x, const f32* y) { x[i] = y[i]; }",
            index_host_kernel<&copy_element>());
    };
    named(200)(stream, {n}, x, y);
    CHECK(x.to_host(stream) == std::vector<f32>(n, 6));
    for (const std::size_t length : {201, 260, 4000}) {
        CHECK(throws(ErrorCode::invalid_argument, "got " + std::to_string(length) + " characters",
                     [&] { named(length)(stream, {n}, x, y); }));
    }
}

STREAM_TEST(memory_that_is_adopted_twice_is_not_input_and_output_of_a_kernel) {
    REQUIRES(device.traits().shares_host_memory, test::needs::host_memory);
    std::vector<f32> memory(n);
    const auto first = Array<f32>::borrow(device, std::span(memory)),
               second = Array<f32>::borrow(device, std::span(memory));
    CHECK(throws(ErrorCode::invalid_argument, "adopted twice",
                 [&] { operands_kernel(stream, {n}, first, second); }));
}

TEST_SUITE_END();
