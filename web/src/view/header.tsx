// SPDX-License-Identifier: Apache-2.0
// Who was recorded, how, and what it comes to; then what the figures leave out.
import { formatBytes, formatCount, formatDuration, formatExact, formatPerSecond, formatPercent, formatRate, formatTime } from "../base/format.ts";
import { gcSeconds } from "../data/gc_cpu.ts";
import type { Meta, ProcessInfo, SourceName } from "../data/profile.ts";
import { metricsOf } from "../model/estimate.ts";
import { kRoot } from "../model/tree.ts";
import { kEverything, weigh } from "../model/weights.ts";
import type { State } from "../model/state.ts";
import { formatMetric, intervalText, metricName } from "./figures.tsx";

const kEvents: Record<SourceName, string> = {
  sampled: "AllocationSampled",
  tick: "AllocationTick",
  counted: "GCSampledObjectAllocation",
  pprof: "pprof",
  exception: "Exception",
  contention: "Contention",
  wait: "WaitHandleWait",
  unknown: "unknown event",
};

function ProcessLine({ process }: { process: ProcessInfo }) {
  const about = [process.runtime, [process.os, process.arch].filter(Boolean).join(" ")].filter(Boolean).join(" · ");
  return (
    <div class="process">
      <strong>{process.name || process.mainModule || "unnamed process"}</strong>
      {process.pid > 0 && <span class="quiet"> pid {process.pid}</span>}
      {about && <span class="quiet"> · {about}</span>}
      {process.commandLine && (
        <code class="command" title={process.commandLine}>
          {process.commandLine}
        </code>
      )}
    </div>
  );
}

function Figure({ value, label, note, title }: { value: string; label: string; note?: string; title?: string }) {
  return (
    <div class="figure" title={title}>
      <div class="figure-value">
        {value}
        {note && <span class="figure-note">{note}</span>}
      </div>
      <div class="figure-label">{label}</div>
    </div>
  );
}

function Figures({ state }: { state: State }) {
  const { data } = state;
  const meta = data.meta;
  // Of the whole recording, whatever is selected below.
  const total = weigh(data, state.tree.peek(), kEverything).total;
  if (meta.shows === "gc-cpu") {
    const gc = gcSeconds(data);
    return (
      <div class="figures">
        <Figure
          value={formatPercent(gc, meta.total.bytes)}
          label="of the CPU time is the collector's"
        />
        <Figure value={formatDuration(gc)} label="GC CPU" />
        <Figure value={formatDuration(meta.total.bytes)} label="CPU time of the process" />
        {meta.gcs > 0 && <Figure value={formatExact(meta.gcs)} label={meta.gcs === 1 ? "collection" : "collections"} />}
      </div>
    );
  }
  if (meta.events) {
    return (
      <div class="figures">
        {metricsOf(meta).map((m) => (
          <Figure
            value={formatMetric(meta, m, meta.total[m])}
            label={metricName(meta, m).toLowerCase()}
            title={`${formatExact(meta.total[m])} ${m === "samples" || meta.quantity[m].unit === "number" ? "in all" : meta.quantity[m].unit}: ${meta.exact ? "each one counted" : "by samples or windows"} (${meta.event})`}
          />
        ))}
        {meta.duration > 0 && (
          <Figure value={formatPerSecond(meta.total.objects / meta.duration)} label={`over ${formatDuration(meta.duration)}`} />
        )}
        {meta.gcs > 0 && <Figure value={formatExact(meta.gcs)} label={meta.gcs === 1 ? "collection" : "collections"} />}
      </div>
    );
  }
  return (
    <div class="figures">
      <Figure
        value={formatBytes(meta.total.bytes)}
        note={intervalText(meta, "bytes", total, kRoot, null)}
        label={meta.shows === "live" ? `live at ${formatDuration(meta.at)}` : "allocated"}
        title={`${formatExact(meta.total.bytes)} bytes${meta.hasInterval ? ", with its 95 % interval" : ""}`}
      />
      {meta.objectsKnown && (
        <Figure
          value={formatCount(meta.total.objects)}
          note={intervalText(meta, "objects", total, kRoot, null)}
          label="objects"
          title={`${formatExact(meta.total.objects)} objects${meta.hasInterval ? ", with its 95 % interval" : ""}`}
        />
      )}
      <Figure
        value={formatExact(meta.total.samples)}
        label={`${meta.shows === "live" ? "followed objects" : meta.source === "counted" ? "events" : "samples"}, ${kEvents[meta.source]}`}
      />
      {meta.duration > 0 && meta.shows === "allocated" && (
        <Figure value={formatRate(meta.total.bytes / meta.duration)} label={`over ${formatDuration(meta.duration)}`} />
      )}
      {meta.gcs > 0 && <Figure value={formatExact(meta.gcs)} label={meta.gcs === 1 ? "collection" : "collections"} />}
    </div>
  );
}

