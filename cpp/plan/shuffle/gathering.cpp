#include "plan/shuffle/gathering.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>

#include "plan/shuffle/emitter.hpp"
#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::shuffle {
namespace {

// The output of a tile as runs of contiguous elements, cut into whole registers.
std::vector<std::int64_t> cut_runs(const Tile& tile, std::int64_t register_bytes) {
  ContiguousRun run(tile.element_bytes);
  std::vector<std::int64_t> starts{0};
  for (const int m : tile.out_order) {
    const TileMode& mode = tile.modes[at(m)];
    if (mode.tile == 1 || run.extend(mode.out_step, mode.tile)) continue;
    const std::size_t inner = starts.size();
    for (std::int64_t i = 1; i < mode.tile; ++i) {
      for (std::size_t k = 0; k < inner; ++k) starts.push_back(starts[k] + i * mode.out_step);
    }
  }
  std::vector<std::int64_t> offsets;
  for (const std::int64_t start : starts) {
    for (std::int64_t byte = 0; byte < run.bytes(); byte += register_bytes) {
      offsets.push_back(start + std::min(byte, run.bytes() - register_bytes));
    }
  }
  return offsets;
}

// The fewest registers that hold all elements at these offsets, which rise. Between the first and
// the last byte of those that are no further apart than `gap`, everything may be read.
std::vector<std::int64_t> cover(std::span<const std::int64_t> offsets, std::int64_t element_bytes,
                                std::int64_t register_bytes, std::int64_t gap) {
  std::vector<std::int64_t> registers;
  std::vector<bool> is_held(offsets.size());
  for (std::size_t first = 0, end = 0; first < offsets.size(); ++first) {
    while (end < offsets.size() &&
           (end <= first || offsets[end] <= offsets[end - 1] + element_bytes + gap)) {
      ++end;
    }
    if (is_held[first]) continue;
    const std::int64_t beyond =
        offsets[first] + register_bytes - (offsets[end - 1] + element_bytes);
    const std::int64_t start =
        offsets[first] - std::max<std::int64_t>(ceil_div(beyond, element_bytes), 0) * element_bytes;
    registers.push_back(start);
    for (std::size_t i = first; i < end && offsets[i] + element_bytes <= start + register_bytes;
         ++i) {
      if ((offsets[i] - start) % element_bytes == 0) is_held[i] = true;
    }
  }
  return registers;
}

// Finds for the lanes of one stored register the loaded ones that hold them. Where two lie one over
// the other, the one that holds more lanes that are not found yet.
class OriginFinder {
 public:
  OriginFinder(std::span<const std::int64_t> loads, std::int64_t element_bytes, int lanes)
      : loads_(loads), element_bytes_(element_bytes), lanes_(lanes) {}

  // `in_offsets` are those of the lanes' elements.
  void find(std::span<const std::int64_t> in_offsets, std::span<Origin> origins) const {
    for (Origin& origin : origins) origin.load = kUndefined;
    for (std::size_t first = 0; first < origins.size(); ++first) {
      if (origins[first].load != kUndefined) continue;
      int best = kUndefined;
      int most = 0;
      for (std::size_t i = 0; i < loads_.size(); ++i) {
        if (!holds(loads_[i], in_offsets[first])) continue;
        int useful = 0;
        for (std::size_t k = first; k < origins.size(); ++k) {
          useful += origins[k].load == kUndefined && holds(loads_[i], in_offsets[k]);
        }
        if (useful > most) {
          best = static_cast<int>(i);
          most = useful;
        }
      }
      if (best == kUndefined) throw std::logic_error("a lane of a stored register is not loaded");
      for (std::size_t k = first; k < origins.size(); ++k) {
        const std::int64_t load = loads_[at(best)];
        if (origins[k].load != kUndefined || !holds(load, in_offsets[k])) continue;
        origins[k] = {.load = best,
                      .lane = static_cast<int>((in_offsets[k] - load) / element_bytes_)};
      }
    }
  }

