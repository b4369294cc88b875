// SPDX-License-Identifier: Apache-2.0
// A type for each place that allocates: large enough that each is sampled often.
using System.Runtime.CompilerServices;

namespace Clrscope.Workloads.Lines;

[InlineArray(120)]
struct Room { long _first; }

class Large { public Room Room; }

class A01 : Large; class A02 : Large; class A03 : Large; class A04 : Large; class A05 : Large; class A06 : Large; class A07 : Large; class A08 : Large;
class A09 : Large; class A10 : Large; class A11 : Large; class A12 : Large; class A13 : Large; class A14 : Large; class A15 : Large; class A16 : Large;
class A17 : Large; class A18 : Large; class A19 : Large; class A20 : Large; class A21 : Large; class A22 : Large; class A23 : Large; class A24 : Large;
class A25 : Large; class A26 : Large; class A27 : Large; class A28 : Large; class A29 : Large; class A30 : Large; class A31 : Large; class A32 : Large;
class A33 : Large; class A34 : Large; class A35 : Large; class A36 : Large; class A37 : Large; class A38 : Large; class A39 : Large;

class Pair(object first, object second) : Large { public object First = first, Second = second; }
class Holder<T> : Large { public T? Value; }
class A40 : Large { public Large? Inner; public int Number; }
struct Wide { public Room Room; public int Number; }
