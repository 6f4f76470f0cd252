// Distributed reduce, histogram and sort with a fixed number of elements per rank. Reduce and histogram read all
// elements once, and their messages do not grow with them. Sort sends most keys to other ranks.

#include <concord/study/internal/ranks_work.hpp>

#include <concord/distributed.hpp>
#include <concord/lab/compare.hpp>
#include <concord/lab/internal/reduce_reference.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <future>

namespace concord::study {
namespace {

using Blocks = std::vector<std::vector<f32>>;

constexpr u64 bins = 256;
constexpr f32 lo = -1, hi = 1, bins_a_unit = bins / (hi - lo);

// n elements that repeat the block. Copies on the device double the filled range until it is full.
Array<f32> filled(Stream& stream, const std::vector<f32>& block, u64 n) {
    Array<f32> data(stream, n);
    Buffer& buffer = *data.buffer();
    stream.write(buffer, 0, block.data(), block.size() * sizeof(f32));
    for (u64 done = block.size(); done < n; done *= 2)
        stream.copy(buffer, done * sizeof(f32), buffer, 0, std::min(done, n - done) * sizeof(f32));
    stream.synchronize();
    return data;
}

// Throws if the result is wrong. Then poisons it.
template <class T>
void verify(u32 rank, Stream& stream, const Array<T>& out, const std::vector<T>& expected) {
    const std::vector<T> got = out.to_host(stream);
    for (u64 i = 0; i < got.size(); ++i) {
        if (std::memcmp(&got[i], &expected[i], sizeof(T)) == 0) continue;
        const lab::Difference d = lab::difference_of(i, expected[i], got[i]);
        throw_wrong(rank, "element " + std::to_string(i) + " of the result: expected " + d.expected +
                              ", got " + d.got);
    }
    constexpr u8 poison = 0xff;
    stream.fill(*out.buffer(), 0, out.view().bytes(), &poison, sizeof poison);
}

template <class T>
struct Known {
    Blocks blocks;
    std::vector<T> expected;
};

// Calls make() once for all ranks, after the check for memory.
template <class T>
RanksWork throughput_work(const RanksTask& task, std::function<Known<T>()> make,
                          void (*call)(Communicator&, Stream&, const Array<f32>& in, const Array<T>& out)) {
    const u64 n = task.n, bytes = n * sizeof(f32);
    RanksWork work;
    work.bytes = task.ranks * bytes;
    // Scratch memory holds the sums of chunks or private counters.
    work.memory = task.ranks * (bytes + bytes / 64 + (u64{16} << 20));
    const std::shared_future<Known<T>> made = std::async(std::launch::deferred, std::move(make)).share();
    work.prepare = [=](Communicator& ranks, Stream& stream) {
        const Known<T>& known = made.get();
        const auto in = std::make_shared<const Array<f32>>(filled(stream, known.blocks.at(ranks.rank()), n));
        const auto out =
            std::make_shared<const Array<T>>(stream, std::vector<T>(known.expected.size(), T(-1)));
        RanksCalls calls;
        calls.enqueue = [=, &ranks, &stream](u64 count) {
            for (u64 i = 0; i < count; ++i)
                call(ranks, stream, *in, *out);
        };
        calls.verify = [=, &stream, rank = ranks.rank()] { verify(rank, stream, *out, made.get().expected); };
        calls.enqueue(1);
        calls.verify();
        return calls;
    };
    return work;
}

// Numbers 0 to count - 1 in a mixed order: a bijection of the numbers of so many bits, repeated until the result is
// below count.
class Mixed {
  public:
    explicit Mixed(u64 count)
        : count_(count), bits_(std::max(2, static_cast<int>(std::bit_width(count - 1)))) {}

    u64 operator()(u64 i) const {
        const u64 mask = (u64{1} << bits_) - 1;
        do {
            for (int round = 0; round < 2; ++round) {
                i ^= i >> (bits_ / 2);
                i = i * 0x9e3779b97f4a7c15 & mask;
            }
        } while (i >= count_);
        return i;
    }
    // The key with that place in the order of all keys. More than 2^32 keys are not all different.
    u32 key(u64 place) const {
        return static_cast<u32>(bits_ > 32 ? place >> (bits_ - 32) : place << (32 - bits_));
    }

