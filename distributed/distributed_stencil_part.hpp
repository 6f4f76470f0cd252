#pragma once
// What a rank of a distributed stencil has on its device.

#include "distributed_stencil.hpp"
#include "halo.hpp"

#include <array>
#include <optional>

namespace concord::detail {

/// A box of a volume that goes to a rank, or comes from it: where it has gaps, through a buffer without.
class Parcel {
  public:
    Parcel(Device& device, u32 rank, const BoxRuns& box, Type type);

    u32 rank() const { return rank_; }
    u64 bytes() const { return box_.runs.elements() * size_of(type_); }
    /// What to send, packed by the stream if it must be.
    View outgoing(Stream& stream, const View& volume) const;
    /// Where to receive, and what is to do when it is there.
    View incoming(const View& volume) const;
    void arrived(Stream& stream, const View& volume) const;

  private:
    View own(const View& volume) const;
    View packed() const;

    u32 rank_;
    BoxRuns box_;
    Type type_;
    std::shared_ptr<Buffer> buffer_;
};

/// A rank's part with its halos, twice: a step goes from one volume to the other. All coordinates are the volume's own.
class StencilPart {
  public:
    StencilPart(Communicator& ranks, Stream& stream, Type type, const StencilCut& cut,
                const StarCoefficients& star, const Options& options);

    std::string_view variant() const { return variant_; }
    u64 messages() const { return sends_.size(); }
    u64 message_bytes() const;

    /// The part without its halos, on the stream: from a view and to one, or from a rank and to one.
    void load(const View& in);
    void store(const View& out);
    void receive(u32 rank);
    void send(u32 rank);

    /// A step; the halos of its result go over at the same time, unless it is the last one. The stream ends after it.
    void step_overlapped(bool last);
    void step_sequential();

  private:
    View volume(u32 which) const;
    void begin_new();
    void exchange(Stream& stream, u32 which);
    void compute(Stream& stream, const StencilBox& box);

    Communicator& ranks_;
    Stream& stream_;
    Type type_;
    StarCoefficients star_;
    Options options_;
    std::string_view variant_;

    StencilShape shape_;               ///< with halos
    StencilBox own_, interior_;        ///< the part; what no other rank needs and that needs no halo
    std::array<StencilBox, 4> faces_;  ///< the rest of the part
    std::vector<Parcel> sends_, receives_;
    std::shared_ptr<Buffer> volumes_[2];
    u32 now_ = 0;             ///< the volume that holds the last step's result
    bool has_halos_ = false;  ///< and whether its halos are there

    // Faces are computed, sent and received on a stream of their own. Each of the two waits for what the other one has
    // computed a step ago, and for nothing else.
    std::shared_ptr<Stream> edge_;
    std::shared_ptr<Event> faces_done_, interior_done_;
};

}  // namespace concord::detail
