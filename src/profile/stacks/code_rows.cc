// SPDX-License-Identifier: Apache-2.0
#include "profile/stacks/code_rows.h"

#include <cstring>
#include <limits>
#include <utility>

#include "base/mix_bits.h"

namespace clrscope::profile {
namespace {

constexpr uint64_t kMaxSpan = std::numeric_limits<uint32_t>::max();

// The first byte of a row: what of it follows from the row before.
enum RowFlags : uint8_t {
  kNextIndex = 1,
  kSameModule = 2,
  kNextInfo = 4,
  kWasAlways = 8,   // there
  kAlignedId = 16,  // the ids differ by a multiple of kIdAlignment
};
constexpr int64_t kIdAlignment = 8;
constexpr size_t kLongestVarint = 10;
constexpr size_t kLongestRow = 1 + 7 * kLongestVarint;

std::byte* PutUnsigned(std::byte* to, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *to++ = static_cast<std::byte>(v | 0x80);
  *to++ = static_cast<std::byte>(v);
  return to;
}
std::byte* PutSigned(std::byte* to, int64_t v) {
  return PutUnsigned(to, static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63));
}
// Differences wrap, as what they are added to does.
std::byte* PutStep(std::byte* to, uint64_t from, uint64_t value) {
  return PutSigned(to, static_cast<int64_t>(value - from));
}

[[gnu::always_inline]] inline uint64_t GetUnsigned(const std::byte*& from) {
  auto b = static_cast<uint64_t>(*from++);
  if (b < 0x80) return b;
  uint64_t v = b & 0x7F;
  for (unsigned shift = 7; b >= 0x80; shift += 7) {
    b = static_cast<uint64_t>(*from++);
    v |= (b & 0x7F) << shift;
  }
  return v;
}
[[gnu::always_inline]] inline uint64_t GetSigned(const std::byte*& from) {
  const uint64_t v = GetUnsigned(from);
  return v >> 1 ^ (0 - (v & 1));
}

// What the first row of a leaf is told against.
CodeRow Before(uint64_t start) {
  CodeRow row{};
  row.start = start;
  return row;
}

bool ByStart(const CodeRow& a, const CodeRow& b) { return a.start < b.start; }

}  // namespace

uint8_t& CodeRows::Waiting::Place(uint64_t start) {
  auto i = static_cast<uint8_t>(MixBits(start));
  static_assert(2 * kWaitingRows == 256, "as many places as a byte counts");
  while (places[i] != 0 && rows[places[i] - 1u].start != start) ++i;
  return places[i];
}

void CodeRows::Add(const CodeRow& row) {
  if (!waiting_) waiting_ = std::make_unique<Waiting>();
  Waiting& w = *waiting_;
  uint8_t& place = w.Place(row.start);
  w.rows.push_back(row);
  place = static_cast<uint8_t>(w.rows.size());
  if (w.rows.size() == kWaitingRows) Merge();
}

std::optional<CodeRow> CodeRows::Newest(uint64_t start) const {
  if (waiting_)
    if (const uint8_t place = waiting_->Place(start); place != 0) return waiting_->rows[place - 1u];
  const size_t i = LeafOf(start);
  if (i >= leaves_.size()) return std::nullopt;
  const Leaf& leaf = leaves_[i];
  if (leaf.span != kMaxSpan && start - leaf.start > leaf.span) return std::nullopt;
  const std::optional<CodeRow> row = UnpackLast(leaf, start);
  return row && row->start == start ? row : std::nullopt;
}

std::optional<CodeRow> CodeRows::LastUpTo(uint64_t address) const {
  Settle();
  const size_t i = LeafOf(address);
  if (i >= leaves_.size()) return std::nullopt;
  return UnpackLast(leaves_[i], address);
}

size_t CodeRows::Unpack(const Leaf& leaf, uint64_t last, Rows& rows) {
  CodeRow row;
  return Walk(leaf, last, row, [&rows](size_t i, const CodeRow& r) { rows[i] = r; });
}

std::optional<CodeRow> CodeRows::UnpackLast(const Leaf& leaf, uint64_t last) {
  CodeRow row;
  if (Walk(leaf, last, row, [](size_t, const CodeRow&) {}) == 0) return std::nullopt;
  return row;
}

// `row` ends as the last one that was visited.
template <class Visit>
inline size_t CodeRows::Walk(const Leaf& leaf, uint64_t last, CodeRow& row, Visit&& visit) {
  const std::byte* from = leaf.data.get();
  row = Before(leaf.start);
  uint64_t last_load = 0;
  for (size_t i = 0; i < leaf.rows; ++i) {
    const auto flags = static_cast<uint8_t>(*from++);
    const uint64_t start = row.end() + GetSigned(from);
    if (start > last) return i;
    row.start = start;
    row.size = static_cast<uint32_t>(GetUnsigned(from));
    const uint64_t step = GetSigned(from);
    row.method_id += (flags & kAlignedId) != 0 ? step * kIdAlignment : step;
    row.index += (flags & kNextIndex) != 0 ? 1 : static_cast<uint32_t>(GetSigned(from));
    row.info += (flags & kNextInfo) != 0 ? 1 : static_cast<uint32_t>(GetSigned(from));
    if ((flags & kSameModule) == 0) row.module = static_cast<uint32_t>(GetUnsigned(from));
    row.load_ns = kAlways;
    if ((flags & kWasAlways) == 0) row.load_ns = static_cast<int64_t>(last_load += GetSigned(from));
    visit(i, row);
  }
  return leaf.rows;
}

