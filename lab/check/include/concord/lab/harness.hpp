#pragma once
/// @file
/// Test harness: runs work on one device with guarded buffers, poisoned outputs and inputs that must not change.

#include <concord/lab/operands.hpp>
#include <concord/lab/suite.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace concord::lab {

/// Loads work into guarded buffers of one device, runs it and verifies the results.
class Harness {
  public:
    /// Byte pattern that fills memory before a call writes to it.
    using Poison = std::array<u8, 8>;

    /// Opens the device. Throws unavailable.
    explicit Harness(const std::string& selector);

    /// Selector of the device.
    const std::string& selector() const { return device_->info().selector; }
    /// The device.
    Device& device() const { return *device_; }
    /// The stream that calls run on.
    Stream& stream() const { return *stream_; }
    /// Whether kernels run on the device. False if it only compiles.
    bool runs() const { return device_->traits().runs; }
    /// Whether the device emulates barriers within groups of several work-items (OpenCL on a CPU). Textbook kernels are
    /// very slow there.
    bool emulates_barriers() const { return device_->traits().launch == LaunchModel::single_items; }

    /// Why the work does not fit into the memory of the device or the host. Empty if it fits.
    std::string no_room_for(const Work& work) const;

    /// Allocates buffers and uploads the inputs. Replaces the work that was loaded before.
    void load(const Work& work, const Placement& placement);
    /// Frees the memory of the loaded work, and what the device keeps for later buffers.
    void unload();
    /// Poisons the outputs, runs the loaded work once, and verifies the outputs and the memory around them. Throws what
    /// the call throws.
    Verdict run(const Variant& variant);
    /// Verifies that the inputs and the memory around them are unchanged.
    Verdict verify_inputs();
    /// Calls the loaded work. Asynchronous.
    Enqueued call(std::string_view variant, std::optional<OperationOrder> order = {});
    /// Like run(), for any other call that does the work. Verifies the results like those of `verified_as`.
    Verdict run(const Variant& verified_as, const std::function<void()>& call);
    /// Views of the loaded work's inputs and outputs.
    Operands operands() const;

    /// Hash of the last outputs. All NaNs are equal if Work::nans says so. 0 if the variant's order is unspecified, or
    /// if it is canonical and the outputs were verified bitwise.
    u64 fingerprint() const { return fingerprint_; }
    /// The first element of the last outputs whose bits differ from those of another harness, which ran the same work.
    /// All NaNs are equal if Work::nans says so.
    std::optional<Difference> difference_from(Harness& expected);

  private:
    struct Range {
        std::shared_ptr<Buffer> buffer;
        View view;
        Poison poison{};
        u64 item = 1;  // elements that are verified together
    };
    void poison_outputs();
    std::span<const std::byte> read(const Range& range, u64 first, u64 count);
    Verdict verify_outputs(const Variant& variant);
    Verdict verify_unwritten(std::size_t output, u64 first, std::span<const std::byte> got) const;
    void verify_gaps(std::size_t output, u64 first, std::span<const std::byte> got, Verdict& verdict) const;
    Range make_range(Type type, u64 count, u64 offset, const Poison& with);
    void upload(const Input& input, const Range& range);
    void verify_range(const Range& range, Verdict& verdict, const std::string& name, u64 piece_elements,
                      const std::function<void(u64 first, std::span<const std::byte> got)>& verify);

    Work work_;  // outlives the stream, whose uploads read its inputs
    std::shared_ptr<Device> device_;
    std::shared_ptr<Stream> stream_;
    Placement placement_;
    std::vector<Range> inputs_, outputs_;
    u64 fingerprint_ = 0;
    std::vector<std::byte> read_back_;
};

/// Throws unavailable for a compile-only device. `call` names the caller in the message.
void check_runs(const Device& device, std::string_view call);

/// One harness for each device that the selectors name, without duplicates. Selectors may be patterns such as "cuda:*"
/// or "all", which an empty list stands for. Throws unavailable if a device is not available, or if a pattern names
/// none, with the backends' reasons.
std::vector<Harness> open_harnesses(std::vector<std::string> selectors);

}  // namespace concord::lab
