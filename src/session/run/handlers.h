// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "script/front/script.h"

namespace blip::session {

// A place at which a probe of the script fires, by the number that records and BlockOp::kProbe have. Probes without a hit have one
// each.
struct HandlerSite {
  uint32_t function = 0;  // in the program
  uint32_t captured = 0;  // values in its records
  bool has_hit = false;
  uint64_t address = 0;  // in the process that it was found in
  script::FiredProbe fired{};
};

// The compiled handlers of a script and its globals. Handlers of one probe that come to the same share a function, wherever they
// are. New ones may come at any time: libraries and processes that are there later.
class Handlers {
 public:
  explicit Handlers(script::Script& script) : script_(script) {}

  // The probes without a hit, whose handlers are made before all others.
  Status add_probes_without_hit();

  struct AtHit {
    uint64_t number = 0;  // of the site
    script::HitProgram hit{};
    script::HitProgram kept{};
  };
  // The handler of probes()[probe] at one more place, with `place` as its name.
  Result<AtHit> add_site(size_t probe, script::CodeName place, script::HitSite& site, uint64_t address = 0);

  const script::Program& program() const { return program_; }
  std::vector<state::Map>& maps() { return maps_; }
  const std::vector<HandlerSite>& sites() const { return sites_; }
  // Whether a record with so many captured values can be of that site.
  bool takes(uint64_t site, size_t captured) const {
    return sites_[site].has_hit && sites_[site].captured == captured;
  }
  // The site of a probe without a hit; nullopt: it has one.
  std::optional<uint64_t> site_of(size_t probe) const;
  script::Script& script() { return script_; }
  const script::Script& script() const { return script_; }

 private:
  // A handler as it was lowered, and what became of it.
  struct Variant {
    script::Function whole;
    script::HitProgram kept;
    script::HitProgram hit;
    uint32_t function = 0;
  };
  struct OfProbe {
    std::vector<Variant> variants;       // by function as lowered
    std::vector<uint32_t> functions;     // by what is left of them for blip
    std::optional<size_t> everywhere{};  // the variant of all places: nobody asked what names mean there
  };

  Result<script::Lowered> lower(size_t probe, script::HitSite* site);
  Status check_added(size_t first_function);
  Result<size_t> variant_of(size_t probe, script::HitSite& site);
  Result<Variant> split(size_t probe, script::Lowered lowered);
  uint32_t shared(size_t probe, script::Function rest);
  void make_maps();

  script::Script& script_;
  script::Program program_;
  std::vector<state::Map> maps_;
  std::vector<HandlerSite> sites_;
  std::map<size_t, OfProbe> probes_;
  std::map<size_t, uint64_t> without_hit_;
};

}  // namespace blip::session
