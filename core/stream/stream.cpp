#include "stream/recorded.hpp"
#include "stream/stream_state.hpp"

#include <concord/detail/checked_size.hpp>
#include <concord/internal/foreign_use.hpp>
#include <concord/peer.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace concord {

using backend::memory_of;
using detail::Access;
using detail::check_not_forked;
using detail::RecordedCopy;
using detail::RecordedFill;
using detail::RecordedOperation;
using detail::RecordingContents;

namespace {

void check_on_device(const char* call, const Buffer& buffer) {
    if (buffer.kind() == Buffer::Kind::host)
        throw Error(ErrorCode::invalid_argument, call,
                    "page-locked host buffer; use its host_pointer() or Stream::copy");
}

void check_writable(const char* call, const Buffer& buffer) {
    if (buffer.read_only())
        throw Error(ErrorCode::invalid_argument, call, "read-only memory; adopt it without read_only");
}

// For copies and waits, which may involve another device within reach of the stream's device.
void check_reach(const char* call, const char* what, const Stream& stream, const Device& other) {
    const Device& device = stream.device();
    if (&other == &device) return;
    std::string why;
    if (!can_reach(device, other, &why))
        throw Error(ErrorCode::wrong_device, call,
                    std::string(what) + " of another device, got " + other.info().selector +
                        "; the stream belongs to " + device.info().selector + " (" + why + ")");
    if (stream.is_recording())
        throw Error(ErrorCode::unsupported, call,
                    std::string(what) + " of another device, got " + other.info().selector +
                        "; recordings support one device only");
}

// The rule is documented at KernelArgument.
bool fits(const KernelArgument& argument, const KernelParameter& parameter) {
    const bool is_buffer = argument.buffer != nullptr;
    if (is_buffer != parameter.is_buffer) return false;
    if (!argument.type || !parameter.type || *argument.type == *parameter.type) return true;
    // Kernels take bool as u8.
    if (!is_buffer && *parameter.type == Type::boolean && *argument.type == Type::u8) return true;
    return is_buffer && is_unsigned(*parameter.type) && size_of(*parameter.type) == size_of(*argument.type);
}

std::string words_for(bool is_buffer, const std::optional<ElementType>& type) {
    const std::string name = type ? std::string(name_of(*type)) : "bytes";
    return is_buffer ? "buffer of " + name : name;
}

template <class List, class Describe>
std::string listed(const List& list, const Describe& describe) {
    std::string text;
    for (const auto& each : list)
        text.append(text.empty() ? "(" : ", ").append(describe(each));
    return text.empty() ? "()" : text + ")";
}

// Arguments and parameters of a launch that do not fit, in order to name the likeliest slip.
class Mismatch {
  public:
    Mismatch(const Kernel& kernel, std::span<const KernelArgument> arguments)
        : kernel_(kernel), arguments_(arguments.begin(), arguments.end()), parameters_(kernel.parameters()) {}

    [[noreturn]] void refuse() const {
        const auto argument = [](const KernelArgument& a) { return words_for(a.buffer != nullptr, a.type); };
        const auto parameter = [](const KernelParameter& p) { return words_for(p.is_buffer, p.type); };
        throw Error(ErrorCode::invalid_argument, "Stream::launch",
                    slip() + "; " + kernel_.name() + " takes " + listed(parameters_, parameter) + ", got " +
                        listed(arguments_, argument));
    }

  private:
    bool fit(const std::vector<KernelArgument>& arguments,
             const std::vector<KernelParameter>& parameters) const {
        return std::equal(arguments.begin(), arguments.end(), parameters.begin(), parameters.end(), fits);
    }
    template <class T>
    static std::vector<T> without(std::vector<T> list, std::size_t i) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
        return list;
    }