  private:
    u64 count_;
    int bits_;
};

constexpr u64 piece = u64{1} << 16;

}  // namespace

Blocks throughput_blocks(const RanksTask& task) {
    // A whole number of chunks of the canonical order over all ranks.
    const u64 length = std::min(task.n, std::max(u64{1} << 22, lab::reference_chunk(task.n * task.ranks)));
    Blocks blocks;
    for (u32 rank = 0; rank < task.ranks; ++rank) {
        const lab::Input values{Type::f32, length, lab::Pattern::random, rank + u64{1}};
        std::vector<f32>& block = blocks.emplace_back(length);
        lab::parallel_pieces(length, u64{1} << 16, [&](u64 first, u64 count) {
            values.make(first, std::as_writable_bytes(std::span(block).subspan(first, count)));
        });
    }
    return blocks;
}

f32 expected_sum(const RanksTask& task, const Blocks& blocks) {
    const auto add = [](f32 a, f32 b) { return a + b; };
    const u64 chunk = lab::reference_chunk(task.n * task.ranks);
    std::vector<f32> sums;  // of all chunks; the sums of a block repeat
    for (const std::vector<f32>& block : blocks) {
        const u64 first = sums.size(), own = block.size() / chunk;
        sums.resize(first + task.n / chunk);
        lab::parallel_pieces(own, 16, [&](u64 begin, u64 count) {
            for (u64 c = begin; c < begin + count; ++c)
                sums[first + c] = lab::reference_reduce_chunk(block.data() + c * chunk, chunk, 0.0F, add);
        });
        for (u64 c = first + own; c < sums.size(); ++c)
            sums[c] = sums[c - own];
    }
    return sums.size() == 1 ? sums.front() : lab::reference_reduce(sums, 0.0F, add);
}

std::vector<u64> expected_counts(const RanksTask& task, const Blocks& blocks) {
    std::vector<u64> counts(bins);
    for (const std::vector<f32>& block : blocks) {
        const u64 copies = task.n / block.size();
        for (const f32 x : block) {
            if (lo <= x && x < hi)
                counts[std::min(bins - 1, static_cast<u64>((x - lo) * bins_a_unit))] += copies;
        }
    }
    return counts;
}

HistogramBins throughput_bins() {
    return HistogramBins::even(lo, hi);
}

RanksWork reduce_work(const RanksTask& task) {
    return throughput_work<f32>(
        task,
        [task] {
            Blocks blocks = throughput_blocks(task);
            const f32 sum = expected_sum(task, blocks);
            return Known<f32>{std::move(blocks), {sum}};
        },
        [](Communicator& ranks, Stream& stream, const Array<f32>& in, const Array<f32>& out) {
            distributed_reduce(ranks, stream, in, out);
        });
}

RanksWork histogram_work(const RanksTask& task) {
    return throughput_work<u64>(
        task,
        [task] {
            Blocks blocks = throughput_blocks(task);
            std::vector<u64> counts = expected_counts(task, blocks);
            return Known<u64>{std::move(blocks), std::move(counts)};
        },
        [](Communicator& ranks, Stream& stream, const Array<f32>& in, const Array<u64>& counters) {
            distributed_histogram(ranks, stream, in, counters, throughput_bins());
        });
}

RanksWork sort_work(const RanksTask& task) {
    const u64 n = task.n, bytes = n * sizeof(u32);
    RanksWork work;
    work.bytes = 2 * task.ranks * bytes;
    // Input, output, the sorted part, what other ranks send, and the scratch memory of a sort.
    work.memory = task.ranks * (6 * bytes + (u64{16} << 20));
    work.prepare = [=](Communicator& ranks, Stream& stream) {
        const Mixed mixed(n * task.ranks);
        const u64 first = n * ranks.rank();
        std::vector<u32> keys(n);
        lab::parallel_pieces(n, piece, [&](u64 begin, u64 count) {
            for (u64 i = begin; i < begin + count; ++i)
                keys[i] = mixed.key(mixed(first + i));
        });
        const auto in = std::make_shared<const Array<u32>>(stream, keys);
        const auto out = std::make_shared<const Array<u32>>(stream, n);
        RanksCalls calls;
        calls.enqueue = [=, &ranks, &stream](u64 count) {
            for (u64 i = 0; i < count; ++i)
                distributed_sort(ranks, stream, *in, *out);
        };
        calls.verify = [=, &stream, rank = ranks.rank()] {
            const std::vector<u32> sorted = out->to_host(stream);
            std::atomic<u64> wrong = n;
            lab::parallel_pieces(n, piece, [&](u64 begin, u64 count) {
                for (u64 i = begin; i < begin + count; ++i) {
                    if (sorted[i] != mixed.key(first + i)) wrong = i;
                }
            });
            if (wrong < n)
                throw_wrong(rank, "key " + std::to_string(wrong) + " of the result: expected " +
                                      std::to_string(mixed.key(first + wrong)) + ", got " +
                                      std::to_string(sorted[wrong]));
            constexpr u8 poison = 0xff;
            stream.fill(*out->buffer(), 0, bytes, &poison, sizeof poison);
        };
        calls.enqueue(1);
        calls.verify();
        return calls;
    };
    return work;
}

}  // namespace concord::study