 private:
  bool holds(std::int64_t load, std::int64_t in_offset) const {
    // Rows that lie one over the other may begin inside each other's elements.
    return in_offset >= load && in_offset < load + lanes_ * element_bytes_ &&
           (in_offset - load) % element_bytes_ == 0;
  }

  std::span<const std::int64_t> loads_;
  std::int64_t element_bytes_;
  int lanes_;
};

// The register whose lanes come from these places.
int emit_sum(Emitter& emitter, std::span<const int> loaded, std::span<const Origin> origins) {
  const auto lanes = static_cast<int>(origins.size());
  std::vector<int> index(origins.size(), kUndefined);
  int sum = kNoRegister;
  int first = kUndefined;  // what the index takes lanes from before there is a sum
  for (std::size_t lane = 0; lane < origins.size(); ++lane) {
    if (index[lane] != kUndefined) continue;
    const int load = origins[lane].load;
    for (std::size_t k = lane; k < origins.size(); ++k) {
      if (origins[k].load == load) index[k] = origins[k].lane + (first == kUndefined ? 0 : lanes);
    }
    if (first == kUndefined) {
      first = load;
      continue;
    }
    const int source = sum == kNoRegister ? loaded[at(first)] : sum;
    sum = emitter.shuffle(source, loaded[at(load)], index);
    for (std::size_t k = 0; k < index.size(); ++k) {
      if (index[k] != kUndefined) index[k] = static_cast<int>(k);
    }
  }
  return sum == kNoRegister ? emitter.self_shuffle(loaded[at(first)], std::move(index)) : sum;
}

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> list_elements(const Tile& tile) {
  std::vector<std::pair<std::int64_t, std::int64_t>> elements{{0, 0}};
  for (const int m : tile.out_order) {
    const TileMode& mode = tile.modes[at(m)];
    const std::size_t inner = elements.size();
    for (std::int64_t i = 1; i < mode.tile; ++i) {
      for (std::size_t k = 0; k < inner; ++k) {
        elements.emplace_back(elements[k].first + i * mode.out_step,
                              elements[k].second + i * mode.in_step);
      }
    }
  }
  std::ranges::sort(elements);
  return elements;
}

Gathering gather(const Tile& tile, int lanes, std::int64_t gap) {
  const std::int64_t register_bytes = lanes * tile.element_bytes;
  const auto elements = list_elements(tile);
  std::vector<std::int64_t> read;
  for (const auto& [out, in] : elements) read.push_back(in);
  std::ranges::sort(read);
  Gathering result{
      .loads = cover(read, tile.element_bytes, register_bytes, gap),
      .stores = cut_runs(tile, register_bytes),
      .origins = {},
  };
  result.origins.resize(result.stores.size() * at(lanes));
  const OriginFinder finder(result.loads, tile.element_bytes, lanes);
  std::vector<std::int64_t> in_offsets(at(lanes));
  for (std::size_t i = 0; i < result.stores.size(); ++i) {
    auto element = std::ranges::lower_bound(elements, std::pair(result.stores[i], INT64_MIN));
    for (std::int64_t& offset : in_offsets) offset = (element++)->second;
    finder.find(in_offsets, std::span(result.origins).subspan(i * at(lanes), at(lanes)));
  }
  return result;
}

Program permute_by_gathering(const Tile& tile, int lanes, std::int64_t gap) {
  const Gathering gathering = gather(tile, lanes, gap);
  Emitter emitter(lanes, tile.element_bytes);
  const auto whole = [&](std::int64_t offset) {
    return Access{.lane = 0, .lanes = lanes, .offset = offset};
  };
  std::vector<int> loaded;
  for (const std::int64_t offset : gathering.loads) loaded.push_back(emitter.load({whole(offset)}));
  for (std::size_t i = 0; i < gathering.stores.size(); ++i) {
    const auto origins = std::span(gathering.origins).subspan(i * at(lanes), at(lanes));
    emitter.store(emit_sum(emitter, loaded, origins), whole(gathering.stores[i]));
  }
  return std::move(emitter).take();
}

}  // namespace ttlg::shuffle
