// SPDX-License-Identifier: Apache-2.0
namespace Clrscope.Workloads.Commands;

// Lists have an entry for each command.
sealed class Ledger
{
    public int Commands { get; set; }
    public int NullReferences { get; set; }  // that were handled
    public List<int> CollectionsWhileSpinning { get; } = [];
    // Signals that are blocked, as the kernel's masks.
    public required string SignalsOfMain { get; init; }
    public required string SignalsOfChild { get; init; }  // of a process that Main has started
    public List<string> SignalsOfHandler { get; } = [];
    public List<string> SignalsOfItsThread { get; } = [];
    public List<string> SignalsOfItsChild { get; } = [];
}
