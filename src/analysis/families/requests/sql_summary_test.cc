// SPDX-License-Identifier: Apache-2.0
#include "analysis/families/requests/sql_summary.h"

#include <gtest/gtest.h>

#include <string>

namespace clrscope::analysis {
namespace {

std::string Summary(std::string_view sql) {
  std::string out;
  AppendSqlSummary(out, sql);
  return out;
}

TEST(SqlSummary, TellsTheKindAndTheTable) {
  EXPECT_EQ(Summary("SELECT a, b FROM orders WHERE c = 1"), "SELECT orders");
  EXPECT_EQ(Summary("select\n  \"o\".\"Id\"\nfrom \"Orders\" AS \"o\""), "SELECT Orders");
  EXPECT_EQ(Summary("INSERT INTO [dbo].[Items] ([N]) VALUES (@p0)"), "INSERT dbo.Items");
  EXPECT_EQ(Summary("UPDATE `shop`.`items` SET n = 2"), "UPDATE shop.items");
  EXPECT_EQ(Summary("DELETE FROM items"), "DELETE items");
  EXPECT_EQ(Summary("EXEC dbo.GetOrders @id"), "EXEC dbo.GetOrders");
  EXPECT_EQ(Summary("BEGIN TRANSACTION"), "BEGIN");
}

TEST(SqlSummary, CommentsTextsAndValuesStayOut) {
  EXPECT_EQ(Summary("-- by user 17 FROM secrets\n/* x */ (SELECT 'FROM a', 1 FROM b)"), "SELECT b");
  EXPECT_EQ(Summary("SELECT 1"), "SELECT");
  EXPECT_EQ(Summary("SELECT * FROM (SELECT 1) x"), "SELECT");
  EXPECT_EQ(Summary("SELECT * FROM 'a"), "SELECT");
}

TEST(SqlSummary, WhateverComes) {
  EXPECT_EQ(Summary(""), "?");
  EXPECT_EQ(Summary("GetOrders"), "GetOrders");
  EXPECT_EQ(Summary("'unended"), "?");
  EXPECT_EQ(Summary("/* unended"), "?");
  EXPECT_EQ(Summary("INSERT"), "INSERT");
  EXPECT_EQ(Summary("SELECT FROM"), "SELECT");
  EXPECT_EQ(Summary("[]"), "");
  EXPECT_LE(Summary("UPDATE " + std::string(5000, 'x')).size(), 80u);
}

}  // namespace
}  // namespace clrscope::analysis
