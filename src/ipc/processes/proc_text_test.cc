// SPDX-License-Identifier: Apache-2.0
#include "ipc/processes/proc_text.h"

#include <gtest/gtest.h>

namespace clrscope::ipc {
namespace {

TEST(ProcTextTest, StatIsReadAfterTheLastParenthesis) {
  const auto stat =
      ParseProcStat("12 (a) S (b)) T 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21\n");
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->comm, "a) S (b)");
  EXPECT_EQ(stat->state, 'T');
  EXPECT_EQ(stat->start_ticks, 987654u);
  EXPECT_FALSE(ParseProcStat("").ok());
  EXPECT_FALSE(ParseProcStat("12 (x) S 1 2").ok());
  EXPECT_FALSE(ParseProcStat("12 )x( S 1 2").ok());
}

TEST(ProcTextTest, StatusGivesTheInnermostPid) {
  const ProcStatus status = ParseProcStatus(
      "Name:\tUid: "
      "5\nPPid:\t77\nUid:\t1000\t1001\t1000\t1000\nTracerPid:\t31\nNSpid:\t680\t50\t7\nVmRSS:\t   "
      "2048 kB\n");
  EXPECT_EQ(status.parent, 77);
  EXPECT_EQ(status.uid, 1001u);
  EXPECT_EQ(status.inner_pid, 7);
  EXPECT_TRUE(status.nested);
  EXPECT_EQ(status.memory.rss_bytes, 2048 * 1024);
  EXPECT_FALSE(ParseProcStatus("NSpid:\t680\n").nested);
  EXPECT_EQ(ParseProcStatus("").inner_pid, 0);
}

TEST(ProcTextTest, StatusHasThePartsOfMemory) {
  const ProcStatus status = ParseProcStatus(
      "VmRSS:\t  42 kB\nRssAnon:\t 30 kB\nRssFile:\t 10 kB\nRssShmem:\t 2 kB\n"
      "VmSwap:\t 7 kB\nThreads:\t9\n");
  EXPECT_EQ(status.memory.rss_bytes, 42 << 10);
  EXPECT_EQ(status.memory.private_bytes, 30 << 10);
  EXPECT_EQ(status.memory.file_bytes, 10 << 10);
  EXPECT_EQ(status.memory.shared_bytes, 2 << 10);
  EXPECT_EQ(status.memory.swap_bytes, 7 << 10);
  EXPECT_EQ(status.threads, 9);
  // Of a zombie, of an old kernel, of something else.
  const ProcStatus other = ParseProcStatus("VmRSS:\t-1 kB\nVmSwap:\t99999999999999999 kB\n");
  EXPECT_EQ(other.memory.rss_bytes, -1);
  EXPECT_EQ(other.memory.swap_bytes, -1);
  EXPECT_EQ(other.memory.private_bytes, -1);
  EXPECT_EQ(other.threads, -1);
}

TEST(ProcTextTest, StatusHasTheSwitchesThatAThreadWanted) {
  const ProcStatus status =
      ParseProcStatus("voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n");
  EXPECT_EQ(status.voluntary_switches, 150u);
  EXPECT_EQ(ParseProcStatus("Name:\tx\n").voluntary_switches, std::nullopt);
}

TEST(ProcTextTest, MappingIsFoundByItsWholeFileName) {
  constexpr std::string_view kMaps =
      "7f00-7f01 r--p 00000000 08:01 11   /opt/libcoreclr.so.dbg\n"
      "7f00-7f01 r--p 00000000 08:01 12   /usr/share/my dotnet/10.0.1/libcoreclr.so\n";
  EXPECT_EQ(FindMapping(kMaps, "libcoreclr.so"), "/usr/share/my dotnet/10.0.1/libcoreclr.so");
  EXPECT_EQ(FindMapping("7f-80 r-xp 0 08:01 1 /a/libcoreclr.so (deleted)\n", "libcoreclr.so"),
            "/a/libcoreclr.so");
  EXPECT_EQ(FindMapping(kMaps, "libclrjit.so"), "");
}

TEST(ProcTextTest, MuslIsKnownByItsLoader) {
  EXPECT_TRUE(
      MapsMusl("7f00-7f10 r--p 0 08:01 1 /usr/lib/dotnet/shared/libcoreclr.so\n"
               "7f20-7f30 r-xp 0 08:01 2 /lib/ld-musl-x86_64.so.1\n"));
  EXPECT_TRUE(
      MapsMusl("55d0-55e0 r-xp 00000000 08:01 1 /app/alloc\n"
               "7f20-7f30 r-xp 00014000 08:01 2 /usr/lib/x86_64-linux-musl/libc.so\n"));
  EXPECT_FALSE(
      MapsMusl("7f10-7f20 r-xp 00000000 08:01 1 /app/libc.so\n"
               "7f20-7f30 r-xp 00028000 08:01 2 /usr/lib/x86_64-linux-gnu/libc.so.6\n"))
      << "something of the program's own";
  EXPECT_FALSE(MapsMusl("7f10-7f20 r-xp 00000000 08:01 1 /app/libc.so.old\n"));
  EXPECT_FALSE(
      MapsMusl("7f20-7f30 r-xp 0 08:01 2 /lib64/ld-linux-x86-64.so.2\n"
               "7f40-7f50 r-xp 0 08:01 3 /app/musl/libcoreclr.so\n"));
  EXPECT_FALSE(MapsMusl(""));
}

TEST(ProcTextTest, SocketNames) {
  const auto name = ParseSocketName("dotnet-diagnostic-12-3456-socket");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->pid, 12);
  EXPECT_EQ(name->key, 3456u);
  EXPECT_EQ(FormatSocketName(*name), "dotnet-diagnostic-12-3456-socket");
  for (const char* bad :
       {"dotnet-diagnostic-dsrouter-12-3456-socket", "dotnet-diagnostic-12-socket",
        "dotnet-diagnostic-12-34x-socket", "dotnet-diagnostic--socket",
        "dotnet-diagnostic-99999999999-1-socket", "dotnet-diagnostic-socket",
        "clr-debug-pipe-12-3456-in", "dotnet-diagnostic-0-1-socket", ""})
    EXPECT_FALSE(ParseSocketName(bad).has_value()) << bad;
}

