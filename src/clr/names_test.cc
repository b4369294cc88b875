// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "clr/element_types.h"
#include "clr/method_name.h"
#include "clr/type_name.h"

namespace clrscope::clr {
namespace {

TEST(TypeName, IsWrittenAsInCsharp) {
  const std::pair<const char*, const char*> kCases[] = {
      {"System.Int32", "int"},
      {"System.Byte[]", "byte[]"},
      {"System.String[][]", "string[][]"},
      {"System.Int32[,][]", "int[][,]"},
      {"System.Collections.Generic.List`1[System.String]",
       "System.Collections.Generic.List<string>"},
      {"System.Collections.Generic.Dictionary`2+Entry[System.String,System.Int32][]",
       "System.Collections.Generic.Dictionary<string, int>.Entry[]"},
      {"Entry[System.Int32,System.Collections.Generic.List`1[System.Byte]][]",
       "Entry<int, System.Collections.Generic.List<byte>>[]"},
      {"System.Nullable`1[System.Int64]", "long?"},
      {"System.ValueTuple`2[System.Char,System.String]", "(char, string)"},
      {"A`1+B`1[System.Int32,System.String]", "A<int>.B<string>"},
      {"System.Int32*", "int*"},
      {"System.Int32&", "ref int"},
      {"List`1[[System.Int32, System.Private.CoreLib]]", "List<int>"},
      {"System.Collections.Generic.List`1", "System.Collections.Generic.List<T>"},
      {"<>c__DisplayClass324_0", "[closure 324_0]"},
      {"<>f__AnonymousType0`2[System.Int32,System.String]", "[anonymous 0]<int, string>"},
      // A tuple of eight and more holds the others in its eighth argument.
      {"System.ValueTuple`8[A,B,C,D,E,F,G,System.ValueTuple`3[System.Single,System.Decimal,"
       "System.Nullable`1[System.Int32]]]",
       "(A, B, C, D, E, F, G, float, decimal, int?)"},
      {"System.ValueTuple`8[A,B,C,D,E,F,G,System.ValueTuple`1[System.Int32]][]",
       "(A, B, C, D, E, F, G, int)[]"},
      {"System.ValueTuple`8[A,B,C,D,E,F,G,System.ValueTuple`1[System.ValueTuple`2[H,I]]]",
       "(A, B, C, D, E, F, G, (H, I))"},
      {"System.ValueTuple`8[A,B,C,D,E,F,G,System.ValueTuple`8[H,I,J,K,L,M,N,"
       "System.ValueTuple`2[O,P]]]",
       "(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P)"},
      {"System.ValueTuple`8[A,B,C,D,E,F,G,System.Int32]",
       "System.ValueTuple<A, B, C, D, E, F, G, int>"},
      {"System.ValueTuple`8[A,B,C,D,E,F,G,System.Nullable`1[System.ValueTuple`2[H,I]]]",
       "System.ValueTuple<A, B, C, D, E, F, G, (H, I)?>"},
      // File-local types.
      {"<Program>F5DEF0C1A2__Hidden", "Hidden"},
      {"Shop.<My_File>F5DEF0C1A2__Box`1+Slot[System.Int32][]", "Shop.Box<int>.Slot[]"},
      {"Shop.<Program>F0__Hidden__Twice+<>c__DisplayClass0_0", "Shop.Hidden__Twice.[closure 0_0]"},
      {"<Program>Fx__NotOne", "<Program>Fx__NotOne"},
      {"<Program>F12__", "<Program>F12__"},
      // Names that C# cannot write: the runtime escapes them in some places.
      {"Shop.Odd\\, name\\+with \\[all\\]+Slot`1[System.Int32]",
       "Shop.Odd, name+with [all].Slot<int>"},
      {"Shop.Odd, union+A, b", "Shop.Odd, union.A, b"},
      {"Shop.Odd, generic`1[System.Int64][]", "Shop.Odd, generic<long>[]"},
      {"Shop.Ends\\", "Shop.Ends\\"},
      {"Broken[", "Broken["},
      {"", ""},
  };
  for (const auto& [raw, expected] : kCases) {
    EXPECT_EQ(CsharpTypeName(raw), expected) << raw;
  }
}

TEST(TypeName, ArgumentsOfAMissingOwnerStayVisible) {
  EXPECT_EQ(
      CsharpTypeName(
          "AsyncStateMachineBox`1[System.Int32,System.IO.StreamReader+<ReadBufferAsync>d__72]"),
      "AsyncStateMachineBox<int, System.IO.StreamReader.ReadBufferAsync [state machine]>");
}

TEST(TypeName, OwnersMayBeMissingOfTheOutermostTypeAlone) {
  const auto parts = [](std::string_view raw) {
    const auto name = BareNameOf(raw);
    return name ? name->name + " " + std::to_string(name->arguments) : "complete";
  };
  EXPECT_EQ(parts("Slot[System.Int32]"), "Slot 1");
  EXPECT_EQ(parts("Slot[System.Int32][,][]"), "Slot 1");
  EXPECT_EQ(parts("Nested"), "Nested 0");
  EXPECT_EQ(parts("Nested[]"), "Nested 0");
  EXPECT_EQ(parts("Nested[,]"), "Nested 0");
  EXPECT_EQ(parts("Nested[*]"), "Nested 0");
  EXPECT_EQ(parts("Nested*[]"), "Nested 0");
  EXPECT_EQ(parts("Deep`2[System.Int32,Shop.Box`1+Slot[A,B],System.Int32[,]]"), "Deep`2 3");
  EXPECT_EQ(parts("<Names-For.Each<TKey,TItem>>d__5[System.Int32]"),
            "<Names-For.Each<TKey,TItem>>d__5 1");
  EXPECT_EQ(parts("<>c"), "<>c 0");
  EXPECT_EQ(parts("Box[Shop.<>c[],System.Int32]"), "Box 2");
  for (const char* whole :
       {"System.Int32", "Shop.Box`1+Slot[System.Int32]", "Box+Slot", "", "[", "[]"})
    EXPECT_EQ(parts(whole), "complete") << whole;
  EXPECT_EQ(parts("Open[System.Int32"), "Open 1") << "cut";
  EXPECT_EQ(parts("Odd\\, name\\+x[System.Int32]"), "Odd, name+x 1");
  EXPECT_EQ(parts("<Program>F5DE__Hidden"), "<Program>F5DE__Hidden 0");
}

TEST(TypeName, ElementsOfSignaturesHaveNames) {
  EXPECT_EQ(ElementTypeName(0x08), "System.Int32");
  EXPECT_EQ(ElementTypeName(0x0e), "System.String");
  EXPECT_EQ(ElementTypeName(0x18), "System.IntPtr");
  EXPECT_EQ(ElementTypeName(0x1c), "System.Object");
  for (const uint32_t element : {0x00u, 0x0fu, 0x12u, 0x17u, 0x1du, 0x1000u})
    EXPECT_EQ(ElementTypeName(element), "") << element;
}

TEST(TypeName, OwnersCanBeLeftOut) {
  EXPECT_EQ(WithoutOwner("Shop.Box`1+Slot[System.Int32]"), "Slot[System.Int32]");
  EXPECT_EQ(WithoutOwner("A+B+<C+D>d__1[E+F][]"), "<C+D>d__1[E+F][]");
  EXPECT_EQ(WithoutOwner("Shop.Box`1[A+B]"), std::nullopt);
  EXPECT_EQ(WithoutOwner("Slot"), std::nullopt);
  EXPECT_EQ(WithoutOwner("Odd\\+name"), std::nullopt);
}

TEST(TypeName, DeepNestingIsKeptAsItIs) {
  std::string raw;
  for (int i = 0; i < 5000; ++i) raw += "A`1[";
  EXPECT_EQ(CsharpTypeName(raw), raw);
}

TEST(Signature, ParametersAreWrittenAsInCsharp) {
  EXPECT_EQ(CsharpParameters("instance void  (class System.String,int32&,unsigned int8[])"),
            "(string, ref int, byte[])");
  EXPECT_EQ(CsharpParameters("bool  (value class System.Span`1<wchar>,!!0,!1)"),
            "(System.Span<char>, TM0, T1)");
  EXPECT_EQ(CsharpParameters("void  (class Shop.<Program>F5DE__Box`1<int32>,class <A>F1__B)"),
            "(Shop.Box<int>, B)");
  EXPECT_EQ(CsharpParameters("instance void  ()"), "()");
}

TEST(MethodName, RawIsTheNameThatTraceEventPrints) {
  EXPECT_EQ(RawMethodName("System.Collections.Generic.List`1[System.__Canon]", "AddWithResize",
                          "instance void  (!0)"),
            "System.Collections.Generic.List`1[System.__Canon].AddWithResize(!0)");
  EXPECT_EQ(RawMethodName("dynamicClass", "IL_STUB_PInvoke", ""), "dynamicClass.IL_STUB_PInvoke");
  const auto parts = [](std::string_view raw) {
    const MethodNameParts p = SplitRawMethodName(raw);
    return std::string(p.owner) + " | " + std::string(p.name);
  };
  EXPECT_EQ(parts("Shop.Cart+<>c.<Add>b__0(class A.B)"), "Shop.Cart+<>c | <Add>b__0");
  EXPECT_EQ(parts("Shop.Cart..ctor()"), "Shop.Cart | .ctor");
  EXPECT_EQ(parts("[native]"), " | [native]");
}

TEST(MethodName, CompilerMadeNamesBecomeWhatTheyWereMadeFrom) {
  EXPECT_EQ(CsharpMethodName("Shop.OrderService+<LoadAsync>d__5", "MoveNext", "instance void  ()"),
            "Shop.OrderService.LoadAsync [async]");
  EXPECT_EQ(
      CsharpMethodName("Shop.Tree`1+<Walk>d__2[System.Int32]", "MoveNext", "instance bool  ()"),
      "Shop.Tree<int>.Walk [iterator]");
  EXPECT_EQ(
      CsharpMethodName("Shop.Cart+<>c__DisplayClass8_0", "<Total>b__0", "instance int32  (int32)"),
      "Shop.Cart.Total.λ0");
  EXPECT_EQ(CsharpMethodName("Shop.Cart+<>c", "<.cctor>b__98_1", "instance int32  ()"),
            "Shop.Cart..cctor.λ1");
  EXPECT_EQ(CsharpMethodName("Shop.Cart", "<Total>g__Sum|8_1", "int32  (int32)"),
            "Shop.Cart.Total.Sum");
  EXPECT_EQ(CsharpMethodName("Shop.Cart+<>c__DisplayClass1_0+<<Run>b__0>d", "MoveNext",
                             "instance void  ()"),
            "Shop.Cart.Run.λ0 [async]");
  EXPECT_EQ(CsharpMethodName("System.Collections.Generic.Dictionary`2[System.Int64,System.__Canon]",
                             "TryInsert", ""),
            "System.Collections.Generic.Dictionary<long, System.__Canon>.TryInsert");
  EXPECT_EQ(CsharpMethodName("Shop.<Program>F5DE__Hidden+<>c", "<Go>b__0_0", ""),
            "Shop.Hidden.Go.λ0");
  EXPECT_EQ(CsharpMethodName("<Program>F5DE__Hidden+<LoadAsync>d__5", "MoveNext", "void  ()"),
            "Hidden.LoadAsync [async]");
  EXPECT_EQ(CsharpMethodName("Shop.S+<Shop-IRepo<System-Int32\\,System-String>-LoadAsync>d__5",
                             "MoveNext", "instance void  ()"),
            "Shop.S.Shop-IRepo<System-Int32,System-String>-LoadAsync [async]");
  EXPECT_EQ(CsharpMethodName("Shop.Box`1+<>c[Shop.Odd\\, \\[x]", "<Go>b__0_0", ""),
            "Shop.Box<Shop.Odd, [x>.Go.λ0");
  EXPECT_EQ(CsharpMethodName("dynamicClass", "lambda_method5", ""), "[dynamic] lambda_method5");
  EXPECT_EQ(CsharpMethodName("Roslyn.Utilities.StringTable+<>c", ".cctor", ""),
            "Roslyn.Utilities.StringTable..cctor");
}

TEST(MethodName, FsharpClosuresBecomeWhatTheyWereMadeFrom) {
  EXPECT_EQ(CsharpMethodName("Shop.Program+work@8", "MoveNext", "instance void  ()"),
            "Shop.Program.work [async]");
  EXPECT_EQ(CsharpMethodName("Shop.Program+main@20-1", "Invoke", "instance class A  (class B)"),
            "Shop.Program.main.λ20-1");
  EXPECT_EQ(CsharpMethodName("Shop.Program+orders@9", "GenerateNext", "instance int32  ()"),
            "Shop.Program.orders [iterator]");
  EXPECT_EQ(CsharpMethodName("Shop.Seq+Map@746[System.__Canon,System.Int32]", "Invoke", ""),
            "Shop.Seq.Map.λ746");
  EXPECT_EQ(CsharpMethodName("Shop.Odd\\, module+sleep\\, now@53", "Invoke", ""),
            "Shop.Odd, module.sleep, now.λ53");
  EXPECT_EQ(CsharpMethodName("Shop.Odd\\, m2+Nested\\, x`1[System.Int32]", "Sleep", ""),
            "Shop.Odd, m2.Nested, x<int>.Sleep");
  EXPECT_EQ(CsharpMethodName("Shop.Program+user@home", "Invoke", ""),
            "Shop.Program.user@home.Invoke");
}

TEST(MethodName, VisualBasicsMachinesBecomeWhatTheyWereMadeFrom) {
  EXPECT_EQ(
      CsharpMethodName("Shop.Program+VB$StateMachine_1_LoadAsync", "MoveNext", "instance void  ()"),
      "Shop.Program.LoadAsync [async]");
  EXPECT_EQ(
      CsharpMethodName("Shop.Program+VB$StateMachine_2_Num_bers", "MoveNext", "instance bool  ()"),
      "Shop.Program.Num_bers [iterator]");
  EXPECT_EQ(CsharpMethodName("Shop.Program+_Closure$__1-0", "_Lambda$__0", "instance class A  ()"),
            "Shop.Program.λ0");
  EXPECT_EQ(CsharpMethodName("Shop.Program+_Closure$__", "_Lambda$__1-1", "instance class A  ()"),
            "Shop.Program.λ1-1");
}

TEST(MethodName, PlumbingIsRecognised) {
  EXPECT_TRUE(IsMachinery("System.Runtime.CompilerServices.AsyncMethodBuilderCore", "Start"));
  EXPECT_TRUE(IsMachinery("System.Threading.Tasks.Task", "ExecuteWithThreadLocal"));
  EXPECT_FALSE(IsMachinery("System.Threading.Tasks.Task", "Delay"));
  EXPECT_FALSE(IsMachinery("Shop.Cart", "Start"));
}

}  // namespace
}  // namespace clrscope::clr
