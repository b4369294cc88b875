// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/route_matcher.h"

#include <algorithm>
#include <optional>
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

}  // namespace

RouteMatcher::RouteMatcher() : nodes_(kMethods) {}

size_t RouteMatcher::MethodIndex(std::string_view method) {
  static constexpr std::string_view kKnown[kMethods - 1] = {
      "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "CONNECT", "TRACE"};
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

RouteMatcher::Found RouteMatcher::Find(std::string_view method, std::string_view path,
                                       size_t skip) const {
  const RequestPath segments(path);
  if (skip > std::min(kMostSkipped, segments.size())) return {};
  return FindIn(MethodIndex(method), segments, skip, false);
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
    const Found found = FindIn(root, segments, skip, true);
    if (found) return found;
  }
  return {};
}

RouteMatcher::Found RouteMatcher::FindIn(size_t method, const RequestPath& path, size_t skip,
                                         bool literals_only) const {
  Query query{path, skip, literals_only, {}, {}, {}};
  for (size_t i = skip; i < path.size(); ++i) query.hashes[i] = HashSegment(path[i]);
  Walk(static_cast<uint32_t>(method), skip, query);
  const auto rank = [this](const Best& b) -> const std::string& {
    return templates_[b.index].route.rank();
  };
  const Best &certain = query.certain, &guessed = query.guessed;
  const auto skipped = static_cast<uint8_t>(skip);
  // The program refuses a request that two of one rank fit: then the guess is wrong.
  if (guessed.index == kNone || (certain.index != kNone && rank(certain) <= rank(guessed)))
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

void RouteMatcher::Try(const std::vector<uint32_t>& indices, Query& query) const {
  const auto order = [this](uint32_t index, const Best& best) {
    if (best.index == kNone) return -1;
    return templates_[index].route.rank().compare(templates_[best.index].route.rank());
  };
  for (const uint32_t index : indices) {
    const RouteTemplate& route = templates_[index].route;
    if (order(index, query.certain) > 0 || (query.literals_only && !route.HasLiteral())) continue;
    const Fit fit = route.Match(query.path, query.skip);
    if (fit == Fit::kNo) continue;
    Best& best = fit == Fit::kYes ? query.certain : query.guessed;
    const int than_best = order(index, best);
    if (than_best < 0) best = {index, false};
    if (than_best == 0) best = {std::min(index, best.index), true};
  }
}

}  // namespace clrscope::analysis
