#include <concord/lab/compare.hpp>
#include <concord/lab/harness.hpp>

#include <concord/lab/table.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace concord::lab {
namespace {

// Poison fills the guards around every range, and the outputs before a call. As a float or as an integer it is a large
// number, so that a stray read shows in the result.
constexpr u64 guard_before = 1024, guard_after = 4096;
constexpr u64 guard_bytes = guard_before + guard_after + 64;  // 64: for the placement's offset
constexpr Harness::Poison poison = {0x5b, 0xc6, 0x5d, 0x6e, 0x7b, 0xa2, 0x5d, 0x63};
// Inputs have another pattern, so that a copy that runs past its end does not write the output's own poison.
constexpr Harness::Poison input_poison = {0x2d, 0x71, 0xe9, 0x52, 0x4c, 0x35, 0xd6, 0x57};
constexpr u64 max_piece_bytes = u64{1} << 26;

// The bits of an element. If all NaNs are equal, they have one pattern.
u64 element_hash(Type type, const std::byte* at, NanComparison nans) {
    u64 bits = 0;
    std::memcpy(&bits, at, size_of(type));
    if (nans == NanComparison::bitwise) return bits;
    if (type == Type::f32 && (bits & 0x7fffffff) > 0x7f800000) bits = 0x7fc00000;
    if (type == Type::f64 && (bits & ~(u64{1} << 63)) > u64{0x7ff} << 52) bits = u64{0xfff} << 51;
    return bits;
}

u64 mixed(u64 index, u64 bits) {
    u64 z = bits * 0xbf58476d1ce4e5b9 + index * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 31)) * 0x94d049bb133111eb;
    return z ^ (z >> 29);
}

}  // namespace

Harness::Harness(const std::string& selector)
    : device_(open_device(selector)), stream_(device_->create_stream()) {}

std::string Harness::no_room_for(const Work& work) const {
    const DeviceTraits& traits = device_->traits();
    u64 largest = 0, host = 2 * max_piece_bytes;
    for (const Output& output : work.outputs)
        largest = std::max(largest, output.bytes());
    for (const Input& input : work.inputs) {
        largest = std::max(largest, input.bytes());
        if (!input.held() && input.bytes() <= max_held_bytes()) host += input.bytes();
    }
    for (const Output& output : work.outputs)
        if (output.initial && !output.initial->held()) host += output.bytes();
    u64 total = work.bytes();
    if (!work.inputs.empty()) total += work.inputs.front().bytes();  // some variants copy their input
    constexpr u64 small = u64{1} << 26;
    if (total < small) return {};
    if (largest + guard_bytes > traits.max_allocation)
        return "needs a buffer of " + bytes_name(largest + guard_bytes) + "; the device allows " +
               bytes_name(traits.max_allocation);
    if (total > traits.global_memory / 4 * 3)
        return "needs " + bytes_name(total) + " of device memory; the limit is 3/4 of " +
               bytes_name(traits.global_memory);
    if (traits.shares_host_memory) host += total;
    const u64 there = available_host_memory();
    if (host > there / 4 * 3)
        return "needs " + bytes_name(host) + " of host memory; the limit is 3/4 of the " + bytes_name(there) +
               " that are free";
    return {};
}

Harness::Range Harness::make_range(Type type, u64 count, u64 offset, const Poison& with) {
    const u64 size = size_of(type);
    const u64 bytes = guard_before + (offset + count) * size + guard_after;
    Range range;
    range.buffer = device_->allocate((bytes + 7) / 8 * 8, stream_.get());
    range.view = {range.buffer.get(), guard_before + offset * size, count, type};
    range.poison = with;
    stream_->fill(*range.buffer, 0, range.buffer->size(), with.data(), static_cast<u32>(with.size()));
    return range;
}

void Harness::upload(const Input& input, const Range& range) {
    if (input.held()) {
        std::vector<std::byte> unused;
        stream_->write(*range.buffer, range.view.offset, input.piece(0, input.count, unused).data(),
                       input.bytes());
        return;
    }
    const u64 size = size_of(input.type), most = max_piece_bytes / size;
    std::vector<std::byte> piece;
    for (u64 first = 0; first < input.count; first += most) {
        const u64 n = std::min(most, input.count - first);
        piece.resize(n * size);
        parallel_pieces(n, u64{1} << 18, [&](u64 at, u64 count) {
            input.make(first + at, std::span(piece).subspan(at * size, count * size));
        });
        stream_->write(*range.buffer, range.view.offset + first * size, piece.data(), piece.size());
        if (runs()) stream_->synchronize();
    }
}

