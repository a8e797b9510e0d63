// SPDX-License-Identifier: MIT
#include "session/run/handlers.h"

#include <algorithm>
#include <utility>

#include "script/blocks/split.h"
#include "script/blocks/verify.h"

namespace blip::session {

namespace {

using script::Function;
using script::HitScopes;
using script::HitSite;
using Kind = script::WantedProbe::Kind;

// Equal handlers are looked for among the last ones: places of one probe that differ, differ all over.
constexpr size_t kLookBack = 16;

// Notices whether it matters to the handler where it is.
class WatchedSite final : public HitSite {
 public:
  explicit WatchedSite(HitSite& site) : site_(site) {}
  const HitScopes& scopes() override {
    asked_ = true;
    return site_.scopes();
  }
  bool asked() const { return asked_; }

 private:
  HitSite& site_;
  bool asked_ = false;
};

Error unusable(const Error& error) {
  return Error(ErrorKind::kUnsupported, "the handler cannot be run: " + error.message());
}

}  // namespace

Result<script::Lowered> Handlers::lower(size_t probe, HitSite* site) {
  const size_t before = program_.functions.size();
  TRY(script::Lowered lowered, script_.lower(probe, site, program_));
  lowered.function.probe = static_cast<uint32_t>(probe);
  make_maps();
  TRY_OK(check_added(before));
  return lowered;
}

// What the language adds is checked as if it came from a file.
Status Handlers::check_added(size_t first_function) {
  const Status valid = script::verify(program_, first_function);
  return valid ? Status() : Status(unusable(valid.error()));
}

void Handlers::make_maps() {
  while (maps_.size() < program_.maps.size()) maps_.emplace_back(program_.maps[maps_.size()]);
}

Status Handlers::add_probes_without_hit() {
  const auto& probes = script_.probes();
  for (size_t i = 0; i < probes.size(); ++i) {
    if (script::has_hit(probes[i].kind)) continue;
    TRY(script::Lowered lowered, lower(i, nullptr));
    program_.functions.push_back(std::move(lowered.function));
    const auto function = static_cast<uint32_t>(program_.functions.size() - 1);
    TRY_OK(check_added(function));
    without_hit_[i] = sites_.size();
    sites_.push_back({.function = function, .fired = {.wanted = i}});
  }
  return {};
}

std::optional<uint64_t> Handlers::site_of(size_t probe) const {
  const auto found = without_hit_.find(probe);
  return found == without_hit_.end() ? std::nullopt : std::optional(found->second);
}

Result<Handlers::AtHit> Handlers::add_site(size_t probe, script::CodeName place, HitSite& site,
                                           uint64_t address) {
  OfProbe& all = probes_[probe];
  size_t which = 0;
  if (all.everywhere) {
    which = *all.everywhere;
  } else {
    TRY(which, variant_of(probe, site));
  }
  const Variant& v = all.variants[which];
  const size_t captured = program_.functions[v.function].captured.size();
  sites_.push_back({.function = v.function,
                    .captured = static_cast<uint32_t>(captured),
                    .has_hit = true,
                    .address = address,
                    .fired = {.wanted = probe, .place = std::move(place)}});
  return AtHit{.number = sites_.size() - 1, .hit = v.hit, .kept = v.kept};
}

Result<size_t> Handlers::variant_of(size_t probe, HitSite& site) {
  WatchedSite watched(site);
  TRY(script::Lowered lowered, lower(probe, &watched));
  OfProbe& all = probes_[probe];
  const size_t begin = all.variants.size() - std::min(all.variants.size(), kLookBack);
  for (size_t i = begin; i < all.variants.size(); ++i)
    if (all.variants[i].whole == lowered.function && all.variants[i].kept == lowered.kept) return i;
  TRY(Variant made, split(probe, std::move(lowered)));
  all.variants.push_back(std::move(made));
  if (!watched.asked()) all.everywhere = all.variants.size() - 1;
  return all.variants.size() - 1;
}

Result<Handlers::Variant> Handlers::split(size_t probe, script::Lowered lowered) {
  const size_t at = program_.functions.size();
  program_.functions.push_back(lowered.function);
  const Status valid = check_added(at);
  program_.functions.pop_back();
  if (!valid) return valid.error();
  TRY(script::Split parts, script::split(program_, lowered.function));
  const size_t before = program_.functions.size();
  const uint32_t function = shared(probe, std::move(parts.rest));
  if (program_.functions.size() > before) TRY_OK(check_added(before));
  return Variant{.whole = std::move(lowered.function),
                 .kept = std::move(lowered.kept),
                 .hit = std::move(parts.target),
                 .function = function};
}

// The number of an equal function, or of this one.
uint32_t Handlers::shared(size_t probe, Function rest) {
  std::vector<uint32_t>& known = probes_[probe].functions;
  const size_t begin = known.size() - std::min(known.size(), kLookBack);
  for (size_t i = begin; i < known.size(); ++i)
    if (program_.functions[known[i]] == rest) return known[i];
  program_.functions.push_back(std::move(rest));
  known.push_back(static_cast<uint32_t>(program_.functions.size() - 1));
  return known.back();
}

}  // namespace blip::session