    std::string slip() const {
        const std::size_t given = arguments_.size(), wanted = parameters_.size();
        const std::string of = " of " + kernel_.name();
        for (std::size_t i = 0; given + 1 == wanted && i < wanted; ++i) {
            if (fit(arguments_, without(parameters_, i)))
                return "argument " + std::to_string(i) + of +
                       " is missing: " + words_for(parameters_[i].is_buffer, parameters_[i].type);
        }
        for (std::size_t i = 0; given == wanted + 1 && i < given; ++i) {
            if (fit(without(arguments_, i), parameters_))
                return "argument " + std::to_string(i) + of +
                       " is surplus: " + words_for(arguments_[i].buffer != nullptr, arguments_[i].type);
        }
        if (given != wanted)
            return "wrong number of arguments" + of + ", got " + std::to_string(given) + "; expected " +
                   std::to_string(wanted);
        std::size_t first = 0;
        while (fits(arguments_[first], parameters_[first]))
            ++first;
        for (std::size_t i = first + 1; i < given; ++i) {
            std::vector<KernelArgument> swapped = arguments_;
            std::swap(swapped[first], swapped[i]);
            if (fit(swapped, parameters_))
                return "arguments " + std::to_string(first) + " and " + std::to_string(i) + of +
                       " are swapped";
        }
        const auto phrase = [](bool is_buffer, const std::optional<ElementType>& type) {
            return (is_buffer ? "elements of " : "a value of ") +
                   (type ? std::string(name_of(*type)) : "any type");
        };
        const KernelParameter& parameter = parameters_[first];
        const KernelArgument& argument = arguments_[first];
        return "argument " + std::to_string(first) + of + ": expected " +
               phrase(parameter.is_buffer, parameter.type) + ", got " +
               phrase(argument.buffer != nullptr, argument.type);
    }

    const Kernel& kernel_;
    std::vector<KernelArgument> arguments_;
    const std::vector<KernelParameter>& parameters_;
};

LaunchShape with_group_size(const Device& device, const Kernel& kernel, LaunchShape shape) {
    if (shape.group_size_x != LaunchShape::automatic) return shape;
    constexpr i64 usual = 256;
    const DeviceTraits& traits = device.traits();
    shape.group_size_x = 1;
    if (traits.launch != LaunchModel::groups) return shape;
    const i64 most = kernel.attributes().max_group_size;
    shape.group_size_x =
        static_cast<u32>(std::min({usual, most > 0 ? most : usual, i64{traits.max_group_size}}));
    return shape;
}

// Without known parameters it checks nothing.
void check_parameters(const Kernel& kernel, std::span<const KernelArgument> arguments) {
    const std::vector<KernelParameter>& parameters = kernel.parameters();
    if (parameters.empty()) return;
    if (!std::equal(arguments.begin(), arguments.end(), parameters.begin(), parameters.end(), fits))
        [[unlikely]]
        Mismatch(kernel, arguments).refuse();
}

}  // namespace

Stream::Stream(std::shared_ptr<Device> device, std::unique_ptr<backend::Queue> queue)
    : device_(std::move(device)), state_(std::make_unique<detail::StreamState>(*this, std::move(queue))) {}

Stream::~Stream() = default;

void* Stream::native_handle() noexcept {
    return state_->queue->native_handle();
}

void Stream::write(Buffer& to, u64 offset, const void* from, u64 bytes) {
    check_not_forked("Stream::write");
    state_->check_range("Stream::write", to, offset, bytes);
    check_on_device("Stream::write", to);
    check_writable("Stream::write", to);
    state_->check_not_recording("Stream::write");
    if (bytes == 0) return;
    state_->check_host_pointer("Stream::write", from);
    state_->enqueue([&] {
        state_->note_use(to);
        state_->perform({Engine::upload, bytes},
                        [&] { state_->queue->write(memory_of(to), offset, from, bytes); });
    });
}

void Stream::read(void* to, const Buffer& from, u64 offset, u64 bytes) {
    check_not_forked("Stream::read");
    state_->check_range("Stream::read", from, offset, bytes);
    check_on_device("Stream::read", from);
    state_->check_not_recording("Stream::read");
    if (bytes == 0) return;
    state_->check_host_pointer("Stream::read", to);
    state_->enqueue([&] {
        state_->note_use(from);
        state_->perform({Engine::download, bytes},
                        [&] { state_->queue->read(to, memory_of(from), offset, bytes); });
    });
}

