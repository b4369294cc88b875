// SPDX-License-Identifier: Apache-2.0
// Errors as values: a value, or one sentence on what is wrong and what to do.

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const fail = (error: string): Result<never> => ({ ok: false, error });
