// Carries emitted statements out as they are written, so that what a back end emits for any
// instruction set can be checked on any machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "generate/emitted/value.hpp"
#include "generate/lowering.hpp"

namespace ttlg::test::emitted {

struct Outcome {
  Bytes out;             // the output's bytes: each one's offset in the input
  int instructions = 0;  // of the statements, without those of the constants
};

// Runs the statements `body`, which `lowering` wrote, after its constants, between arrays of that
// many bytes. Throws std::logic_error for an access outside of them, for a tensor's byte that is
// changed or lost on the way, and for text that it does not know.
Outcome run(const generate::Lowering& lowering, std::string_view body, std::int64_t in_bytes,
            std::int64_t out_bytes);

}  // namespace ttlg::test::emitted