void Stream::copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes) {
    check_not_forked("Stream::copy");
    check_reach("Stream::copy", "buffer", *this, to.device());
    check_reach("Stream::copy", "buffer", *this, from.device());
    check_writable("Stream::copy", to);
    // Copies between the host and a device need a stream of that device.
    if (to.kind() == Buffer::Kind::host) state_->check_device("Stream::copy", "buffer", from.device());
    if (from.kind() == Buffer::Kind::host) state_->check_device("Stream::copy", "buffer", to.device());
    detail::StreamState::check_room("Stream::copy", to, to_offset, bytes);
    detail::StreamState::check_room("Stream::copy", from, from_offset, bytes);
    if (&to == &from && to_offset < from_offset + bytes && from_offset < to_offset + bytes)
        throw Error(ErrorCode::invalid_argument, "Stream::copy",
                    "ranges overlap, got " + std::to_string(bytes) + " bytes from offset " +
                        std::to_string(from_offset) + " to offset " + std::to_string(to_offset) +
                        " of one buffer; copy in two steps");
    if (bytes == 0) return;
    if (from.kind() == Buffer::Kind::host && to.kind() == Buffer::Kind::host)
        throw Error(ErrorCode::unsupported, "Stream::copy", "both buffers are host buffers; use memcpy");
    state_->enqueue([&] {
        if (RecordingContents* const recorded = state_->recorded()) {
            auto& source = const_cast<Buffer&>(from);
            recorded->keep(to);
            recorded->keep(source);
            recorded->operations.emplace_back(RecordedCopy{&to, to_offset, &source, from_offset, bytes});
            return;
        }
        state_->note_use(to);
        state_->note_use(from);
        state_->copy(to, to_offset, from, from_offset, bytes);
    });
}

void Stream::fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) {
    check_not_forked("Stream::fill");
    state_->check_range("Stream::fill", to, offset, bytes);
    check_writable("Stream::fill", to);
    if (pattern_size != 1 && pattern_size != 2 && pattern_size != 4 && pattern_size != 8)
        throw Error(
            ErrorCode::invalid_argument, "Stream::fill",
            "invalid pattern size, got " + std::to_string(pattern_size) + " bytes; expected 1, 2, 4 or 8");
    if (offset % pattern_size != 0 || bytes % pattern_size != 0)
        throw Error(ErrorCode::invalid_argument, "Stream::fill",
                    "misaligned range, got " + std::to_string(bytes) + " bytes at offset " +
                        std::to_string(offset) + "; expected multiples of the pattern's " +
                        std::to_string(pattern_size) + " bytes");
    check_on_device("Stream::fill", to);
    if (bytes == 0) return;
    state_->check_host_pointer("Stream::fill", pattern);
    state_->enqueue([&] {
        if (RecordingContents* const recorded = state_->recorded()) {
            RecordedFill operation{&to, offset, bytes, {}, pattern_size};
            std::memcpy(operation.pattern.data(), pattern, pattern_size);
            recorded->keep(to);
            recorded->operations.emplace_back(operation);
            return;
        }
        state_->note_use(to);
        state_->fill(to, offset, bytes, pattern, pattern_size);
    });
}

namespace {

// Checks a launch. Calls `prepare` with the lock held, which may change arguments that are buffers, then enqueues.
template <class F>
void launch_prepared(detail::StreamState& state, const Kernel& kernel, const LaunchShape& asked,
                     std::span<const KernelArgument> arguments, const F& prepare) {
    check_not_forked("Stream::launch");
    state.check_device("Stream::launch", "kernel", kernel.device());
    const LaunchShape shape = with_group_size(state.device, kernel, asked);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument& argument = arguments[i];
        if (argument.buffer == nullptr) {
            if (argument.size > 0) state.check_host_pointer("Stream::launch", argument.value);
            continue;
        }
        const detail::CheckedSize bytes = detail::CheckedSize(argument.count) * argument.element_size;
        state.check_range("Stream::launch", *argument.buffer, argument.offset,
                          bytes.fits() ? bytes.value() : ~u64{0});
        const bool is_aligned = argument.offset == 0 || argument.offset % argument.element_size == 0;
        if (argument.buffer->kind() == Buffer::Kind::host || !is_aligned) [[unlikely]]
            throw Error(
                ErrorCode::invalid_argument, "Stream::launch",
                "argument " + std::to_string(i) + " of " + kernel.name() +
                    (argument.buffer->kind() == Buffer::Kind::host
                         ? " is a page-locked host buffer; pass device memory"
                         : ": misaligned offset, got " + std::to_string(argument.offset) +
                               " bytes; expected a multiple of " + std::to_string(argument.element_size)));
    }
    check_parameters(kernel, arguments);
    if (shape.group_size_x == 0 || shape.group_size_y == 0 || shape.group_size_z == 0)
        throw Error(
            ErrorCode::invalid_argument, "Stream::launch",
            kernel.name() + ": empty group, got a group of 0 work-items; expected at least 1 per dimension");
    if (shape.groups_x == 0 || shape.groups_y == 0 || shape.groups_z == 0) return;
    state.enqueue([&] {
        prepare();
        if (RecordingContents* const recorded = state.recorded())
            return recorded->add(kernel, shape, arguments);
        for (const KernelArgument& argument : arguments) {
            if (argument.buffer != nullptr) state.note_use(*argument.buffer);
        }
        state.launch(kernel, shape, arguments);
    });
}

}  // namespace