function sourceNote(meta: Meta): string {
  if (meta.source === "tick") {
    return (
      "Biased: AllocationTick, no interval. The runtime reports one allocation per 100 KB of a heap; types and " +
      "stacks that fall between are not seen. .NET 10 has AllocationSampled, which is unbiased."
    );
  }
  if (meta.source === "counted") {
    return meta.exact
      ? "Exact: counted object by object (GCSampledObjectAllocation). A type's first object on each further thread, which the runtime leaves out, is under [no stack]."
      : "At least: counted by GCSampledObjectAllocation, where what came after a type's last event on a thread is missing.";
  }
  return "";
}

function Notes({ state }: { state: State }) {
  const meta = state.data.meta;
  const note = meta.note || sourceNote(meta);
  const leftOut = state.data.lines?.files.filter((f) => f.without === "size").length ?? 0;
  const unfinished = meta.processes.filter((p) => !p.complete).length;
  return (
    <div class="notes">
      {note && <p class="note biased">{note}</p>}
      {!meta.objectsKnown && meta.source === "tick" && <p class="note">Objects are not known: this AllocationTick has no object size.</p>}
      {!meta.complete && (
        <p class="note">The recording was cut short: it ends where its last complete part ends.</p>
      )}
      {meta.complete && unfinished > 0 && (
        <p class="note">
          {unfinished === 1 ? "One process" : `${unfinished} processes`} ended before the recording was stopped.
        </p>
      )}
      {meta.losses.length > 0 && (
        <details class="note losses" open={meta.losses.length <= 2}>
          <summary>
            {meta.losses.length === 1
              ? "Something was lost on the way"
              : `${meta.losses.length} kinds of loss on the way`}
          </summary>
          <ul>
            {meta.losses.map((loss) => (
              <li>
                <b>{formatExact(loss.count)}</b> {loss.sentence} <code>{loss.name}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      {meta.foldedNodes > 0 && (
        <p class="note calm">
          {formatExact(meta.foldedNodes)} of the lightest stack nodes are folded into <i>(other)</i> to keep this file
          small; all totals are complete.
        </p>
      )}
      {leftOut > 0 && (
        <p class="note calm">
          The text of {formatExact(leftOut)} source {leftOut === 1 ? "file" : "files"} was left out to keep this file small.
        </p>
      )}
    </div>
  );
}

export function Header({ state }: { state: State }) {
  const meta = state.data.meta;
  const shown = meta.processes.slice(0, 3);
  const also = meta.also.filter((s) => s !== meta.source).map((s) => kEvents[s]);
  const time = formatTime(meta.startUnixMs);
  return (
    <header>
      <div class="head">
        <div class="who">
          {shown.map((p) => (
            <ProcessLine process={p} />
          ))}
          {meta.processes.length > shown.length && (
            <div class="quiet">and {meta.processes.length - shown.length} more processes</div>
          )}
          {meta.processes.length === 0 && (
            <div class="process">
              <strong>No process</strong>
            </div>
          )}
          <div class="quiet when">
            {time && `recorded ${time}`}
            {meta.duration > 0 && `${time ? " for " : "recorded for "}${formatDuration(meta.duration)}`}
            {also.length > 0 && ` · also holds ${also.join(", ")}`}
            {meta.origin && ` · ${meta.origin}`}
          </div>
        </div>
        <Figures state={state} />
      </div>
      <Notes state={state} />
    </header>
  );
}