void Harness::load(const Work& work, const Placement& placement) {
    if (runs()) stream_->synchronize();  // pending uploads may still read the inputs of the last work
    inputs_.clear();
    outputs_.clear();
    work_ = work;
    placement_ = placement;
    const u64 offsets[] = {placement.a, placement.b};
    for (std::size_t i = 0; i < work.inputs.size(); ++i) {
        work.inputs[i].hold();
        inputs_.push_back(
            make_range(work.inputs[i].type, work.inputs[i].count, offsets[i % 2], input_poison));
        upload(work.inputs[i], inputs_.back());
    }
    for (const Output& output : work.outputs) {
        if (placement.in_place && outputs_.empty()) {
            outputs_.push_back(inputs_.front());
            outputs_.front().view.type = output.type;
        } else {
            outputs_.push_back(make_range(output.type, output.count, placement.out, poison));
        }
        outputs_.back().item = output.item;
        if (output.initial) output.initial->hold();
    }
}

void Harness::unload() {
    if (runs()) stream_->synchronize();
    inputs_.clear();
    outputs_.clear();
    work_ = {};
    read_back_ = {};
    device_->trim();
}

Operands Harness::operands() const {
    Operands operands;
    for (const Range& range : inputs_)
        operands.in.push_back(range.view);
    for (const Range& range : outputs_)
        operands.out.push_back(range.view);
    return operands;
}

Enqueued Harness::call(std::string_view variant, std::optional<OperationOrder> order) {
    const Operands at = operands();
    return work_.call(*stream_, at.in, at.out, Options{.variant = std::string(variant), .order = order});
}

void Harness::poison_outputs() {
    if (placement_.in_place) upload(work_.inputs.front(), inputs_.front());
    for (std::size_t k = placement_.in_place ? 1 : 0; k < outputs_.size(); ++k) {
        stream_->fill(*outputs_[k].buffer, 0, outputs_[k].buffer->size(), poison.data(),
                      static_cast<u32>(poison.size()));
        if (work_.outputs[k].initial) upload(*work_.outputs[k].initial, outputs_[k]);
    }
}

Verdict Harness::run(const Variant& verified_as, const std::function<void()>& call) {
    poison_outputs();
    if (runs()) stream_->synchronize();  // the call may use another stream
    call();
    return verify_outputs(verified_as);
}

Verdict Harness::run(const Variant& variant) {
    poison_outputs();
    const Enqueued run = call(variant.name);
    if (run.variant != variant.name || run.device != device_.get())
        throw Error(
            ErrorCode::device_failed, work_.algorithm,
            "ran variant '" + std::string(run.variant) + "' instead of '" + std::string(variant.name) + "'");
    return verify_outputs(variant);
}

Verdict Harness::verify_outputs(const Variant& variant) {
    Verdict verdict;
    if (!runs()) return verdict;

    std::atomic<u64> sum = 0;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
        const Type type = work_.outputs[k].type;
        const std::string name = outputs_.size() == 1 ? "the output" : "output " + std::to_string(k);
        verify_range(
            outputs_[k], verdict, name, u64{1} << 18, [&](u64 first, std::span<const std::byte> got) {
                Verdict piece;
                const u64 size = size_of(type);
                if (work_.outputs[k].written) {
                    const u64 written = work_.outputs[k].written(),
                              verified = written > first ? written - first : 0;
                    if (verified * size < got.size()) {
                        piece = verify_unwritten(k, first + verified, got.subspan(verified * size));
                        got = got.first(verified * size);
                    }
                }
                if (!got.empty()) work_.verify(variant, k, first, got, piece);
                verify_gaps(k, first, got, piece);
                u64 hash = 0;
                // Outputs that match the reference bitwise need no comparison between devices.
                const bool hashed = variant.order != OperationOrder::unspecified &&
                                    (variant.order == OperationOrder::variant_specific || !piece.bits);
                const auto [row, pitch] = std::pair(work_.outputs[k].row, work_.outputs[k].pitch);
                for (u64 i = 0; hashed && i * size < got.size(); ++i) {
                    if (pitch != 0 && (first + i) % pitch >= row) continue;  // padding
                    hash += mixed(first + i, element_hash(type, got.data() + i * size, work_.nans) + k);
                }
                sum += hash;
                if (piece.difference && outputs_.size() > 1)
                    piece.difference->expected = name + " to be " + piece.difference->expected;
                static std::mutex mutex;
                const std::lock_guard lock(mutex);
                verdict.merge(std::move(piece));
            });
    }
    fingerprint_ = sum;
    return verdict;
}

