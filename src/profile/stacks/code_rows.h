// SPDX-License-Identifier: Apache-2.0
// Pieces of code by where they begin, in a few bytes each: a machine has many processes, and a
// process thousands of methods. In order of address neighbours differ by little, so that rows are
// kept as differences, in leaves of some dozen; what came last waits beside them, until somebody
// asks for an address or there is enough of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace clrscope::profile {

inline constexpr int64_t kAlways =
    std::numeric_limits<int64_t>::min();  // loaded before anyone looked

struct CodeRow {  // nothing is set by itself: they are unpacked by the dozen
  uint64_t start, method_id;
  int64_t load_ns;
  uint32_t size;
  uint32_t module;  // the owner numbers them
  uint32_t info;    // in the pool
  uint32_t index;   // in order of arrival
  uint64_t end() const { return start + size; }
};

class CodeRows {
 public:
  // Starts and method ids must have kPointerBits at most; indexes must ascend.
  static constexpr unsigned kPointerBits = 48;

  void Add(const CodeRow& row);
  // The row that came last of those that begin there.
  std::optional<CodeRow> Newest(uint64_t start) const;
  // The last one, by start and arrival, of those that begin at `address` or before it.
  std::optional<CodeRow> LastUpTo(uint64_t address) const;
  // Calls visit(row) for every row that holds `address`: the last one by start and arrival first.
  template <class Visit>
  void ForEachAt(uint64_t address, Visit&& visit) const {
    Settle();
    for (size_t i = LeafOf(address); i < leaves_.size() && leaves_[i].reach > address; --i) {
      Rows rows;
      for (size_t n = Unpack(leaves_[i], address, rows); n-- > 0;)
        if (address - rows[n].start < rows[n].size) visit(rows[n]);
    }
  }
  // Every row, by start and arrival.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    Settle();
    for (const Leaf& leaf : leaves_) {
      Rows rows;
      const size_t n = Unpack(leaf, ~uint64_t{0}, rows);
      for (size_t i = 0; i < n; ++i) visit(rows[i]);
    }
  }
  // Puts what waits into the leaves.
  void Settle() const {
    if (waiting_) Merge();
  }

 private:
  static constexpr size_t kLeafRows = 48, kWaitingRows = 128;
  using Rows = std::array<CodeRow, kLeafRows>;

  struct Leaf {
    uint64_t start = 0;  // of its first row
    uint64_t reach = 0;  // where the code ends that ends last, of this leaf and of all before it
    std::unique_ptr<std::byte[]> data;
    uint32_t span = 0;  // from its first row's start to its last one's, or the most there is
    uint32_t rows = 0;
  };
  struct Waiting {
    std::vector<CodeRow> rows;
    std::array<uint8_t, 2 * kWaitingRows> places{};  // by start: index + 1; 0 = empty
    // Of the newest that begins there, or the empty one where it belongs.
    uint8_t& Place(uint64_t start);
  };

  // The last one that begins at `address` or before it; any number that is too large if none does.
  size_t LeafOf(uint64_t address) const {
    const auto it = std::upper_bound(leaves_.begin(), leaves_.end(), address,
                                     [](uint64_t a, const Leaf& leaf) { return a < leaf.start; });
    return static_cast<size_t>(it - leaves_.begin()) - 1;
  }
  // Those that begin at `last` or before it; returns how many.
  static size_t Unpack(const Leaf& leaf, uint64_t last, Rows& rows);
  // The last one of those.
  static std::optional<CodeRow> UnpackLast(const Leaf& leaf, uint64_t last);
  template <class Visit>
  static size_t Walk(const Leaf& leaf, uint64_t last, CodeRow& row, Visit&& visit);
  static Leaf Pack(const CodeRow* rows, size_t count);
  void Merge() const;
  void MergeInto(size_t leaf, const CodeRow* first, const CodeRow* end) const;

  // Not what is known but how it is kept: a look-up may settle it.
  mutable std::vector<Leaf> leaves_;
  mutable std::unique_ptr<Waiting> waiting_;
};

}  // namespace clrscope::profile