CodeRows::Leaf CodeRows::Pack(const CodeRow* rows, size_t count) {
  std::array<std::byte, kLeafRows * kLongestRow> packed;
  std::byte* to = packed.data();
  CodeRow before = Before(rows[0].start);
  uint64_t last_load = 0;
  for (const CodeRow* row = rows; row != rows + count; ++row) {
    const auto id_step = static_cast<int64_t>(row->method_id - before.method_id);
    uint8_t flags = 0;
    if (row->index == before.index + 1) flags |= kNextIndex;
    if (row->info == before.info + 1) flags |= kNextInfo;
    if (row->module == before.module) flags |= kSameModule;
    if (row->load_ns == kAlways) flags |= kWasAlways;
    if (id_step % kIdAlignment == 0) flags |= kAlignedId;
    *to++ = std::byte{flags};
    to = PutStep(to, before.end(), row->start);
    to = PutUnsigned(to, row->size);
    to = PutSigned(to, (flags & kAlignedId) != 0 ? id_step / kIdAlignment : id_step);
    if ((flags & kNextIndex) == 0) to = PutStep(to, before.index, row->index);
    if ((flags & kNextInfo) == 0) to = PutStep(to, before.info, row->info);
    if ((flags & kSameModule) == 0) to = PutUnsigned(to, row->module);
    if (const auto load = static_cast<uint64_t>(row->load_ns); (flags & kWasAlways) == 0)
      to = PutStep(to, std::exchange(last_load, load), load);
    before = *row;
  }
  Leaf leaf;
  leaf.start = rows[0].start;
  leaf.span = static_cast<uint32_t>(std::min<uint64_t>(before.start - rows[0].start, kMaxSpan));
  leaf.rows = static_cast<uint32_t>(count);
  for (size_t i = 0; i < count; ++i) leaf.reach = std::max(leaf.reach, rows[i].end());
  const auto size = static_cast<size_t>(to - packed.data());
  leaf.data.reset(new std::byte[size]);
  std::memcpy(leaf.data.get(), packed.data(), size);
  return leaf;
}

void CodeRows::Merge() const {
  const std::unique_ptr<Waiting> waiting = std::move(waiting_);
  std::vector<CodeRow>& rows = waiting->rows;
  std::stable_sort(rows.begin(), rows.end(), ByStart);
  const CodeRow* const end = rows.data() + rows.size();
  for (const CodeRow* first = rows.data(); first != end;) {
    size_t leaf = LeafOf(first->start);
    if (leaf >= leaves_.size()) leaf = 0;  // before all of them
    const CodeRow* last = end;
    if (leaf + 1 < leaves_.size())
      last = std::lower_bound(first, end, Before(leaves_[leaf + 1].start), ByStart);
    MergeInto(leaf, first, last);
    first = last;
  }
}

void CodeRows::MergeInto(size_t leaf, const CodeRow* first, const CodeRow* end) const {
  Rows old;
  const size_t old_rows = leaves_.empty() ? 0 : Unpack(leaves_[leaf], ~uint64_t{0}, old);
  std::array<CodeRow, kLeafRows + kWaitingRows> rows;
  // Of those that begin at one place the older ones stay first.
  const auto rows_end = std::merge(std::as_const(old).data(), std::as_const(old).data() + old_rows,
                                   first, end, rows.begin(), ByStart);
  const auto count = static_cast<size_t>(rows_end - rows.begin());
  const size_t pieces = (count + kLeafRows - 1) / kLeafRows;
  if (leaves_.empty()) leaves_.emplace_back();
  for (size_t i = 1; i < pieces; ++i)
    leaves_.emplace(leaves_.begin() + static_cast<std::ptrdiff_t>(leaf));
  for (size_t i = 0, at = 0; i < pieces; ++i) {
    const size_t next = count * (i + 1) / pieces;
    leaves_[leaf + i] = Pack(rows.data() + at, next - at);
    at = next;
  }
  uint64_t reach = leaf == 0 ? 0 : leaves_[leaf - 1].reach;
  for (size_t i = leaf; i < leaves_.size(); ++i) {
    // Rows only come: what reaches that far already does so for all that follow.
    if (i >= leaf + pieces && leaves_[i].reach >= reach) break;
    reach = leaves_[i].reach = std::max(leaves_[i].reach, reach);
  }
}

}  // namespace clrscope::profile
