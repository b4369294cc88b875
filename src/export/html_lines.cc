// SPDX-License-Identifier: Apache-2.0
#include "export/html_lines.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace clrscope::exporter {
namespace {

using profile::Profile;

// Frames at which a sample's site is not.
constexpr uint8_t kNoSite =
    profile::kFramework | profile::kMachinery | profile::kUnresolved | profile::kPseudo;

// Pages link nothing else, and no address that could be taken for more than one.
bool IsWebAddress(std::string_view url) {
  return url.starts_with("https://") && std::none_of(url.begin(), url.end(), [](char c) {
           return static_cast<unsigned char>(c) <= ' ' || c == 0x7F;
         });
}

// By file of the profile: the shares, of all measures, of what its lines are the sites of.
std::vector<double> WeighFiles(const Profile& p, const PageTree& page) {
  std::vector<uint32_t> file(page.nodes.size(), 0);
  for (size_t i = 1; i < page.nodes.size(); ++i) {
    const PageNode& node = page.nodes[i];
    const bool own = node.frame != kOtherFrame && (p.frames[node.frame].flags & kNoSite) == 0;
    file[i] = own && node.line != 0 ? p.lines[node.line].file : file[node.parent];
  }
  std::vector<double> weights(p.source_files.size(), 0);
  const auto add = [&](const auto& cells, bool by_amount) {
    const auto value = [&](const auto& c) { return by_amount ? c.value.amount : c.value.count; };
    double total = 0;
    for (const auto& c : cells) total += value(c);
    if (total <= 0) return;
    for (const auto& c : cells) weights[file[c.node]] += value(c) / total;
  };
  add(page.cells, true);
  add(page.lives, true);
  for (const PageEvents& e : page.events) add(e.cells, e.figure->spec().amount_first);
  return weights;
}

// The files of the page's lines, those that matter most first.
std::vector<uint32_t> FilesOf(const Profile& p, const PageTree& page) {
  std::vector<char> used(p.source_files.size(), 0);
  for (const PageNode& node : page.nodes) used[p.lines[node.line].file] = 1;
  std::vector<uint32_t> files;
  for (uint32_t f = 1; f < used.size(); ++f)
    if (used[f]) files.push_back(f);
  if (files.empty()) return files;
  const std::vector<double> weights = WeighFiles(p, page);
  std::sort(files.begin(), files.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(-weights[a], p.str(p.source_files[a].path)) <
           std::tuple(-weights[b], p.str(p.source_files[b].path));
  });
  return files;
}

nlohmann::json DescribeFile(const Profile& p, uint32_t file, PageTexts& texts, uint64_t& room) {
  const profile::SourceFile& source = p.source_files[file];
  const std::string_view url = p.str(source.url);
  nlohmann::json json{{"path", p.str(source.path)},
                      {"url", IsWebAddress(url) ? url : std::string_view()}};
  const SourceText& text = texts.Of(file);
  if (text.is == SourceText::Is::kText && text.text.size() <= room) {
    room -= text.text.size();
    json["text"] = text.text;
    json["checked"] = text.checked;
  } else {
    json["without"] = text.is == SourceText::Is::kText      ? "size"
                      : text.is == SourceText::Is::kAnother ? "another"
                                                            : "absent";
  }
  return json;
}

}  // namespace

const SourceText& PageTexts::Of(uint32_t file) {
  const auto [it, fresh] = texts_.try_emplace(file);
  if (fresh && of_) it->second = of_(file);
  return it->second;
}

void PackLines(const Profile& p, const PageTree& page, PageTexts& texts, Columns& out,
               nlohmann::json& json) {
  const std::vector<uint32_t> files = FilesOf(p, page);
  if (files.empty()) return;
  std::vector<uint32_t> place(p.source_files.size(), 0);
  uint64_t room = texts.most_bytes();
  json["sources"] = nlohmann::json::array();
  for (uint32_t i = 0; i < files.size(); ++i) {
    place[files[i]] = i;
    json["sources"].push_back(DescribeFile(p, files[i], texts, room));
  }

  using Key = std::tuple<uint32_t, uint32_t, uint8_t>;
  const auto key_of = [&](const PageNode& node) {
    const profile::SourceLine& line = p.lines[node.line];
    return Key(place[line.file], line.line, static_cast<uint8_t>(line.sure));
  };
  std::map<Key, uint32_t> ids;
  for (const PageNode& node : page.nodes)
    if (node.line != 0) ids.try_emplace(key_of(node), 0);
  std::vector<uint32_t> file, number, of_node;
  std::vector<uint8_t> sure;
  for (auto& [key, id] : ids) {
    file.push_back(std::get<0>(key));
    number.push_back(std::get<1>(key));
    sure.push_back(std::get<2>(key));
    id = static_cast<uint32_t>(file.size());
  }
  for (const PageNode& node : page.nodes)
    of_node.push_back(node.line == 0 ? 0 : ids.at(key_of(node)));
  out.U32("node_line", of_node);
  out.U32("line_file", file);
  out.U32("line_number", number);
  out.U8("line_sure", sure);
}

}  // namespace clrscope::exporter