void Stream::launch(const Kernel& kernel, const LaunchShape& shape,
                    std::span<const KernelArgument> arguments) {
    launch_prepared(*state_, kernel, shape, arguments, [] {});
}

void detail::launch_reporting(Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                              std::span<KernelArgument> arguments, std::span<const IndexWord> words) {
    StreamState& state = Access::state(stream);
    const std::shared_ptr<IndexReports> from = state.made_index_reports();
    for (const IndexWord& word : words)
        arguments[word.argument] = from->unread();
    launch_prepared(state, kernel, shape, arguments, [&] {
        for (const IndexWord& word : words)
            arguments[word.argument] = state.index_word(from, word.check);
    });
}

void detail::note_foreign_use(Stream& stream, const Buffer& buffer) {
    StreamState& state = Access::state(stream);
    state.enqueue([&] { state.note_use(buffer); });
}

void Stream::record(Event& event) {
    check_not_forked("Stream::record");
    state_->check_device("Stream::record", "event", event.device());
    state_->check_not_recording("Stream::record");
    state_->enqueue([&] { state_->record(event); });
}

void Stream::wait(const Event& event) {
    check_not_forked("Stream::wait");
    check_reach("Stream::wait", "event", *this, event.device());
    state_->check_not_recording("Stream::wait");
    state_->enqueue([&] {
        if (Access::is_recorded(event)) state_->queue->wait(Access::event(event));
    });
}

void Stream::callback(detail::Task f) {
    check_not_forked("Stream::callback");
    if (!f) throw Error(ErrorCode::invalid_argument, "Stream::callback", "empty function; pass a callable");
    state_->check_not_recording("Stream::callback");
    state_->enqueue([&] {
        state_->perform({Engine::callback}, [&] { state_->queue->callback(state_->watched(std::move(f))); });
    });
}

void Stream::begin_recording() {
    const std::lock_guard lock(state_->mutex);
    if (state_->recording)
        throw Error(ErrorCode::invalid_argument, "Stream::begin_recording",
                    "the stream is already recording; call end_recording first");
    state_->recording = Access::make<Recording>(device_);
    state_->is_recording = true;
}

std::shared_ptr<Recording> Stream::end_recording() {
    check_not_forked("Stream::end_recording");
    const std::lock_guard lock(state_->mutex);
    if (!state_->recording)
        throw Error(ErrorCode::invalid_argument, "Stream::end_recording",
                    "the stream is not recording; call begin_recording first");
    std::shared_ptr<Recording> recording = std::move(state_->recording);
    state_->is_recording = false;
    backend::Queue& queue = *state_->queue;
    if (recording->size() == 0 || !queue.begin_capture()) return recording;
    RecordingContents& contents = Access::contents(*recording);
    try {
        for (const RecordedOperation& operation : contents.operations)
            RecordingContents::enqueue(queue, operation);
    } catch (...) {
        queue.end_capture();
        throw;
    }
    contents.captured = queue.end_capture();
    return recording;
}

bool Stream::is_recording() const noexcept {
    return state_->is_recording;
}

void Stream::synchronize() {
    state_->synchronize();
}

bool Stream::idle() {
    check_not_forked("Stream::idle");
    return state_->queue->idle();
}

std::shared_ptr<Buffer> Stream::scratch(u64 bytes) {
    return device_->allocate(bytes, this);
}

}  // namespace concord
