// SPDX-License-Identifier: Apache-2.0
// Source text as it is shown: whatever it holds, each line is one row of characters that can be seen.
import { printable } from "../base/format.ts";

const kTab = 4;
export const kLongest = 1000; // characters of a line; generated code can have any number

const isLead = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

function untabbed(line: string): string {
  if (!line.includes("\t")) return line;
  let out = "";
  for (const part of line.split("\t")) out += part + " ".repeat(kTab - ((out.length + part.length) % kTab));
  return out.trimEnd();
}

export function shownLine(line: string): string {
  let text = untabbed(line.endsWith("\r") ? line.slice(0, -1) : line);
  if (text.length > kLongest) {
    const end = isLead(text.charCodeAt(kLongest - 1)) ? kLongest - 1 : kLongest;
    text = `${text.slice(0, end)} … ${text.length - end} more characters`;
  }
  return printable(text);
}

// A last line that ends is no other line.
export function splitLines(text: string): string[] {
  const lines = text.replace(/^\ufeff/, "").split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}
