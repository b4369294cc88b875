// SPDX-License-Identifier: Apache-2.0
// SourceLink's address of a file → where a person reads that line.

// Hosts whose SourceLink addresses are of the bare text, which has no lines.
const kPages: readonly (readonly [RegExp, string])[] = [
  [/^https:\/\/raw\.githubusercontent\.com\/([^/]+\/[^/]+)\/([^/]+)\//, "https://github.com/$1/blob/$2/"],
  [/^(https:\/\/[^/]+\/.+?)\/-\/raw\//, "$1/-/blob/"],
];

// null: no address that a page may link. Only https, whatever a PDB says.
export function lineAddress(url: string, line: number): string | null {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return null;
  }
  if (parsed.protocol !== "https:" || parsed.username !== "" || parsed.password !== "") return null;
  let page = parsed.href.replace(/#.*$/, "");
  for (const [pattern, to] of kPages) page = page.replace(pattern, to);
  return `${page}#L${line}`;
}