// Verifies elements [first, ...) of an output that the call must not write: they hold the poison or, in place, the
// input.
Verdict Harness::verify_unwritten(std::size_t output, u64 first, std::span<const std::byte> got) const {
    Verdict verdict;
    const Range& range = outputs_[output];
    const u64 size = size_of(range.view.type), at = range.view.offset + first * size;
    const bool in_place = placement_.in_place && output == 0;
    std::vector<std::byte> made;
    std::span<const std::byte> wanted;
    if (in_place) {
        wanted = work_.inputs.front().piece(first, got.size() / size, made);
    } else {
        made.resize(got.size());
        for (u64 i = 0; i < made.size(); ++i)
            made[i] = std::byte{range.poison[(at + i) % 8]};
        wanted = made;
    }
    if (std::memcmp(wanted.data(), got.data(), got.size()) == 0) return verdict;
    const u64 index =
        static_cast<u64>(std::mismatch(wanted.begin(), wanted.end(), got.begin()).first - wanted.begin()) /
        size;
    verdict.damage = true;
    verdict.differ({first + index, "unchanged memory, which the call must not write",
                    value_name(range.view.type, got.data() + index * size)});
    return verdict;
}

// Verifies the padding between the rows of an output, among elements [first, ...).
void Harness::verify_gaps(std::size_t output, u64 first, std::span<const std::byte> got,
                          Verdict& verdict) const {
    const auto [row, pitch] = std::pair(work_.outputs[output].row, work_.outputs[output].pitch);
    if (pitch == 0) return;
    const u64 size = size_of(work_.outputs[output].type), end = first + got.size() / size;
    for (u64 begin = first / pitch * pitch; begin < end; begin += pitch) {
        const u64 gap = std::max(first, begin + row), stop = std::min(end, begin + pitch);
        if (gap < stop)
            verdict.merge(
                verify_unwritten(output, gap, got.subspan((gap - first) * size, (stop - gap) * size)));
    }
}

Verdict Harness::verify_inputs() {
    Verdict verdict;
    if (!runs()) return verdict;
    for (std::size_t i = placement_.in_place ? 1 : 0; i < inputs_.size(); ++i) {
        const Input& input = work_.inputs[i];
        const u64 size = size_of(input.type);
        verify_range(inputs_[i], verdict, "an input", u64{1} << 20,
                     [&](u64 first, std::span<const std::byte> got) {
                         std::vector<std::byte> scratch;
                         const auto wanted = input.piece(first, got.size() / size, scratch);
                         if (std::memcmp(wanted.data(), got.data(), got.size()) == 0) return;
                         const auto [a, b] = std::mismatch(wanted.begin(), wanted.end(), got.begin());
                         static std::mutex mutex;
                         const std::lock_guard lock(mutex);
                         const u64 index = static_cast<u64>(a - wanted.begin()) / size;
                         verdict.damage = true;
                         verdict.differ({first + index,
                                         "input " + std::to_string(i) + " unchanged, " +
                                             value_name(input.type, wanted.data() + index * size),
                                         value_name(input.type, got.data() + index * size)});
                     });
    }
    return verdict;
}

