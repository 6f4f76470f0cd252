// Descriptions of tensors that other libraries hand over: from_dlpack(), Tensor and its views, and to_dlpack().
//
// Memory that a struct names cannot be examined, so that elements are read only where they are in the fuzzer's own
// block.

#include "fuzz.hpp"

#include <concord/concord.hpp>
#include <concord/dlpack.hpp>

#include <cstring>
#include <limits>
#include <vector>

using namespace concord;
using namespace concord::fuzz;

namespace {

int deleted = 0;

// The next value of the input; 0 at its end.
class Reader {
  public:
    Reader(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
    u8 byte() {
        if (left_ == 0) return 0;
        --left_;
        return *data_++;
    }
    // Small numbers, limits and any bits.
    i64 number() {
        const u8 kind = byte();
        if (kind < 160) return kind % 8;
        if (kind < 176) return std::numeric_limits<i64>::max() - kind % 4;
        if (kind < 192) return std::numeric_limits<i64>::min() + kind % 4;
        if (kind < 208) return -(kind % 8);
        if (kind < 224) return i64{1} << (byte() % 63);
        u64 bits = 0;
        for (int i = 0; i < 8; ++i)
            bits = bits << 8 | byte();
        return static_cast<i64>(bits);
    }

  private:
    const std::uint8_t* data_;
    std::size_t left_;
};

// What a tensor that was accepted promises.
void examine(const Tensor& tensor, Stream& stream, const std::byte* block, u64 block_bytes) {
    u64 elements = 1;
    for (const i64 extent : tensor.shape())
        elements *= static_cast<u64>(extent);
    require(tensor.size() == elements, "the size is the product of the extents");
    require(tensor.shape().size() == tensor.strides().size(), "each dimension has a stride");
    require(elements == 0 || tensor.buffer() != nullptr, "elements have a buffer");
    View view;
    const bool is_dense = accepts(ErrorCode::invalid_argument, [&] { view = tensor.view("fuzz"); });
    require(is_dense == tensor.contiguous(), "contiguous tensors have a view");
    for (const bool is_volume : {false, true}) {
        VolumeView volume;
        if (!accepts(ErrorCode::invalid_argument, [&] {
                if (is_volume)
                    volume = tensor.volume("fuzz");
                else
                    static_cast<void>(tensor.matrix("fuzz"));
            }))
            continue;
        if (is_volume)
            require(volume.depth * volume.rows * volume.columns == elements, "a volume has all elements");
    }
    if (is_dense && elements > 0) {
        const auto* const first =
            static_cast<const std::byte*>(tensor.buffer()->host_pointer()) + tensor.offset();
        if (first >= block && view.bytes() <= block_bytes &&
            static_cast<u64>(first - block) <= block_bytes - view.bytes()) {
            std::vector<std::byte> copy(view.bytes());
            stream.read(copy.data(), *view.buffer, view.offset, view.bytes());
            stream.synchronize();
            require(std::memcmp(copy.data(), first, copy.size()) == 0,
                    "the elements are those at the address");
        }
    }
    dlpack::ManagedTensor* const exported = to_dlpack(tensor);
    require(exported->tensor.rank == static_cast<i32>(tensor.shape().size()), "the rank stays");
    exported->deleter(exported);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto device = open_device("tbb");
    static const auto stream = device->create_stream();
    alignas(64) static std::byte block[4096];

    Reader in(data, size);
    // Arrays of exactly the rank, so that AddressSanitizer notices what reads beyond them.
    const u8 pointers = in.byte();
    dlpack::ManagedTensor managed;
    managed.deleter = [](dlpack::ManagedTensor*) { ++deleted; };
    dlpack::Tensor& tensor = managed.tensor;
    tensor.rank = in.byte() < 224 ? static_cast<i32>(in.byte() % 5) : static_cast<i32>(in.number());
    const auto kept = static_cast<std::size_t>(tensor.rank < 0 || tensor.rank > 16 ? 0 : tensor.rank);
    std::vector<i64> shape, strides;
    for (std::size_t i = 0; i < kept; ++i) {
        shape.push_back(in.number());
        strides.push_back(in.number());
    }
    tensor.shape = (pointers & 7) == 1 ? nullptr : shape.data();
    tensor.strides = (pointers & 3) == 2 ? nullptr : strides.data();
    tensor.data = (pointers & 24) == 8 ? nullptr : block;
    if ((pointers & 224) == 32) tensor.byte_offset = static_cast<u64>(in.number());
    if ((pointers & 224) == 64) {
        const auto address = static_cast<std::uintptr_t>(in.number());
        std::memcpy(&tensor.data, &address, sizeof address);
    }
    const u8 kind = in.byte();
    tensor.type.code = static_cast<dlpack::TypeCode>(kind < 240 ? kind % 3 : in.byte());
    const u8 bits = in.byte();
    tensor.type.bits = bits < 240 ? static_cast<u8>(8 << (bits % 4)) : in.byte();
    tensor.type.lanes = in.byte() < 240 ? u16{1} : in.byte();
    if (in.byte() >= 240)
        tensor.device = {static_cast<dlpack::DeviceType>(in.number()), static_cast<i32>(in.number())};
    if (in.byte() >= 240) managed.version = {static_cast<u32>(in.number()), static_cast<u32>(in.number())};
    managed.flags = in.byte();

    deleted = 0;
    bool accepted = false;
    try {
        const Tensor imported = from_dlpack(*device, &managed);
        accepted = true;
        examine(imported, *stream, block, sizeof block);
    } catch (const Error& error) {
        require(!accepted, error.what());
        require(error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::wrong_device ||
                    error.code() == ErrorCode::unsupported,
                error.what());
    }
    require(deleted == (accepted ? 1 : 0), "the deleter is called once, and only for what was accepted");
    return 0;
}
