// DLPack: tensors of other libraries in, arrays and views out.

#include "devices.hpp"

#include <concord/dlpack.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

using namespace concord;

namespace {

// A tensor of host memory as another library describes it; counts calls of its deleter.
struct Producer {
    std::vector<i64> shape, strides;
    dlpack::ManagedTensor managed;
    int deleted = 0;

    Producer(void* data, Type type, std::vector<i64> extents, std::vector<i64> steps = {})
        : shape(std::move(extents)), strides(std::move(steps)) {
        managed.context = this;
        managed.deleter = [](dlpack::ManagedTensor* self) {
            ++static_cast<Producer*>(self->context)->deleted;
        };
        managed.tensor.data = data;
        managed.tensor.rank = static_cast<i32>(shape.size());
        managed.tensor.type = dlpack::data_type_of(type);
        managed.tensor.shape = shape.data();
        managed.tensor.strides = strides.empty() ? nullptr : strides.data();
    }
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;
};

std::string error_of(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(dlpack_tensors_of_the_host_are_used_in_place_and_released_once) {
    REQUIRES(device.traits().shares_host_memory, test::needs::host_memory);
    {
        const auto stream = device.create_stream();
        std::vector<f32> values(1003);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<f32>((i * 7919) % 1003);
        Producer producer(values.data() + 1, Type::f32, {1001});
        {
            const Tensor tensor = from_dlpack(device, &producer.managed);
            CHECK(tensor.type() == Type::f32);
            CHECK(tensor.contiguous());
            CHECK(static_cast<std::byte*>(tensor.buffer()->host_pointer()) + tensor.offset() ==
                  reinterpret_cast<std::byte*>(values.data() + 1));
            const Span<f32> all(tensor.view());
            sort(*stream, all, all);
            stream->synchronize();
            CHECK(producer.deleted == 0);
        }
        CHECK(producer.deleted == 1);
        CHECK(std::is_sorted(values.begin() + 1, values.end() - 1));
        CHECK(values.back() == 1002 * 7919 % 1003);
    }
}

DEVICE_TEST(dlpack_arrays_go_out_and_come_back_and_outlive_their_owner) {
    {
        const auto stream = device.create_stream();
        std::vector<i32> values(600);
        std::iota(values.begin(), values.end(), -300);
        if (device.traits().dlpack_type == dlpack::DeviceType{}) {
            CHECK(test::throws(ErrorCode::unsupported, "do not know the memory of " + device.info().selector,
                               [&] { to_dlpack(Array<i32>(*stream, values)); }));
            return;
        }
        dlpack::ManagedTensor* managed = nullptr;
        {
            const Array<i32> array(*stream, values);
            managed = to_dlpack(array);
        }
        CHECK(managed->version.major == 1);
        CHECK(managed->tensor.rank == 1);
        CHECK(managed->tensor.shape[0] == 600);
        CHECK(managed->tensor.type.bits == 32);
        {
            const Tensor back = from_dlpack(device, managed);
            CHECK(Array<i32>(back.buffer(), 600).to_host(*stream) == values);
        }

        const Array<i32> array(*stream, values);
        const Matrix matrix(array, 20, 25, 30);
        managed = to_dlpack(matrix.part(2, 3, 10, 11).view(), array.buffer());
        CHECK(managed->tensor.rank == 2);
        CHECK(managed->tensor.shape[0] == 10);
        CHECK(managed->tensor.shape[1] == 11);
        CHECK(managed->tensor.strides[0] == 30);
        CHECK(managed->tensor.strides[1] == 1);
        {
            const Tensor part = from_dlpack(device, managed);
            const Array<i32> turned = transpose(*stream, Matrix<i32>(part.matrix()));
            CHECK(turned.to_host(*stream)[0] == values[2 * 30 + 3]);
            CHECK(turned.to_host(*stream)[109] == values[11 * 30 + 13]);
        }
        const Array<i32> other(*stream, 4);
        CHECK(error_of([&] { to_dlpack(matrix.view(), other.buffer()); }) ==
              "to_dlpack: the view is in another buffer than its owner");
    }
}

TEST_SUITE_END();

TEST_CASE("dlpack: matrices and volumes keep shape and pitch") {
    const auto device = open_device("tbb");
    std::vector<f64> values(2 * 5 * 7);
    Producer padded(values.data(), Type::f64, {5, 6}, {7, 1});
    const MatrixView matrix = from_dlpack(*device, &padded.managed).matrix();
    CHECK(matrix.rows == 5);
    CHECK(matrix.columns == 6);
    CHECK(matrix.pitch == 7);
    CHECK(matrix.layout == Layout::row_major);

    Producer turned(values.data(), Type::f64, {6, 5}, {1, 7});
    const MatrixView by_columns = from_dlpack(*device, &turned.managed).matrix();
    CHECK(by_columns.rows == 6);
    CHECK(by_columns.pitch == 7);
    CHECK(by_columns.layout == Layout::column_major);

    Producer planes(values.data(), Type::f64, {2, 5, 6}, {35, 7, 1});
    const VolumeView volume = from_dlpack(*device, &planes.managed).volume();
    CHECK(volume.depth == 2);
    CHECK(volume.pitch == 7);
    CHECK(volume.plane_pitch == 35);

    // One row or one column: the other stride says nothing.
    for (const auto& [shape, strides] :
         std::vector<std::pair<std::vector<i64>, std::vector<i64>>>{{{1, 2}, {1, 1}},
                                                                    {{2, 1}, {1, 1}},
                                                                    {{1, 6}, {0, 1}},
                                                                    {{1, 6}, {99, 1}},
                                                                    {{6, 1}, {1, 99}},
                                                                    {{6, 1}, {7, 99}},
                                                                    {{1, 6}, {99, 7}},
                                                                    {{1, 1}, {0, 0}}}) {
        Producer one(values.data(), Type::f64, shape, strides);
        const MatrixView thin = from_dlpack(*device, &one.managed).matrix();
        CHECK(thin.rows == static_cast<u64>(shape[0]));
        CHECK(thin.columns == static_cast<u64>(shape[1]));
        detail::checked_matrix("test", "thin", thin);
    }
}

TEST_CASE("dlpack: what is refused, and nothing is lost") {
    const auto device = open_device("tbb");
    std::vector<f32> values(100);
    struct Case {
        const char* message;
        std::function<void(dlpack::ManagedTensor&)> change;
    };
    const Case cases[] = {
        {"the tensor has dtype float16; supported are", [](auto& t) { t.tensor.type.bits = 16; }},
        {"dtype bfloat16",
         [](auto& t) {
             t.tensor.type = {static_cast<dlpack::TypeCode>(4), 16, 1};
         }},
        {"dtype float32x4", [](auto& t) { t.tensor.type.lanes = 4; }},
        {"negative strides, got (-1,)", [](auto& t) { t.tensor.strides[0] = -1; }},
        {"negative extent, got the shape (-3,)", [](auto& t) { t.tensor.shape[0] = -3; }},
        {"has 9 dimensions; 0 to 8 are supported", [](auto& t) { t.tensor.rank = 9; }},
        {"has -1 dimensions; 0 to 8", [](auto& t) { t.tensor.rank = -1; }},
        {"has -2147483648 dimensions", [](auto& t) { t.tensor.rank = std::numeric_limits<i32>::min(); }},
        {"1 dimensions and a null pointer as its shape", [](auto& t) { t.tensor.shape = nullptr; }},
        {"has 12 bytes at a null pointer", [](auto& t) { t.tensor.data = nullptr; }},
        {"has 12 bytes at a null pointer",
         [](auto& t) {
             t.tensor.data = nullptr;
             t.tensor.byte_offset = 64;
         }},
        {"12 bytes exceed the address space", [](auto& t) { t.tensor.byte_offset = ~u64{0} - 4095; }},
        {"12 bytes exceed the address space",
         [](auto& t) { t.tensor.byte_offset = -reinterpret_cast<std::uintptr_t>(t.tensor.data); }},
        {"12 bytes exceed the address space",
         // NOLINTNEXTLINE(performance-no-int-to-ptr): an address without memory
         [](auto& t) { t.tensor.data = reinterpret_cast<void*>(~std::uintptr_t{0} - 7); }},
        {"is on ROCm device 3; supported are CPU, CUDA and OpenCL devices",
         [](auto& t) {
             t.tensor.device = {static_cast<dlpack::DeviceType>(10), 3};
         }},
        {"is on DLPack device (-1, 0)",
         [](auto& t) {
             t.tensor.device = {static_cast<dlpack::DeviceType>(-1), 0};
         }},
        {"DLPack version 2.0; supported is 1.x",
         [](auto& t) {
             t.version = {2, 0};
         }},
        {"tensor on CUDA device 1; the device is tbb:0",
         [](auto& t) {
             t.tensor.device = {dlpack::DeviceType::cuda, 1};
         }},
        {"not aligned to its elements of f32", [](auto& t) { t.tensor.byte_offset = 2; }},
        {"size exceeds 2^60 bytes",
         [](auto& t) {
             t.tensor.rank = 2;
             t.tensor.shape[0] = t.tensor.shape[1] = i64{1} << 40;
             t.tensor.strides[0] = t.tensor.strides[1] = 0;
         }},
        {"size exceeds 2^60 bytes", [](auto& t) { t.tensor.shape[0] = i64{1} << 61; }},
    };
    for (const Case& c : cases) {
        Producer producer(values.data(), Type::f32, {3}, {1});
        producer.shape.resize(9, 1);
        producer.strides.resize(9, 1);
        producer.managed.tensor.shape = producer.shape.data();
        producer.managed.tensor.strides = producer.strides.data();
        c.change(producer.managed);
        const std::string message = error_of([&] { from_dlpack(*device, &producer.managed); });
        CAPTURE(message);
        CHECK(message.find(c.message) != std::string::npos);
        CHECK((message.starts_with("from_dlpack: ") || message.starts_with("Tensor: ")));
        CHECK(producer.deleted == 0);
    }
    CHECK(error_of([] { to_dlpack(Tensor()); }) ==
          "to_dlpack: tensor without a buffer; it was never allocated");
    const i64 two[] = {2, 3}, one[] = {1};
    CHECK(error_of([&] { Tensor(nullptr, 0, Type::f32, two, one); }) == "Tensor: 1 strides for 2 dimensions");
    CHECK(error_of([&] { from_dlpack(*device, static_cast<dlpack::ManagedTensor*>(nullptr)); }) ==
          "from_dlpack: null pointer; pass a tensor");

    Producer strided(values.data(), Type::f32, {4, 5}, {10, 2});
    const Tensor tensor = from_dlpack(*device, &strided.managed);
    CHECK(error_of([&] { tensor.view("sum"); }) ==
          "sum: elements are not contiguous, got the shape (4, 5) with strides (10, 2); pass a copy in "
          "row-major order");
    CHECK(error_of([&] { tensor.matrix("matmul"); }).find("neither rows nor columns are contiguous") !=
          std::string::npos);
    Producer shared(values.data(), Type::f32, {3, 4, 5}, {0, 5, 1});
    const Tensor broadcast = from_dlpack(*device, &shared.managed);
    CHECK(error_of([&] { broadcast.volume("matmul"); }).find("planes share elements") != std::string::npos);
}

TEST_CASE("dlpack: read-only, empty and legacy tensors") {
    const auto device = open_device("tbb");
    const auto stream = device->create_stream();
    std::vector<u32> values{3, 1, 2};
    Producer fixed(values.data(), Type::u32, {3});
    fixed.managed.flags = dlpack::flag_read_only;
    const Tensor tensor = from_dlpack(*device, &fixed.managed);
    const Span<u32> all(tensor.view());
    CHECK(error_of([&] { sort(*stream, all, all); }).find("read-only") != std::string::npos);

    Producer none(nullptr, Type::u32, {4, 0, 3});
    CHECK(from_dlpack(*device, &none.managed).size() == 0);
    CHECK(none.deleted == 1);

    static int deleted = 0;
    deleted = 0;
    i64 shape = 3;
    dlpack::LegacyTensor legacy;
    legacy.tensor.data = values.data();
    legacy.tensor.rank = 1;
    legacy.tensor.type = {dlpack::TypeCode::boolean, 8, 1};
    legacy.tensor.shape = &shape;
    legacy.deleter = [](dlpack::LegacyTensor*) { ++deleted; };
    CHECK(from_dlpack(*device, &legacy).type() == Type::boolean);
    CHECK(deleted == 1);
}
