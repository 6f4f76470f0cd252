#pragma once
// The part of a distributed stencil's volume on one rank.

#include <concord/internal/link.hpp>
#include <concord/internal/stencil_exchange.hpp>
#include "distributed_stencil_variants.hpp"
#include "halo.hpp"

#include <array>
#include <optional>
#include <span>

namespace concord::detail {

// A rank's part in its memory, and its edges to other ranks. Coordinates are those of that memory.
struct PartLayout {
    // Connection to a neighbour. Faces do not overlap: those along z include the corners.
    struct Edge {
        u32 rank;
        StencilBox face, send, receive;
    };

    // `halo`: planes, rows or columns of a halo and of a face. `by_axis`: halos along an axis include those along the
    // axes before.
    PartLayout(const StencilCut& cut, u32 rank, u64 halo, bool by_axis);

    VolumeExtents shape;       // with halos
    StencilBox own, interior;  // the part; its points that need no halo and that no other rank needs
    // One per neighbour, along z, then y, then x. Faces along z and y are the rest of the part; edges along x have no
    // face.
    std::vector<Edge> edges;
    std::array<u64, 4> first_edge = {};  // the edges of axis i are [first_edge[i], first_edge[i + 1])
};

// A box of a volume that is sent to a rank or received from it. A box with gaps is packed into a buffer of its own.
class BoxMessage {
  public:
    BoxMessage(Device& device, u32 rank, const BoxRuns& box, Type type);

    u32 rank() const { return rank_; }
    u64 bytes() const { return box_.elements() * size_of(type_); }
    // Returns the range to send; enqueues packing if it is needed.
    View pack(Stream& stream, const View& volume) const;
    // Returns the range to receive into.
    View target(const View& volume) const;
    // Enqueues unpacking of what was received, if it is needed.
    void unpack(Stream& stream, const View& volume) const;

  private:
    View own(const View& volume) const;
    View packed() const;

    u32 rank_;
    BoxRuns box_;
    Type type_;
    std::shared_ptr<Buffer> buffer_;
};

// A rank's part with its halos, in two volumes: a step reads one and writes the other. Coordinates are those of these
// volumes.
class StencilPart {
  public:
    // Connects the part with its neighbours. start() follows.
    StencilPart(Communicator& ranks, Stream& stream, Type type, const StencilCut& cut,
                const StarCoefficients& star, u32 per_exchange, const Options& options);
    // Whether there are links to all neighbours.
    bool is_linked() const;
    // Whether kernels of this rank can exchange halos with its neighbours, which must lie along z.
    bool can_fuse();
    // The schedule of all steps. All ranks choose the same one.
    void start(StepSchedule schedule);

    std::string_view variant() const { return variant_; }
    // Of an exchange.
    u64 messages() const { return edges_.size(); }
    u64 message_bytes() const;

    // Transfers the part without its halos on the stream: from and to a view, or from and to a rank.
    void load(const View& in);
    void store(const View& out);
    void receive(u32 rank);
    void send(u32 rank);

    // Runs steps. The halos of the last step's result are not exchanged. The stream waits for all work of the last
    // step.
    void run(u64 steps);

  private:
    // Connection to a neighbour. Over a link, halos are written into the neighbour's volumes; otherwise they are
    // messages.
    struct Edge {
        u32 rank;
        bool sends_more;  // than its face: corners, and in a thin part also planes that other edges compute
        StencilBox face;
        BoxRuns from, to;  // of the link: what is written, and where
        u64 bytes;         // sent per exchange
        std::shared_ptr<Link> link;
        std::shared_ptr<Buffer> flags;  // StencilNeighbour::flags
        std::optional<BoxMessage> send, receive;
        u64 remote_points;
        std::shared_ptr<Stream> stream;             // computes the face, sends and receives
        std::shared_ptr<Event> computed, complete;  // the face of the last step; all halos of this edge
    };

    View volume(u32 which) const;
    VolumeView shaped(u32 which) const;
    void begin_new();
    void start_edges();
    void exchange_on_edges();
    void exchange_halos(std::span<const Edge> edges);
    std::span<const Edge> edges_along(u32 axis) const;
    void exchange_on_stream();
    void write_halo(Stream& stream, const Edge& edge);
    void compute(Stream& stream, const StencilBox& box);
    void step_overlapped(u64 left);
    void step_sequential();
    void step_fused(u64 left);
    u64 steps_to_exchange(u64 left);
    StencilBox grown(u64 by) const;

    Communicator& ranks_;
    Stream& stream_;
    Type type_;
    StarCoefficients star_;
    Options options_;
    StepSchedule schedule_ = StepSchedule::sequential;
    u32 per_exchange_;  // steps between two exchanges
    // Whether halos are exchanged axis by axis: along z, then y, then x. Those along y include planes of halos along z,
    // and so on, so that corners arrive without messages between diagonal neighbours.
    bool by_axis_;
    std::string_view variant_;

    VolumeExtents shape_;        // with halos
    StencilBox own_, interior_;  // the part; its points that need no halo and that no other rank needs
    std::vector<Edge> edges_;    // as in PartLayout
    std::array<u64, 4> first_edge_ = {};
    std::shared_ptr<Buffer> volumes_[2];
    u32 now_ = 0;             // index of the volume with the last step's result
    bool has_halos_ = false;  // whether the halos of that volume are complete

    // Fused: the kernel of a step writes the halos of the next step and waits for those of this one. There are no other
    // streams. A neighbour finishes a turn when its groups at the face have read their halos and their planes have
    // arrived here. So the kernel's wait also guarantees that the halos which it writes may be overwritten.
    u32 turn_ = 0;  // the last turn of this rank's kernels

    // Overlapped: each edge has its own stream, so faces and messages overlap with each other and with the interior.
    // Faces run at high priority as soon as groups of the interior leave room.
    //
    // One step per exchange: an edge's stream waits for what the other streams computed one step ago and for the halos
    // of the other edges. The interior does not wait for halos, and messages overlap with the next interior. On two
    // H200 this is faster than interiors that start after the faces.
    //
    // Several steps per exchange: halos have the radius of all steps together. A step computes the part and as much of
    // the halos as later steps need, in one launch. The last step before an exchange computes the faces, then the
    // interior, which messages overlap with.
    //
    // A cut along x: as with several steps per exchange. Steps compute whole rows of the memory. This leaves garbage in
    // the halos along x, which are exchanged after the interior.
    std::shared_ptr<Event> interior_done_;
};

}  // namespace concord::detail
