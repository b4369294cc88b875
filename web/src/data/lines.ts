// SPDX-License-Identifier: Apache-2.0
// Source lines of the profile's nodes, and the files that they are in.
import { printable } from "../base/format.ts";
import type { Container } from "./container.ts";

export interface SourceFile {
  readonly path: string; // the compiler's, printable
  readonly name: string; // its last part
  readonly url: string; // by SourceLink; "" where there is none
  readonly text: string | null; // as it is: whoever shows it makes it printable
  readonly checked: boolean; // `text` is what was compiled, by its checksum
  // Why there is no text: nobody looked or found it; what was found is of another version; it did not fit.
  readonly without: "absent" | "another" | "size" | null;
}

// A place is a line of a file; places are in the order of files, then of lines.
export interface Lines {
  readonly files: readonly SourceFile[];
  readonly file: Uint32Array; // place → file
  readonly number: Uint32Array; // place → line, from 1
  readonly at: Int32Array; // node → place, -1 = not known
  readonly sure: Uint8Array; // node → Place::Sure in src/profile/tables/places.h
}

const kApproximate = 1;
const kAfterThrow = 2;

// What a catch does is shown at the throw, which is right of the exceptions themselves.
export const isApproximate = (sure: number, shows: string): boolean =>
  sure === kApproximate || (sure === kAfterThrow && shows !== "exceptions");

const lastPart = (path: string): string => path.replace(/^.*[\\/]/, "") || path;

export function readLines(c: Container): Lines | null {
  if (!c.has("node_line")) return null;
  const sources = c.json["sources"] as { path: string; url: string; text?: string; checked?: boolean; without?: SourceFile["without"] }[];
  const files = sources.map((s): SourceFile => {
    const path = printable(s.path);
    return { path, name: lastPart(path), url: s.url, text: s.text ?? null, checked: s.checked ?? false, without: s.without ?? null };
  });
  const rowFile = c.u32("line_file");
  const rowNumber = c.u32("line_number");
  const rowSure = c.u8("line_sure");
  const file: number[] = [];
  const number: number[] = [];
  const place = Int32Array.from(rowFile, (f, row) => {
    if (row === 0 || rowFile[row - 1] !== f || rowNumber[row - 1] !== rowNumber[row]) {
      file.push(f);
      number.push(rowNumber[row]!);
    }
    return file.length - 1;
  });
  const of = c.u32("node_line");
  return {
    files,
    file: Uint32Array.from(file),
    number: Uint32Array.from(number),
    at: Int32Array.from(of, (row) => (row === 0 ? -1 : place[row - 1]!)),
    sure: Uint8Array.from(of, (row) => (row === 0 ? 0 : rowSure[row - 1]!)),
  };
}
