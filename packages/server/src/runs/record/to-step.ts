import type { RunStep } from "@perch/contract";
import { fromStoredMetadata, type Metadata } from "../../resources/logs/stored-metadata.ts";
import { contentsOfLine, type RunContents, stepOf } from "./run-contents.ts";
import type { StepRow } from "./step-queries.ts";

const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? Math.round(value) : null);
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

function nameOf({ model, tool, servers }: Metadata, kind: RunStep["kind"]): string {
  if (kind === "memory") return "memory";
  if (kind === "tools") return Array.isArray(servers) ? servers.join(", ") : "";
  return textOrNull(kind === "model" ? model : tool) ?? "";
}

function statusOf({ type, failed, retry_after_ms }: Metadata): RunStep["status"] {
  if (type === "interrupted") return "interrupted";
  if (failed !== true) return "completed";
  return typeof retry_after_ms === "number" ? "retried" : "failed";
}

/** The steps that lines of a run's log are about. Without `contents`, they have the shapes that the lines have. */
export function toSteps(rows: readonly StepRow[], contents: RunContents | undefined): RunStep[] {
  const steps = rows.flatMap(({ at, metadata: stored }) => {
    const metadata = fromStoredMetadata(stored);
    const ref = stepOf(metadata);
    if (!ref) return [];
    const { input, output } = contents ? contentsOfLine(contents, metadata) : metadata;
    return {
      kind: ref.kind,
      step: ref.step,
      call: ref.call,
      name: nameOf(metadata, ref.kind),
      attempt: numberOrNull(metadata.attempt) ?? 1,
      status: statusOf(metadata),
      started_at: at.toISOString(),
      duration_ms: numberOrNull(metadata.duration_ms),
      tokens: numberOrNull(metadata.tokens),
      reason: textOrNull(metadata.reason),
      retry_after_ms: numberOrNull(metadata.retry_after_ms),
      input: input ?? null,
      output: output ?? null,
    };
  });
  return steps.map((step, index) => ({ number: index + 1, ...step }));
}

/**
 * The limit for one page, as JSON in UTF-8. Every attempt shows its input, so a page could be a hundred times the size
 * of the stored run.
 */
export const maxPageContentBytes = 4 * 1024 * 1024;
export const leftOutOfPage = `[left out: the contents of this page are larger than ${maxPageContentBytes / 2 ** 20} MiB. Read fewer steps at once]`;

/** The steps of a page: when its share is used up, a mark stands for each content that follows. */
export function boundContents(steps: readonly RunStep[]): RunStep[] {
  let left = maxPageContentBytes;
  const bound = (value: unknown): unknown => {
    if (value === null) return null;
    // Values that are left out anyway are not measured.
    if (left > 0) left -= Buffer.byteLength(JSON.stringify(value));
    return left > 0 ? value : leftOutOfPage;
  };
  return steps.map((step) => ({ ...step, input: bound(step.input), output: bound(step.output) }));
}
