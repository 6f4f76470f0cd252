#pragma once
/// Stencil over ranks: time steps of a star on a volume that no rank holds as a whole. What a step computes is told in
/// concord/stencil.hpp; the bits are those of one call of stencil() on all of the volume, whatever the number of ranks,
/// their backends, the cut and the variant.
///
///     concord::run_on_devices({gpu0, gpu1}, [&](concord::Communicator& ranks, concord::Stream& stream) {
///         const concord::StencilCut cut = concord::stencil_cut(shape, ranks.size(), star.radius());
///         const concord::u64 points = cut.part_of(ranks.rank()).points(shape.columns);
///         const concord::Array<float> in(stream, points), out(stream, points);   // the rank's box
///         concord::distributed_stencil(ranks, stream, in, out, shape, star, 100);
///     });
///
/// The cut: a grid of ranks along z and y; rank = z index * along_y + y index. Parts are boxes whose lengths along an axis
/// differ by one plane or row at most, and no part is thinner than the radius along an axis that is cut, so that a
/// halo comes from the next rank alone. Ranks past the grid have nothing to do.
///
/// Variants
///   overlapped   The default. A step computes the points that other ranks need and sends them while it computes
///                the rest, on a stream for each neighbour beside the caller's. The host waits for messages only.
///   sequential   A step exchanges halos, then computes: what overlapping gains is measured against this.
///   data_server  The textbook's arrangement: the last rank computes nothing, but holds the volume, sends every other
///                rank its part at the start and collects the parts at the end; between them the others step as in
///                `overlapped`. Takes two ranks at least.
///
/// Memory: two volumes of a part with its halos a rank, and what packs halos along y. Traffic: a step's, see
/// concord/stencil.hpp; of a halo radius planes (or rows) a face go out and come in, those along y packed and unpacked.
/// All calls are collective, and all arguments but the views and the stream have to agree: else invalid_argument, on all
/// ranks alike. Errors are else those of stencil() and of the communicator.
///
/// Sources: P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009, for the overlap; D. Kirk,
/// W. Hwu, Programming Massively Parallel Processors, 2nd edition, 2013, chapter 19, for the data server.

#include <concord/communicator.hpp>
#include <concord/stencil.hpp>

#include <memory>

namespace concord {

/// A volume cut into along_z x along_y parts.
struct StencilCut {
    StencilShape shape;
    u32 along_z = 1, along_y = 1;

    u32 parts() const { return along_z * along_y; }
    /// What that rank computes; an empty box for one past the grid.
    StencilBox part_of(u32 rank) const;
};

/// The grid of at most that many parts that takes least of a step's time, told by the largest part's points and those of
/// its halos; points of halos along y count eight times, for they are packed and unpacked, and their faces computed in tiles
/// of many more rows. Of equals the one with fewer parts along y.
StencilCut choose_cut(const StencilShape& shape, u32 ranks, u32 radius);

struct DistributedStencilOptions {
    std::string variant = "auto";  ///< of distributed_stencil_variants()
    u32 along_z = 0, along_y = 0;  ///< the grid; 0 and 0: choose_cut()'s
    Options local = {};            ///< of stencil_box() on each device
};

/// All variants. Their dialects are those of the local stencil.
std::span<const Variant* const> distributed_stencil_variants();

/// The cut that calls with these options take. Throws invalid_argument, with the values, where a grid is asked for that
/// needs more ranks than there are or parts thinner than the radius, and where `variant` has no such name or too few ranks.
StencilCut stencil_cut(const StencilShape& shape, u32 ranks, u32 radius,
                       const DistributedStencilOptions& options = {});

/// The box that a rank has of the input and of the result: its part of the cut; with data_server all of the volume on the last
/// rank, and nothing on the others.
StencilBox stencil_holding(const StencilCut& cut, u32 rank, u32 ranks,
                           const DistributedStencilOptions& options = {});

/// `in` and `out` are what the rank holds, a volume in C order without gaps; they may not overlap. On a rank that holds
/// nothing they are empty, but of the volume's type. Enqueues on the stream and on some of its own; the caller is kept as long as
/// Communicator::exchange() keeps him, and until what is on those of its own is done: all but the last step's interior.
void distributed_stencil(Communicator& ranks, Stream& stream, const View& in, const View& out,
                         const StencilShape& shape, const StarCoefficients& star, u64 steps = 1,
                         const DistributedStencilOptions& options = {});

/// The same for spans or arrays.
template <Range In, Range Out>
void distributed_stencil(Communicator& ranks, Stream& stream, const In& in, const Out& out,
                         const StencilShape& shape, const StarCoefficients& star, u64 steps = 1,
                         const DistributedStencilOptions& options = {}) {
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, typename Out::Element>,
                  "in and out have different types");
    distributed_stencil(ranks, stream, View(in.view()), View(out.view()), shape, star, steps, options);
}

/// A volume that stays on the ranks between calls: what distributed_stencil() makes, uses once and drops. The communicator
/// and the stream have to outlive it.
class DistributedStencil {
  public:
    DistributedStencil(Communicator& ranks, Stream& stream, Type type, const StencilShape& shape,
                       const StarCoefficients& star, const DistributedStencilOptions& options = {});
    ~DistributedStencil();
    DistributedStencil(const DistributedStencil&) = delete;
    DistributedStencil& operator=(const DistributedStencil&) = delete;

    const StencilCut& cut() const noexcept;
    /// What this rank holds, see stencil_holding().
    StencilBox holding() const noexcept;
    /// The name of the variant, and of the stencil's that computes parts ("" on a rank that computes nothing, or has not yet).
    std::string_view variant() const noexcept;
    std::string_view local_variant() const noexcept;
    /// Messages that this rank sends a step, and their bytes.
    u64 messages_per_step() const noexcept;
    u64 bytes_per_step() const noexcept;

    /// Takes what the rank holds.
    void load(const View& in);
    /// That many steps. Halos go over ahead of the first one if the volume is new, and with every step but the last.
    void run(u64 steps);
    /// Gives back what the rank holds.
    void store(const View& out);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace concord
