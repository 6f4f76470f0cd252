#pragma once
// Functions, sources, sinks and data for the tests of pipelines.
#include "devices.hpp"

#include <cstring>

using concord::u8;

CONCORD_FUNCTION(float, pipeline_scaled, (float x, float y, float scale), return x + y * scale;)
CONCORD_FUNCTION(float, pipeline_affine, (float x, float a, float b), return a * x + b;)
CONCORD_FUNCTION(int, pipeline_ring, (float x), return (int)(x * 8) + 8;)
CONCORD_FUNCTION(u8, pipeline_near, (float x, float by), return x <= by && x >= -by ? (u8)1 : (u8)0;)

namespace concord::test {

// A source without memory of its own, so that every device works on copies.
template <class T>
class Away final : public PipelineSource {
  public:
    explicit Away(std::vector<T> values)
        : PipelineSource(type_of<T>(), values.size()), values_(std::move(values)) {}
    void read(void* to, u64 first, u64 bytes) const override {
        if (first / sizeof(T) >= fails_from) throw Error(ErrorCode::io, "Away", "the source is gone");
        CHECK(first == next_);
        next_ = first + bytes;
        std::memcpy(to, reinterpret_cast<const std::byte*>(values_.data()) + first, bytes);
    }
    u64 fails_from = ~u64{0};

  private:
    std::vector<T> values_;
    mutable u64 next_ = 0;
};

template <class T>
class Pile final : public PipelineSink {
  public:
    explicit Pile(u64 room) : PipelineSink(type_of<T>(), room) {}
    void write(const void* from, u64 bytes) override {
        if (values.size() >= full_at) throw Error(ErrorCode::io, "Pile", "the sink is full");
        const auto* first = static_cast<const T*>(from);
        values.insert(values.end(), first, first + bytes / sizeof(T));
    }
    std::vector<T> values;
    u64 full_at = ~u64{0};
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Values whose sums depend on the order.
inline std::vector<float> rough_values(u64 n) {
    std::vector<float> values = random_values<float>(n);
    for (u64 i = 0; i < n; ++i)
        values[i] *= static_cast<float>(1 << i * 7 % 23);
    return values;
}

// The result of one call on all values.
template <class T, class U, class F>
std::vector<U> whole(Device& device, const std::vector<T>& values, u64 results, F&& call) {
    const auto stream = device.create_stream();
    const Array<T> in(*stream, values);
    const Array<U> out(*stream, results);
    call(*stream, in, out);
    return out.to_host(*stream);
}

}  // namespace concord::test
