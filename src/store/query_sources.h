// SPDX-License-Identifier: Apache-2.0
// Where the rows of each query table come from; named like the table.
#pragma once

#include <memory>
#include <optional>

#include "store/query_tables.h"

namespace clrscope::store {

std::unique_ptr<TableCursor> Samples(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> AllSamples(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Exceptions(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Locks(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Waits(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Cpu(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Wall(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Addresses(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> RequestCosts(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> SlowestRequests(const Catalog& catalog,
                                             std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Types(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Sites(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Methods(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Stacks(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Frames(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Threads(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> LiveObjects(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> LiveAges(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> Turnover(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> GcCpu(const Catalog& catalog, std::optional<int64_t> argument);
std::unique_ptr<TableCursor> AgentIntervals(const Catalog& catalog,
                                            std::optional<int64_t> argument);
std::unique_ptr<TableCursor> RecordingRow(const Catalog& catalog, std::optional<int64_t> argument);

}  // namespace clrscope::store
