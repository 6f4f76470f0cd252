#include "distributed_split.hpp"
#include "distributed_sources.hpp"

#include <concord/distributed.hpp>
#include <concord/internal/launch.hpp>

#include <algorithm>
#include <bit>

namespace concord {

namespace detail {
namespace {

// Host version of distributed_split.kernel; one group takes all codes.
template <class K>
void count_below(const Group& /*group*/, const K* keys, u64 n, const u64* codes, u64* counts, u64 code_count,
                 u64 fold, u64 flip, u32 shift, u64 mask) {
    for (u64 i = 0; i < code_count; ++i) {
        u64 low = 0, high = n;
        while (low < high) {
            const u64 middle = (low + high) / 2;
            const K key = keys[middle];
            const K sign = static_cast<K>(K{0} - static_cast<K>(key >> (8 * sizeof(K) - 1)));
            const K place = static_cast<K>(key ^ (sign & static_cast<K>(fold)) ^ static_cast<K>(flip));
            if ((static_cast<u64>(place) >> shift & mask) < codes[i]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        counts[i] = low;
    }
}

std::shared_ptr<Kernel> kernel_for(Device& device, Type type, u32 group_size) {
    return device.kernel(
        {.source = &kernel_sources::distributed_split(),
         .entry = "count_below",
         .constants = {{"K", bits_of(type)}, {"GROUP", group_size}},
         .host = visit_size(size_of(type),
                            []<class K>(TypeTag<K>) { return plain_host_kernel<&count_below<K>>(); }),
         .max_group_size = group_size});
}

// Counts the keys of one rank below given codes.
class Counter {
  public:
    Counter(Stream& stream, const View& keys, const SortBy& by)
        : stream_(stream),
          keys_(keys),
          code_(sort_code(keys.type, by)),
          shift_(by.begin_bit),
          bits_(std::min(by.end_bit, 8 * size_of(keys.type)) - by.begin_bit) {}

    u32 bits() const { return bits_; }
    u64 mask() const { return bits_ == 64 ? ~u64{0} : (u64{1} << bits_) - 1; }

    // Number of keys whose code is below each of these codes.
    std::vector<u64> below(const std::vector<u64>& codes) {
        if (keys_.count == 0 || codes.empty()) return std::vector<u64>(codes.size());
        const Array<u64> wanted(stream_, codes), counts(stream_, codes.size());
        const DeviceTraits& traits = stream_.device().traits();
        const u32 group_size = traits.launch == LaunchModel::groups ? 64 : 1;
        const auto kernel = kernel_for(stream_.device(), keys_.type, group_size);
        launch(stream_, *kernel,
               LaunchShape::linear(
                   traits.launch == LaunchModel::host ? 1 : divide_up(codes.size(), u64{group_size}),
                   group_size),
               keys_, keys_.count, wanted, counts, u64{codes.size()}, code_.fold, code_.flip, shift_, mask());
        return counts.to_host(stream_);
    }

  private:
    Stream& stream_;
    View keys_;
    SortCode code_;
    u32 shift_, bits_;
};

std::vector<std::vector<u64>> gather_counts(Communicator& ranks, const std::vector<u64>& mine) {
    std::vector<std::vector<u64>> result;
    for (const auto& bytes : ranks.all_gather(std::as_bytes(std::span(mine)))) {
        std::vector<u64>& counts = result.emplace_back(mine.size());
        std::copy_n(bytes.data(), std::min(bytes.size(), counts.size() * sizeof(u64)),
                    std::as_writable_bytes(std::span(counts)).data());
    }
    return result;
}

}  // namespace

// Finds the key at every place by its bits, the highest first. Each round tries evenly spaced codes and takes the
// largest one with at most `place` keys below it. Ties, keys equal to the result, are assigned to the sides of the cut
// in rank order.
std::vector<std::vector<u64>> split_sorted(Communicator& ranks, Stream& stream, const View& keys,
                                           const SortBy& by, const std::vector<u64>& counts,
                                           const std::vector<u64>& places) {
    constexpr u64 max_codes = 4096;  // per round: few rounds, and short messages
    Counter counter(stream, keys, by);
    std::vector<u64> found(places.size());
    for (u32 left = counter.bits(); left > 0 && !places.empty();) {
        const u32 digit = std::clamp<u32>(std::bit_width(max_codes / places.size()), 1, std::min(left, 11u));
        const u64 steps = (u64{1} << digit) - 1;
        left -= digit;
        std::vector<u64> codes;
        for (const u64 code : found) {
            for (u64 step = 1; step <= steps; ++step)
                codes.push_back(code + (step << left));
        }
        std::vector<u64> below(codes.size());
        for (const auto& theirs : gather_counts(ranks, counter.below(codes))) {
            for (u64 i = 0; i < below.size(); ++i)
                below[i] += theirs[i];
        }
        for (u64 c = 0; c < places.size(); ++c) {
            const auto first = below.begin() + static_cast<std::ptrdiff_t>(c * steps);
            const auto after = std::upper_bound(first, first + static_cast<std::ptrdiff_t>(steps), places[c]);
            found[c] += static_cast<u64>(after - first) << left;
        }
    }
    // Codes for the number of keys below each key found, then for the number up to it.
    std::vector<u64> codes = found;
    for (const u64 code : found)
        codes.push_back(code == counter.mask() ? code : code + 1);
    const auto all = gather_counts(ranks, counter.below(codes));
    std::vector<std::vector<u64>> cuts;
    for (u64 c = 0; c < places.size(); ++c) {
        auto up_to = [&](u64 rank) {
            return found[c] == counter.mask() ? counts[rank] : all[rank][places.size() + c];
        };
        u64 missing = places[c];
        for (const auto& theirs : all)
            missing -= theirs[c];
        std::vector<u64>& cut = cuts.emplace_back();
        for (u64 rank = 0; rank < counts.size(); ++rank) {
            const u64 equal = std::min(missing, up_to(rank) - all[rank][c]);
            missing -= equal;
            cut.push_back(all[rank][c] + equal);
        }
    }
    return cuts;
}

}  // namespace detail
}  // namespace concord
