// SPDX-License-Identifier: Apache-2.0
// Addresses of sampled stacks as they were recorded, and what they were named: for who compares
// names with another source's.
#include <algorithm>
#include <vector>

#include "store/query_sources.h"
#include "store/query_values.h"

namespace clrscope::store {
namespace {

using profile::Profile;
using profile::StackTree;

struct AddressRow {
  uint32_t process = 0, frame = 0;
  uint64_t address = 0;
  int64_t first_ns = 0;
  uint64_t leaf_samples = 0, samples = 0;  // of CPU time: they end there; it is on their stack
};

class AddressCursor final : public TableCursor {
 public:
  explicit AddressCursor(const Catalog& catalog) : catalog_(catalog) {}

  Result<bool> Next() override {
    if (!started_) {
      started_ = true;
      RETURN_IF_ERROR(Gather());
      return !rows_.empty();
    }
    return ++at_ < rows_.size();
  }

  void Column(int column, sqlite3_context* out) const override {
    const Profile& p = catalog_.profile();
    const AddressRow& row = rows_[at_];
    const profile::Frame& frame = p.frames[row.frame];
    switch (column) {
      case 0:
        return PutProcess(out, p, row.process);
      case 1:
        return Put(out, p.processes[row.process].pid);
      case 2:
        return Put(out, row.address);
      case 3:
        return PutSeconds(out, row.first_ns);
      case 4:
        return Put(out, p.str(frame.method));
      case 5:
        return PutKnown(out, p.str(frame.module));
      case 6:
        return Put(out, p.str(frame.raw));
      case 7:
        return Put(out, profile::FrameKindName(frame.kind));
      case 8:
        return Put(out, row.leaf_samples);
      case 9:
        return Put(out, row.samples);
      default:
        return Put(out, row.process);
    }
  }

 private:
  Status Gather() {
    const auto& processes = catalog_.recording().processes;
    std::vector<std::vector<uint64_t>> counts(processes.size());  // of CPU samples, by series
    for (size_t p = 0; p < processes.size(); ++p)
      counts[p].resize(processes[p]->series.keys().size());
    ASSIGN_OR_RETURN(const auto slices, catalog_.Slices());
    for (;;) {
      ASSIGN_OR_RETURN(const profile::Slice* slice, slices->Next());
      if (slice == nullptr) break;
      for (const profile::SliceRow& row : slice->rows)
        if (processes[slice->process]->series.keys()[row.series].source() ==
            profile::Source::kCpuClock)
          counts[slice->process][row.series] += row.sums.stands_for;
    }
    for (uint32_t p = 0; p < processes.size(); ++p) GatherOf(p, *processes[p], counts[p]);
    return OkStatus();
  }

  void GatherOf(uint32_t process, const profile::ProcessTables& t,
                const std::vector<uint64_t>& counts) {
    const auto& addresses = t.stacks.addresses();
    std::vector<AddressRow> found(addresses.size());
    std::vector<uint32_t> on_stack;
    for (size_t s = 0; s < counts.size(); ++s) {
      const uint32_t leaf = t.series.keys()[s].node;
      if (counts[s] == 0 || leaf < StackTree::kFirstReal) continue;
      on_stack.clear();
      for (uint32_t node = leaf; node >= StackTree::kFirstReal; node = t.stacks.parent(node))
        on_stack.push_back(t.stacks.address_index(node));
      found[on_stack.front()].leaf_samples += counts[s];
      std::sort(on_stack.begin(), on_stack.end());
      on_stack.erase(std::unique(on_stack.begin(), on_stack.end()), on_stack.end());
      for (const uint32_t address : on_stack) found[address].samples += counts[s];
    }
    for (uint32_t a = 0; a < addresses.size(); ++a) {
      const std::optional<uint32_t> frame = catalog_.FrameOfAddress(process, a);
      if (!frame) continue;
      rows_.push_back({process, *frame, addresses[a].address, addresses[a].first_ns,
                       found[a].leaf_samples, found[a].samples});
    }
  }

  const Catalog& catalog_;
  std::vector<AddressRow> rows_;
  size_t at_ = 0;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<TableCursor> Addresses(const Catalog& c, std::optional<int64_t>) {
  return std::make_unique<AddressCursor>(c);
}

}  // namespace clrscope::store
