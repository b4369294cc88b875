// SPDX-License-Identifier: Apache-2.0
// What the icicle tells of the frame under the pointer.
import { allOf, formatCount, formatExact, formatPercent, shortType, splitName } from "../base/format.ts";
import type { NodeId } from "../base/brand.ts";
import { kFramework, kMachinery, kPseudo, kUnresolved } from "../data/profile.ts";
import { frameOf, isType, kRoot, typeOf } from "../model/tree.ts";
import { metricsOf } from "../model/estimate.ts";
import { topTypes } from "../model/tables.ts";
import { linesOf, placeName } from "../model/lines.ts";
import type { State } from "../model/state.ts";
import { formatMetric, intervalText, isFew, metricName, typeWord } from "./figures.tsx";

function kindOf(flags: number): string {
  if (flags & kPseudo) return "not code";
  if (flags & kUnresolved) return "address without a method";
  if (flags & kMachinery) return "async or thread-pool plumbing";
  return flags & kFramework ? "framework" : "";
}

function Name({ name }: { name: string }) {
  const [lead, tail] = splitName(name, 2);
  return (
    <p class="tip-name">
      <span class="quiet">{lead}</span>
      {tail}
    </p>
  );
}

function Heading({ state, node }: { state: State; node: NodeId }) {
  const { data } = state;
  const tree = state.tree.value;
  if (node === kRoot) {
    const all = allOf(data.meta);
    return <p class="tip-name">{all[0]!.toUpperCase() + all.slice(1)}</p>;
  }
  if (isType(tree, node)) {
    const type = data.types[typeOf(tree, node)]!;
    return (
      <>
        <Name name={type.name} />
        <p class="quiet">{typeWord(data.meta)}</p>
        {type.raw !== type.name && <p class="tip-raw">{type.raw}</p>}
      </>
    );
  }
  const frame = data.frames[frameOf(tree, node)]!;
  const kind = kindOf(frame.flags);
  return (
    <>
      <Name name={frame.name} />
      {(frame.module || kind) && (
        <p class="quiet">
          {frame.module}
          {frame.module && kind && " · "}
          {kind}
        </p>
      )}
      {frame.raw !== frame.name && <p class="tip-raw">{frame.raw}</p>}
      {tree.folded[node]! > 0 && (
        <p class="quiet">
          {formatExact(tree.folded[node]!)} lighter stack nodes, folded to keep this file small; their figures are
          included in full.
        </p>
      )}
    </>
  );
}

// Of the frame itself: a caller's line is the caller's to tell.
function At({ state, node }: { state: State; node: NodeId }) {
  const { data } = state;
  if (data.lines === null) return null;
  const at = linesOf(data, data.lines, state.tree.value, state.selection.value, node, state.metric.value);
  if (at === null || at.node !== node) return null;
  const others = at.places.length - 1;
  return (
    <p class="tip-at">
      {at.approximate && "~ "}
      {placeName(data.lines, at.places[0]!)}
      {others > 0 && <span class="quiet">{` and ${others} more ${others === 1 ? "line" : "lines"}`}</span>}
    </p>
  );
}

export function Tooltip({ state, node, x, y }: { state: State; node: NodeId; x: number; y: number }) {
  const { data } = state;
  const meta = data.meta;
  const metric = state.metric.value;
  const weights = state.weights.value;
  const total = weights.total;
  const tree = state.tree.value;
  const value = total[metric][node]!;
  const interval = (m: "bytes" | "objects") => intervalText(meta, m, total, node, state.kind.value);
  const cpu = meta.shows === "gc-cpu";
  const [first, second] = metricsOf(meta);
  const types = !meta.typed || (node !== kRoot && isType(tree, node)) ? [] : topTypes(data, tree, state.selection.value, node, metric);
  // To the side of the pointer that has the room.
  const right = x > window.innerWidth / 2;
  const below = y < window.innerHeight * 0.55;
  const place = {
    left: right ? "auto" : `${x + 14}px`,
    right: right ? `${document.documentElement.clientWidth - x + 14}px` : "auto",
    top: below ? `${y + 16}px` : "auto",
    bottom: below ? "auto" : `${document.documentElement.clientHeight - y + 12}px`,
  };
  return (
    <div class="tip" style={place} role="tooltip">
      <Heading state={state} node={node} />
      <At state={state} node={node} />
      <table class="tip-figures">
        <tbody>
          <tr>
            <th>{meta.events ? metricName(meta, first!).toLowerCase() : "total"}</th>
            <td>{formatMetric(meta, first!, total[first!][node]!)}</td>
            <td class="quiet">{interval("bytes")}</td>
          </tr>
          <tr>
            <th>self</th>
            <td>{formatMetric(meta, first!, weights.self[first!][node]!)}</td>
            <td />
          </tr>
          {meta.events && (
            <tr>
              <th>{metricName(meta, second!).toLowerCase()}</th>
              <td>{formatMetric(meta, second!, total[second!][node]!)}</td>
              <td />
            </tr>
          )}
          {meta.objectsKnown && !meta.events && (
            <tr>
              <th>objects</th>
              <td>{formatCount(total.objects[node]!)}</td>
              <td class="quiet">{interval("objects")}</td>
            </tr>
          )}
          {!cpu && !meta.events && (
            <tr>
              <th>samples</th>
              <td>{formatExact(total.samples[node]!)}</td>
              <td class="few">{isFew(meta, total, node) ? "few samples: a rough figure" : ""}</td>
            </tr>
          )}
          <tr>
            <th>share</th>
            <td>{formatPercent(value, meta.total[metric])}</td>
            <td class="quiet">
              of all
              {state.zoom.value !== kRoot && ` · ${formatPercent(value, total[metric][state.zoom.value]!)} of view`}
            </td>
          </tr>
        </tbody>
      </table>
      {types.length > 0 && (
        <table class="tip-types">
          <tbody>
            {types.map((t) => (
              <tr>
                <td>{formatPercent(t.value, value)}</td>
                <td>{shortType(data.types[t.type]!.name)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
