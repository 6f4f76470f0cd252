#pragma once
/// @file
/// Stencil over ranks: time steps of a star on a volume that is decomposed over ranks. See concord/stencil.hpp for
/// the formula. Results are bitwise identical to one call of stencil() on the whole volume, for any number of ranks,
/// backends, domain decomposition and variant.
///
///     run_on_devices({gpu0, gpu1}, [&](Communicator& ranks, Stream& stream) {
///         const StencilCut cut = stencil_cut(shape, ranks.size(), star.radius());
///         const u64 points = cut.part_of(ranks.rank()).points(shape.columns);
///         const Array<float> in(stream, points), out(stream, points);   // the rank's box
///         distributed_stencil(ranks, stream, in, star, out, shape, 100);
///     });
///
/// Domain decomposition: a grid of ranks along z, y and x; rank = (z index * along_y + y index) * along_x + x index.
/// Parts are boxes. Their lengths along an axis differ by at most one plane, row or column, or by 4 columns if the
/// volume has a multiple of 4. Along an axis that is cut, no part is thinner than the radius, so halos come from the
/// next rank only. Ranks beyond the grid are idle.
///
/// Variants
///   fused        Default if every part has a CUDA device of its own, all neighbours have links, and the volume is
///                cut along z alone. A step is one kernel. It first computes the planes that other ranks need; some
///                of its groups write them into the other GPUs' memory meanwhile and signal. Groups that read halos
///                wait for the signals. Not available elsewhere. The local variant is columns, ring or streaming.
///   overlapped   Default otherwise. A step computes the points that other ranks need, and sends them while it
///                computes the interior. Each neighbour has a stream of its own, in addition to the caller's. The host
///                waits only for messages. GPUs exchange small halos every few steps only. These are as thick as the
///                steps' radii together, and points in them are computed on both sides.
///   sequential   A step exchanges halos, then computes. The baseline for `overlapped`.
///   data_server  The last rank holds the volume and computes nothing. It sends every other rank its part at the
///                start and collects the parts at the end; in between the others step as in `overlapped`. Needs at
///                least two ranks.
///
/// Memory per rank: two copies of its part with halos, and buffers for halos that are not contiguous. Traffic per step:
/// that of stencil(), and `radius` planes, rows or columns sent and received per face. If the volume has a multiple of
/// 4 columns, so do halos along x. They are exchanged after the whole step, and are computed with the part.
/// If ranks can write into each other's memory (devices of one process within reach, CUDA devices of processes on one
/// host), halos are written to their place; otherwise they are messages, which are packed unless they are contiguous.
///
/// All calls are collective. All arguments except the views, the stream and options.local must agree between ranks;
/// otherwise all ranks throw invalid_argument. Other errors are those of stencil() and of the communicator.
///
/// Sources: I. Ismayilov et al., Multi-GPU Communication Schemes for Iterative Solvers: When CPUs are Not in Charge,
/// 2023 (fused); P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009 (overlap); D. Kirk, W. Hwu,
/// Programming Massively Parallel Processors, 2nd edition, 2013, ch. 19 (data server).

#include <concord/communicator.hpp>
#include <concord/stencil.hpp>

#include <memory>

namespace concord {

/// Domain decomposition of a volume into along_z x along_y x along_x parts.
struct StencilCut {
    VolumeExtents shape;  ///< the whole volume
    u32 along_z = 1;      ///< parts along z
    u32 along_y = 1;      ///< parts along y
    u32 along_x = 1;      ///< parts along x

