#pragma once
// What a rank of a distributed stencil has on its device.

#include "distributed_stencil.hpp"
#include "halo.hpp"

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
    /// overlaps: its steps are step_overlapped(), which takes streams of its own.
    StencilPart(Communicator& ranks, Stream& stream, Type type, const StencilCut& cut,
                const StarCoefficients& star, bool overlaps, const Options& options);

    std::string_view variant() const { return variant_; }
    u64 messages() const { return edges_.size(); }
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
    /// What a neighbour needs, and what comes from it. Faces do not overlap: those along z have the corners.
    struct Edge {
        bool sends_more;  // than its face: corners, and in a thin part planes, that other edges compute
        StencilBox face;
        Parcel send, receive;
        std::shared_ptr<Stream> stream;             // computes, sends and receives
        std::shared_ptr<Event> computed, complete;  // the last step's face; and all halos of this edge
    };

    View volume(u32 which) const;
    void begin_new();
    void exchange_on_edges();
    void exchange_on_stream();
    void compute(Stream& stream, const StencilBox& box);

    Communicator& ranks_;
    Stream& stream_;
    Type type_;
    StarCoefficients star_;
    Options options_;
    std::string_view variant_;

    StencilShape shape_;         ///< with halos
    StencilBox own_, interior_;  ///< the part; what no other rank needs and that needs no halo
    std::vector<Edge> edges_;    ///< one a neighbour; their faces are the rest of the part
    std::shared_ptr<Buffer> volumes_[2];
    u32 now_ = 0;             ///< the volume that holds the last step's result
    bool has_halos_ = false;  ///< and whether its halos are there

    // Every edge has a stream of its own, so that faces and their messages go beside one another and beside the interior.
    // Each waits for what the others have computed a step ago, and edges for one another's halos. An interior does not wait
    // for halos: faces that have to run where its groups leave room, ahead of those that still wait for a place, and
    // whose messages go beside the next interior, cost less than interiors that begin behind them (on two H200).
    std::shared_ptr<Event> interior_done_;
};

}  // namespace concord::detail
