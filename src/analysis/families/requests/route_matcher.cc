// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_matcher.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "analysis/families/requests/value_kinds.h"

namespace clrscope::analysis {
namespace {

// Of a segment without regard to case. Templates of one hash share a node, and are compared.
uint32_t HashSegment(std::string_view text) {
  uint32_t h = 0x811C9DC5u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(LowerAscii(c))) * 0x01000193u;
  return h;
}

constexpr size_t kMostActionKey = 256;
// In place of a template's index: what is known of bases.
constexpr uint32_t kBase = RouteMatcher::kNone;

std::string_view BaseKey(const RequestPath& path, size_t segments, std::span<char> room) {
  size_t size = 0;
  for (size_t i = 0; i < segments; ++i) {
    if (size + path[i].size() + 1 > room.size()) return {};
    for (const char c : path[i]) room[size++] = LowerAscii(c);
    room[size++] = '/';
  }
  return {room.data(), size};
}

}  // namespace

RouteMatcher::RouteMatcher() : nodes_(kMethods) {}

size_t RouteMatcher::MethodIndex(std::string_view method) {
  static constexpr std::string_view kKnown[kMethods - 1] = {
      "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "CONNECT", "TRACE", kAnyMethod};
  for (size_t i = 0; i < std::size(kKnown); ++i)
    if (EqualWithoutCase(kKnown[i], method)) return i;
  return kMethods - 1;
}

uint32_t RouteMatcher::NewNode() {
  nodes_.emplace_back();
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t RouteMatcher::Add(std::string_view method, std::string_view text) {
  const size_t root = MethodIndex(method);
  std::string key(1, static_cast<char>('0' + root));
  key += text;
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  if (templates_.size() == kMostTemplates) return kNone;
  std::optional<RouteTemplate> route = RouteTemplate::Parse(text);
  if (!route) return kNone;
  const auto index = static_cast<uint32_t>(templates_.size());
  auto node = static_cast<uint32_t>(root);
  for (size_t i = 0;; ++i) {
    if (i < route->size() && route->IsCatchAll(i)) {
      nodes_[node].catch_all.push_back(index);
      break;
    }
    if (route->MayEndBefore(i)) nodes_[node].here.push_back(index);
    if (i == route->size()) break;
    const std::optional<std::string_view> literal = route->Literal(i);
    if (literal) {
      const uint64_t edge = PairKey(node, HashSegment(*literal));
      uint32_t next = literals_.Find(edge);
      if (next == FlatMap::kNone) literals_.Set(edge, next = NewNode());
      node = next;
    } else {
      if (nodes_[node].any == kNone) {
        const uint32_t next = NewNode();
        nodes_[node].any = next;
      }
      node = nodes_[node].any;
    }
  }
  templates_.push_back({std::string(text), std::move(*route)});
  known_.emplace(std::move(key), index);
  return index;
}

RouteMatcher::Found RouteMatcher::Find(std::string_view method, std::string_view path, size_t skip,
                                       Guess guess) const {
  const RequestPath segments(path);
  if (skip > std::min(kMostSkipped, segments.size())) return {};
  return FindIn(MethodIndex(method), segments, skip, false, guess);
}

RouteMatcher::Found RouteMatcher::FindWithBase(std::string_view method,
                                               std::string_view path) const {
  const Found found = Find(method, path);
  return found ? found : FindBehindBase(method, path);
}

RouteMatcher::Found RouteMatcher::FindBehindBase(std::string_view method,
                                                 std::string_view path) const {
  const RequestPath segments(path);
  const size_t root = MethodIndex(method);
  for (size_t skip = 1; skip <= std::min(kMostSkipped, segments.size()); ++skip) {
    const Found found = FindIn(root, segments, skip, true, Guess::kAny);
    if (found) return found;
  }
  return {};
}

RouteMatcher::Found RouteMatcher::FindIn(size_t method, const RequestPath& path, size_t skip,
                                         bool behind_base, Guess guess,
                                         std::vector<uint32_t>* conventional) const {
  std::array<char, kMostActionKey> room;
  const bool base_known =
      behind_base && verdicts_.Of(kBase, BaseKey(path, skip, room)) == Fit::kYes;
  Query query{path, skip, behind_base, base_known, guess, conventional, {}, {}, {}};
  for (size_t i = skip; i < path.size(); ++i) query.hashes[i] = HashSegment(path[i]);
  Walk(static_cast<uint32_t>(method), skip, query);
  const auto rank = [this](const Best& b) -> const std::string& {
    return templates_[b.index].route.rank();
  };
  const Best &certain = query.certain, &guessed = query.guessed;
  const auto skipped = static_cast<uint8_t>(skip);
  // An action that is known is none of another template, by all that is known.
  const auto is_action = [this](const Best& b) {
    return b.index != kNone && templates_[b.index].route.IsConventional();
  };
  const bool known = is_action(certain) && is_action(guessed);
  // The program refuses a request that two of one rank fit: then the guess is wrong.
  if (guessed.index == kNone || known || (certain.index != kNone && rank(certain) <= rank(guessed)))
    return {certain.index, kNone, skipped, certain.index != kNone, certain.ambiguous};
  return {guessed.index, certain.index, skipped, false, guessed.ambiguous};
}

// Not deeper than templates are long; each node at most once.
void RouteMatcher::Walk(uint32_t node, size_t at, Query& query) const {
  Try(nodes_[node].catch_all, query);
  if (at == query.path.size()) return Try(nodes_[node].here, query);
  const uint32_t literal = literals_.Find(PairKey(node, query.hashes[at]));
  if (literal != FlatMap::kNone) Walk(literal, at + 1, query);
  if (nodes_[node].any != kNone) Walk(nodes_[node].any, at + 1, query);
}

Fit RouteMatcher::FitOf(uint32_t index, const Query& query) const {
  const Template& t = templates_[index];
  const bool conventional = t.route.IsConventional(), literal = t.route.HasLiteral();
  if (query.behind_base && !literal && !(conventional && query.base_known)) return Fit::kNo;
  const Fit fit = t.route.Match(query.path, query.skip);
  if (fit == Fit::kNo || !conventional) return fit;
  if (query.conventional != nullptr) query.conventional->push_back(index);
  std::array<char, kMostActionKey> room;
  const Fit action = verdicts_.Of(index, t.route.ActionKey(query.path, query.skip, room));
  if (action != Fit::kMaybe) return action;
  const bool ruled_out = (query.guess == Guess::kUnspent && t.spent) || query.behind_base;
  return ruled_out && !(query.behind_base && literal) ? Fit::kNo : Fit::kMaybe;
}

void RouteMatcher::Learn(std::string_view method, std::string_view path,
                         const ActionValues* values) {
  const RequestPath segments(path);
  const size_t root = MethodIndex(method);
  std::array<char, kMostActionKey> room;
  for (size_t skip = 0; skip <= std::min(kMostSkipped, segments.size()); ++skip) {
    std::vector<uint32_t> fits;
    (void)FindIn(root, segments, skip, false, Guess::kAny, &fits);
    bool any = false;
    for (const uint32_t index : fits) {
      const RouteTemplate& route = templates_[index].route;
      const bool is = values != nullptr && route.ActionIs(segments, skip, *values);
      any = any || is;
      // Behind a base that is none there is nothing to learn.
      if (is || skip == 0) verdicts_.Learn(index, route.ActionKey(segments, skip, room), is);
    }
    if (any && skip > 0) verdicts_.Learn(kBase, BaseKey(segments, skip, room), true);
    if (any || values == nullptr) return;
  }
}

void RouteMatcher::Try(const std::vector<uint32_t>& indices, Query& query) const {
  const auto order = [this](uint32_t index, const Best& best) {
    if (best.index == kNone) return -1;
    return templates_[index].route.rank().compare(templates_[best.index].route.rank());
  };
  for (const uint32_t index : indices) {
    if (order(index, query.certain) > 0 && query.conventional == nullptr) continue;
    const Fit fit = FitOf(index, query);
    if (fit == Fit::kNo) continue;
    Best& best = fit == Fit::kYes ? query.certain : query.guessed;
    const int than_best = order(index, best);
    if (than_best < 0) best = {index, false};
    if (than_best == 0) best = {std::min(index, best.index), true};
  }
}

}  // namespace clrscope::analysis
