#include "opencl_copies.hpp"

#include "opencl_event.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace concord::opencl {
namespace {

struct Texts {
    std::mutex mutex;
    // By the hash of the source. A collision only costs a copy.
    std::unordered_map<std::size_t, std::shared_ptr<Copies>> copies;
};

// Never destroyed, because the driver may be unloaded first when the process ends.
Texts& texts() {
    static auto* const all = new Texts;
    return *all;
}

}  // namespace

std::shared_ptr<Copies> Copies::of_text(const std::string& text) {
    const std::lock_guard lock(texts().mutex);
    std::shared_ptr<Copies>& copies = texts().copies[std::hash<std::string>{}(text)];
    if (!copies) copies = std::make_shared<Copies>(Tracking::on);
    return copies;
}

void Copies::sweep() {
    auto idle = [](const Copy& copy) {
        return std::all_of(copy.begin(), copy.end(), std::mem_fn(&Runs::ended));
    };
    const std::lock_guard lock(texts().mutex);
    std::erase_if(texts().copies, [&](const auto& entry) {
        if (entry.second.use_count() > 1) return false;
        Copies& copies = *entry.second;
        const std::lock_guard after_the_last_launch(copies.mutex_);
        return std::all_of(copies.copies_.begin(), copies.copies_.end(), idle);
    });
}

bool Copies::Runs::ended() const {
    return has_ended(last.get());
}

std::size_t Copies::number_for(cl_command_queue queue, const Grid& grid) {
    auto may_overlap = [&](const Runs& runs) {
        return runs.queue == queue || (runs.grid == grid && !runs.of_many_grids) || runs.ended();
    };
    auto fits = [&](const Copy& copy) { return std::all_of(copy.begin(), copy.end(), may_overlap); };
    const auto number =
        static_cast<std::size_t>(std::find_if(copies_.begin(), copies_.end(), fits) - copies_.begin());
    if (number == copies_.size()) copies_.emplace_back();
    copies_[number].reserve(copies_[number].size() + 1);
    return number;
}

void Copies::launched(std::size_t number, cl_command_queue queue, const Grid& grid,
                      EventHandle run) noexcept {
    Copy& copy = copies_[number];
    const auto own =
        std::find_if(copy.begin(), copy.end(), [&](const Runs& runs) { return runs.queue == queue; });
    if (own == copy.end()) {
        std::erase_if(copy, std::mem_fn(&Runs::ended));
        copy.push_back({.queue = queue, .grid = grid, .last = std::move(run), .of_many_grids = false});
        return;
    }
    own->of_many_grids = (own->of_many_grids || own->grid != grid) && !own->ended();
    own->grid = grid;
    own->last = std::move(run);
}

}  // namespace concord::opencl
