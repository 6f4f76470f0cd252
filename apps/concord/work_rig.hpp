#pragma once
/// Runs work on one device so that nothing goes unnoticed: guarded buffers, poisoned outputs, inputs that
/// must stay.

#include "suite.hpp"

#include <memory>
#include <string>
#include <vector>

namespace concord::app {

class Rig {
  public:
    /// Opens the device. Throws unavailable.
    explicit Rig(const std::string& selector);

    const std::string& selector() const { return device_->info().selector; }
    Device& device() const { return *device_; }
    Stream& stream() const { return *stream_; }
    /// Whether kernels run here, or are only compiled.
    bool runs() const { return device_->traits().runs; }
    /// Whether barriers within groups are emulated here, which makes the textbook's kernels crawl.
    bool crawls() const {
        return device_->traits().dialect == Dialect::opencl && !device_->traits().many_lanes;
    }

    /// Why the device or the host has no room for the work with some to spare; empty if it has.
    std::string no_room_for(const Work& work) const;

    /// Allocates and uploads; replaces what was loaded.
    void load(const Work& work, const Placement& placement);
    /// Runs the loaded work once on a poisoned output, and judges the output and its surroundings. Throws
    /// what the call throws.
    Verdict run(const Variant& variant);
    /// Judges whether the inputs and their surroundings are as they were.
    Verdict judge_inputs();
    /// Calls the loaded work; for timing.
    Run call(std::string_view variant);

    /// A fingerprint of the last output, if its variant's order is its own, in which every NaN counts as the
    /// same.
    u64 fingerprint() const { return fingerprint_; }

  private:
    struct Range {
        std::shared_ptr<Buffer> buffer;
        View view;
    };
    Range make_range(Type type, u64 count, u64 offset);
    void upload(const Input& input, const Range& range);
    void judge_range(const Range& range, Verdict& verdict, const char* name, u64 piece_elements,
                     const std::function<void(u64 first, std::span<const std::byte> got)>& judge);

    std::shared_ptr<Device> device_;
    std::shared_ptr<Stream> stream_;
    Work work_;
    Placement placement_;
    std::vector<Range> inputs_;
    Range output_;
    u64 fingerprint_ = 0;
    std::vector<std::byte> read_back_;
};

}  // namespace concord::app
