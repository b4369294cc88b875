// SPDX-License-Identifier: Apache-2.0
// Numbers that must not be mixed up: a brand exists for the type checker only.

export type Brand<T, Name extends string> = T & { readonly __brand: Name };

// Index of a method in ProfileData.frames.
export type FrameId = Brand<number, "frame">;
// Index of a type in ProfileData.types.
export type TypeId = Brand<number, "type">;
// Node of the tree on screen (model/tree.ts); 0 is the root.
export type NodeId = Brand<number, "node">;
