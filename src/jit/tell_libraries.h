// SPDX-License-Identifier: MIT
#pragma once

#include "jit/emit/emitter.h"

namespace blip::jit {

// Tells blip that the loader has changed the list of libraries: see abi::LibraryWord.
class TellLibrariesEmitter final : public ActionEmitter {
 public:
  using ActionEmitter::ActionEmitter;

  void hot(asmjit::Label done) override;
  void cold(asmjit::Label) override {}
};

}  // namespace blip::jit
