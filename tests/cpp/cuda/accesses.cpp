#include "cuda/accesses.hpp"

#include <algorithm>

namespace ttlg::test {
namespace {

bool is_same_call(const Call& x, const Call& y) { return x.kind == y.kind && x.bytes == y.bytes; }

bool is_valid_in(Lanes lanes, std::size_t n) {
  return std::ranges::any_of(lanes, [n](const auto& calls) { return calls[n].valid; });
}

}  // namespace

int deviating_lane(Lanes lanes) {
  for (std::size_t lane = 1; lane < lanes.size(); ++lane) {
    if (!std::ranges::equal(lanes[lane], lanes[0], is_same_call)) return static_cast<int>(lane);
  }
  return -1;
}

void SectorCounter::touch(std::int64_t position, SideCounts& counts) {
  std::int64_t& line_block = line_blocks_[static_cast<std::size_t>(position / kLineBytes)];
  counts.lines_of_block += line_block != block_;
  line_block = block_;
  Stamp& stamp = stamps_[static_cast<std::size_t>(position / kSectorBytes)];
  counts.sectors += stamp.access != access_;
  counts.sectors_of_block += stamp.block != block_;
  counts.sectors_of_run += stamp.block == 0;
  stamp = {access_, block_};
}

void AccessCounter::begin_block() {
  in_.begin_block();
  out_.begin_block();
}

void AccessCounter::count(Lanes lanes) {
  for (std::size_t n = 0; n < lanes[0].size(); ++n) {
    if (!is_valid_in(lanes, n)) continue;
    switch (lanes[0][n].kind) {
      case CallKind::load:
        count_global(lanes, n, in_, counts.load);
        break;
      case CallKind::store:
        count_global(lanes, n, out_, counts.store);
        break;
      case CallKind::shared_load:
        count_shared(lanes, n, counts.shared_loads);
        break;
      case CallKind::shared_store:
        count_shared(lanes, n, counts.shared_stores);
        break;
      case CallKind::shuffle:
        break;
    }
  }
}

// An aligned word lies in one sector.
void AccessCounter::count_global(Lanes lanes, std::size_t n, SectorCounter& sectors,
                                 SideCounts& side) {
  ++side.accesses;
  sectors.begin_access();
  for (const auto& calls : lanes) {
    if (calls[n].valid) sectors.touch(calls[n].position, side);
  }
}

// The banks deliver 128 bytes a cycle: words of 8 bytes go by half warps, of 16 by quarter warps.
void AccessCounter::count_shared(Lanes lanes, std::size_t n, std::int64_t& accesses) {
  ++accesses;
  const std::size_t bytes = std::max<std::size_t>(lanes[0][n].bytes, kBankWordBytes);
  const std::size_t lanes_of_phase = kBanks * kBankWordBytes / bytes;
  for (std::size_t lane = 0; lane < lanes.size(); lane += lanes_of_phase) {
    counts.bank_conflicts += conflicts(lanes.subspan(lane, lanes_of_phase), n);
  }
}

// A bank serves one of its words a cycle, to all lanes that want it. Looking at the first bank of
// wide words will do: the others of an aligned word are exactly as busy.
std::int64_t AccessCounter::conflicts(Lanes phase, std::size_t n) {
  ++phase_;
  std::array<std::int64_t, kBanks> words_of_bank{};
  for (const auto& calls : phase) {
    const Call& call = calls[n];
    if (!call.valid) continue;
    const std::size_t word = static_cast<std::size_t>(call.position) / kBankWordBytes;
    words_of_bank[word % kBanks] += bank_words_[word] != phase_;
    bank_words_[word] = phase_;
  }
  return std::max<std::int64_t>(std::ranges::max(words_of_bank) - 1, 0);
}

}  // namespace ttlg::test