// Reads a range with its guards, verifies the guards, and calls `verify` for pieces of the elements.
void Harness::verify_range(const Range& range, Verdict& verdict, const std::string& name, u64 piece_elements,
                           const std::function<void(u64, std::span<const std::byte>)>& verify) {
    const View& view = range.view;
    const u64 size = size_of(view.type), begin = view.offset, end = begin + view.bytes(),
              all = range.buffer->size();
    auto check_guard = [&](u64 at, std::span<const std::byte> bytes) {
        for (u64 i = 0; i < bytes.size(); ++i) {
            if (bytes[i] == std::byte{range.poison[(at + i) % 8]}) continue;
            const bool before = at + i < begin;
            const u64 distance = before ? begin - (at + i) : at + i - end + 1;
            verdict.damage = true;
            verdict.differ(
                {before ? 0 : view.count,
                 std::string("untouched memory ") + (before ? "before " : "after ") + name,
                 "a write " + std::to_string(distance) + " bytes " + (before ? "before" : "past") + " it"});
            return;
        }
    };
    auto whole_items = [&range](u64 count) { return std::max(count / range.item, u64{1}) * range.item; };
    std::vector<std::byte>& bytes = read_back_;
    if (all <= max_piece_bytes) {
        if (bytes.size() < all) bytes.resize(all);
        stream_->read(bytes.data(), *range.buffer, 0, all);
        stream_->synchronize();
        const std::span<const std::byte> whole(bytes.data(), all);
        check_guard(0, whole.first(begin));
        check_guard(end, whole.subspan(end));
        parallel_pieces(view.count, whole_items(piece_elements), [&](u64 first, u64 n) {
            verify(first, whole.subspan(begin + first * size, n * size));
        });
        return;
    }
    auto read = [&](u64 at, u64 n) {
        if (bytes.size() < n) bytes.resize(n);
        stream_->read(bytes.data(), *range.buffer, at, n);
        stream_->synchronize();
        return std::span<const std::byte>(bytes.data(), n);
    };
    check_guard(0, read(0, begin));
    check_guard(end, read(end, all - end));
    const u64 most = whole_items(max_piece_bytes / size);
    for (u64 first = 0; first < view.count; first += most) {
        const auto whole = read(begin + first * size, std::min(most, view.count - first) * size);
        parallel_pieces(whole.size() / size, whole_items(piece_elements),
                        [&](u64 at, u64 n) { verify(first + at, whole.subspan(at * size, n * size)); });
    }
}

std::span<const std::byte> Harness::read(const Range& range, u64 first, u64 count) {
    const u64 size = size_of(range.view.type);
    if (read_back_.size() < count * size) read_back_.resize(count * size);
    if (count > 0)
        stream_->read(read_back_.data(), *range.buffer, range.view.offset + first * size, count * size);
    stream_->synchronize();
    return std::span<const std::byte>(read_back_).first(count * size);
}

std::optional<Difference> Harness::difference_from(Harness& expected) {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
        const auto [type, row, pitch] =
            std::tuple(work_.outputs[k].type, work_.outputs[k].row, work_.outputs[k].pitch);
        const u64 size = size_of(type), most = max_piece_bytes / size;
        const u64 count = work_.outputs[k].written ? work_.outputs[k].written() : outputs_[k].view.count;
        for (u64 first = 0; first < count; first += most) {
            const u64 n = std::min(most, count - first);
            const auto got = read(outputs_[k], first, n),
                       wanted = expected.read(expected.outputs_[k], first, n);
            for (u64 i = 0; i < n; ++i) {
                if (pitch != 0 && (first + i) % pitch >= row) continue;  // padding
                const std::byte* const a = wanted.data() + i * size;
                const std::byte* const b = got.data() + i * size;
                if (element_hash(type, a, work_.nans) == element_hash(type, b, work_.nans)) continue;
                const u64 item = work_.outputs[k].item;
                Difference found{(first + i) / item, value_name(type, a), value_name(type, b)};
                if (item > 1)
                    found.expected =
                        "member " + std::to_string((first + i) % item) + " to be " + found.expected;
                detail::visit_element(type, [&]<class T>(detail::TypeTag<T>) {
                    found.ulps = ulps_between(element<T>(wanted, i), element<T>(got, i));
                });
                if (outputs_.size() > 1)
                    found.expected = "output " + std::to_string(k) + " to be " + found.expected;
                return found;
            }
        }
    }
    return std::nullopt;
}

void check_runs(const Device& device, std::string_view call) {
    if (!device.traits().runs) detail::refuse_compile_only(call, device.info().selector);
}

std::vector<Harness> open_harnesses(std::vector<std::string> selectors) {
    if (selectors.empty()) selectors = {"all"};
    std::vector<Harness> harnesses;
    for (const std::string& pattern : selectors) {
        for (const std::string& selector : device_selectors(pattern)) {
            Harness harness(selector);
            const auto same = [&](const Harness& other) { return other.selector() == harness.selector(); };
            if (std::none_of(harnesses.begin(), harnesses.end(), same))
                harnesses.push_back(std::move(harness));
        }
    }
    return harnesses;
}

}  // namespace concord::lab
