// SPDX-License-Identifier: Apache-2.0
// The profile as the page holds it: columns of typed arrays and the names they point to.
import type { Estimates } from "../base/estimates.ts";
import type { Lines } from "./lines.ts";

// Bits of Frame::flags in src/profile/profile.h.
export const kFramework = 1;
export const kMachinery = 2;
export const kUnresolved = 4;
export const kPseudo = 8;

export type SourceName = "tick" | "sampled" | "counted" | "pprof" | "exception" | "contention" | "wait" | "unknown";

// Heap kinds by number: small, large and pinned object heap.
export const kHeapNames = ["SOH", "LOH", "POH", "unknown heap"] as const;

export interface ProcessInfo {
  readonly pid: number;
  readonly name: string;
  readonly commandLine: string;
  readonly runtime: string;
  readonly os: string;
  readonly arch: string;
  readonly mainModule: string;
  readonly start: number; // seconds since the recording's start
  readonly end: number;
  readonly complete: boolean;
}

export interface ThreadInfo {
  readonly process: number;
  readonly thread: number; // the system's number
  readonly name: string; // "" where the system was not asked
}

export interface LossInfo {
  readonly name: string;
  readonly count: number;
  readonly sentence: string;
  readonly hides: boolean; // there may have been some where the page finds none
}

// What a page can show by turns. Of "gc-cpu" all three metrics are seconds of CPU time.
export const kViewNames = ["allocated", "live", "exceptions", "locks", "waits", "cpu", "wall", "gc-cpu"] as const;
export type ViewName = (typeof kViewNames)[number];

// One of a view's two numbers.
export interface Quantity {
  readonly name: string; // as in JSON: "wait_ns"
  readonly heading: string;
  readonly unit: "number" | "bytes" | "ns";
}

export interface ViewMeta {
  readonly shows: ViewName;
  readonly title: string; // "allocations"
  readonly done: string; // "is allocated"
  readonly doing: string; // "allocating"
  readonly place: string; // "Allocated in"
  readonly none: string; // why a recording may have none
  readonly note: string; // what its figures are, where they are not all that happened; "" mostly
  readonly typed: boolean;
  readonly heaps: boolean;
  readonly byThread: boolean; // its cells are told by thread
  readonly events: boolean; // each one is counted: no estimate, no samples
  readonly amountFirst: boolean; // what tables are sorted by
  // What the columns `bytes` and `objects` are: of locks the time waited and the number of waits.
  readonly quantity: { readonly bytes: Quantity; readonly objects: Quantity };
  readonly event: string; // the runtime's name
  readonly at: number; // seconds since the recording's start: live objects are a state
  readonly source: SourceName;
  readonly also: readonly SourceName[];
  readonly biased: boolean;
  readonly hasInterval: boolean;
  readonly exact: boolean; // counted object by object
  readonly objectsKnown: boolean;
  readonly total: { readonly samples: number; readonly bytes: number; readonly objects: number };
}

// Of the recording, and of what is shown of it.
export interface Meta extends ViewMeta {
  readonly startUnixMs: number;
  readonly duration: number; // seconds
  readonly complete: boolean;
  readonly origin: string;
  readonly processes: readonly ProcessInfo[];
  readonly threads: readonly ThreadInfo[];
  readonly losses: readonly LossInfo[];
  readonly foldedNodes: number; // stack nodes that the exporter put into (other)
  readonly foldedTypes: number;
  readonly foldedThreads: number; // cells whose thread the exporter left out
  readonly gcs: number;
}

export interface Frame {
  readonly name: string; // C# name without parameters
  readonly module: string; // "" when unknown
  readonly raw: string; // the runtime's name with parameters
  readonly flags: number;
}

export interface TypeInfo {
  readonly name: string;
  readonly raw: string;
}

// One view of a recording. Frames, types, ages and collections are the same in all of its views.
export interface ProfileData {
  readonly meta: Meta;
  readonly frames: readonly Frame[];
  readonly types: readonly TypeInfo[];
  // Node 0 is the root; a parent comes before its children.
  readonly nodes: { readonly parent: Uint32Array; readonly frame: Uint32Array; readonly folded: Uint32Array };
  readonly lines: Lines | null; // of the nodes; null where none is known
  readonly cells: {
    readonly node: Uint32Array;
    readonly type: Uint32Array;
    readonly process: Uint32Array;
    readonly thread: Uint32Array | null; // index into `meta.threads` + 1; 0 = not told
    readonly kind: Uint8Array;
    readonly age: Uint8Array | null; // of live objects: index into `ages.starts`
    readonly value: Estimates;
  };
  // What lived at each moment, by age; rows of a moment follow each other.
  readonly ages: {
    readonly starts: readonly number[]; // seconds: where each bucket begins, ascending
    readonly at: Float64Array; // seconds
    readonly process: Uint32Array;
    readonly kind: Uint8Array;
    readonly bucket: Uint8Array;
    readonly bytes: Float64Array;
    readonly objects: Float64Array;
  };
  readonly times: {
    readonly start: Float64Array; // seconds
    readonly end: Float64Array;
    readonly process: Uint32Array;
    readonly kind: Uint8Array;
    readonly bytes: Float64Array;
    readonly objects: Float64Array;
    readonly samples: Float64Array;
  };
  readonly gcs: {
    readonly start: Float64Array; // seconds
    readonly end: Float64Array;
    readonly process: Uint32Array;
    readonly number: Uint32Array;
    readonly generation: Uint8Array; // 255 = unknown
  };
}
