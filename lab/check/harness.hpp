#pragma once
/// Runs work on one device so that nothing goes unnoticed: guarded buffers, poisoned outputs, inputs that
/// must stay.

#include <concord/lab/operands.hpp>
#include <concord/lab/suite.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace concord::lab {

class Harness {
  public:
    /// What memory is filled with before it is written to.
    using Poison = std::array<u8, 8>;

    /// Opens the device. Throws unavailable.
    explicit Harness(const std::string& selector);

    const std::string& selector() const { return device_->info().selector; }
    Device& device() const { return *device_; }
    Stream& stream() const { return *stream_; }
    /// Whether kernels run here, or are only compiled.
    bool runs() const { return device_->traits().runs; }
    /// Whether barriers within groups are emulated here, which makes the textbook's kernels very slow.
    bool emulates_barriers() const {
        return device_->traits().dialect == Dialect::opencl && !device_->traits().many_items;
    }

    /// Why the device or the host has no room for the work with some to spare; empty if it has.
    std::string no_room_for(const Work& work) const;

    /// Allocates and uploads; replaces what was loaded.
    void load(const Work& work, const Placement& placement);
    /// Runs the loaded work once on poisoned outputs, and verifies these and their surroundings. Throws what
    /// the call throws.
    Verdict run(const Variant& variant);
    /// Verifies whether the inputs and their surroundings are as they were.
    Verdict verify_inputs();
    /// Calls the loaded work.
    Enqueued call(std::string_view variant);
    /// run() of any other call that does the work, verified as that variant's.
    Verdict run(const Variant& verified_as, const std::function<void()>& call);
    /// Where the loaded work lies.
    Operands operands() const;

    /// A fingerprint of the last outputs, if their variant's order is fixed but they were not held to bits, in which every NaN counts as
    /// the same.
    u64 fingerprint() const { return fingerprint_; }

  private:
    struct Range {
        std::shared_ptr<Buffer> buffer;
        View view;
        Poison poison{};
    };
    void poison_outputs();
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

/// A harness for each device that the selectors name, once; none, or "all", name every device there is. Throws
/// unavailable for a device that cannot be had, and where there is none at all, with the backends' reasons;
/// `call` is who asks.
std::vector<Harness> open_harnesses(std::vector<std::string> selectors, const std::string& call);

}  // namespace concord::lab