    /// Number of parts.
    u32 parts() const { return along_z * along_y * along_x; }
    /// Parts along z and y, and along x if there are several: "4 x 2".
    std::string name() const;
    /// Box that a rank computes; empty for ranks beyond the grid.
    StencilBox part_of(u32 rank) const;
};

/// Options of the stencil over ranks.
struct DistributedStencilOptions {
    std::string variant = "auto";  ///< a variant of distributed_stencil_algorithm
    u32 along_z = 0;  ///< parts along z. If all three are 0, stencil_cut() chooses; otherwise 0 means 1
    u32 along_y = 0;  ///< parts along y
    u32 along_x = 0;  ///< parts along x
    /// Time steps per exchange of halos, at most 8; 0: chosen by the size of halos, 1 if y or x is cut. More than one
    /// needs `overlapped` or `data_server`, and parts of at least 2 * steps_per_exchange * radius planes, rows or
    /// columns along each axis that is cut.
    u32 steps_per_exchange = 0;
    Options local = {};  ///< options of stencil_box() on each device
};

/// Descriptor of the stencil over ranks. It is not part of algorithms(), because it needs a communicator.
extern const Algorithm distributed_stencil_algorithm;

/// Returns the domain decomposition that calls with these options use. By default it is the grid along z and y with the
/// least estimated time of a step: the points of the largest part plus those of its halos. Halo points along y count
/// eight times, because they are packed and their faces are computed in tiles of many more rows. By default x is cut
/// only if neither z nor y can be, into the number of parts with the fewest columns in the widest part with its halos.
/// Throws invalid_argument for a grid of more parts than ranks or with parts thinner than the radius, for an unknown
/// variant, and for too few ranks. Along x, parts need the radius rounded up to a multiple of 4 if the volume has a
/// multiple of 4 columns.
StencilCut stencil_cut(const VolumeExtents& shape, u32 ranks, u32 radius,
                       const DistributedStencilOptions& options = {});

/// Returns the box of the input and the result that a rank holds: its part. With data_server the last rank holds the
/// whole volume, the others nothing.
StencilBox stencil_holding(const StencilCut& cut, u32 rank, u32 ranks,
                           const DistributedStencilOptions& options = {});

/// Runs time steps over ranks. `shape` is the whole volume. `in` and `out` are the box that this rank holds, in C order
/// without padding; they must not overlap. On a rank that holds nothing they are empty, with the type of the volume.
/// Asynchronous on the stream, with two exceptions: the call may block in Communicator::exchange(), and it returns only
/// after all work on internal streams is done, which is all but the interior of the last step.
void distributed_stencil(Communicator& ranks, Stream& stream, const View& in, const StarCoefficients& star,
                         const View& out, const VolumeExtents& shape, u64 steps = 1,
                         const DistributedStencilOptions& options = {});

/// Runs time steps over ranks on spans or arrays; the types are checked at compile time.
template <Range In, OutputRange Out>
void distributed_stencil(Communicator& ranks, Stream& stream, const In& in, const StarCoefficients& star,
                         const Out& out, const VolumeExtents& shape, u64 steps = 1,
                         const DistributedStencilOptions& options = {}) {
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, typename Out::Element>,
                  "distributed_stencil: in and out must have the same type");
    distributed_stencil(ranks, stream, View(in.view()), star, View(out.view()), shape, steps, options);
}

/// A decomposed volume that stays on the ranks between calls. distributed_stencil() creates one, uses it once and
/// drops it. The communicator and the stream must outlive it. Construction, run(), load() and store() are collective.
class DistributedStencil {
  public:
    /// Allocates this rank's part. Arguments as in distributed_stencil(); throws invalid_argument, out_of_memory.
    DistributedStencil(Communicator& ranks, Stream& stream, Type type, const VolumeExtents& shape,
                       const StarCoefficients& star, const DistributedStencilOptions& options = {});
    ~DistributedStencil();
    DistributedStencil(const DistributedStencil&) = delete;
    DistributedStencil& operator=(const DistributedStencil&) = delete;

    /// Domain decomposition of the volume.
    const StencilCut& cut() const noexcept;
    /// Box that this rank holds, see stencil_holding().
    StencilBox holding() const noexcept;
    /// Name of the variant.
    std::string_view variant() const noexcept;
    /// Name of the stencil's variant that computes this rank's part; "" before the first step and on a rank without a
    /// part.
    std::string_view local_variant() const noexcept;
    /// Number of time steps per exchange of halos.
    u32 steps_per_exchange() const noexcept;
    /// Number of messages that this rank sends per step, on average.
    f64 messages_per_step() const noexcept;
    /// Bytes that this rank sends per step, on average.
    u64 bytes_per_step() const noexcept;

    /// Copies the box that this rank holds into the volume.
    void load(const View& in);
    /// Runs that many steps. The halos of a newly loaded volume are exchanged before the first step, those of
    /// results after every steps_per_exchange() steps but the last.
    void run(u64 steps);
    /// Copies the box that this rank holds out of the volume.
    void store(const View& out);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace concord