TEST(ProcTextTest, SplitNulKeepsEmptyArguments) {
  EXPECT_EQ(SplitNul(std::string_view("a\0\0b\0", 5)), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_TRUE(SplitNul("").empty());
}

TEST(ProcTextTest, OnlyListenersAtTheVeryPathCount) {
  const std::string table =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 13338 /run/a.sock\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 13339 /run/b.sock\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 13340 /x/run/c.sock\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 13341";
  EXPECT_TRUE(ListensAt(table, "/run/a.sock"));
  EXPECT_FALSE(ListensAt(table, "/run/b.sock"));  // connected, not listening
  EXPECT_FALSE(ListensAt(table, "/run/c.sock"));
  EXPECT_FALSE(ListensAt("", "/run/a.sock"));
}

TEST(ProcTextTest, ConnectionsThatAListenerAcceptedAreCounted) {
  const std::string table =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 1 /tmp/dotnet-diagnostic-7-9-socket\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 2 /tmp/dotnet-diagnostic-7-9-socket\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 3\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 4 /tmp/dotnet-diagnostic-17-9-socket\n"
      "0000000000000000: 00000003 00000000 00000000 0001 03 5 /tmp/dotnet-diagnostic-7-9-socket\n";
  EXPECT_EQ(ConnectionsTo(table, "dotnet-diagnostic-7-9-socket"), 2u);
  EXPECT_EQ(ConnectionsTo(table, "dotnet-diagnostic-8-9-socket"), 0u);
  EXPECT_EQ(ConnectionsTo("", "dotnet-diagnostic-7-9-socket"), 0u);
}

}  // namespace
}  // namespace clrscope::ipc
