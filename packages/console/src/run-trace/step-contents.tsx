import { CopyButton } from "../parts/copy-button.tsx";
import { formatDuration } from "../parts/duration.ts";
import { OutsideText } from "../parts/outside-text.tsx";
import type { TraceStep } from "./trace.ts";

/** A text as it is, anything else as JSON. */
export const contentText = (content: unknown): string =>
  typeof content === "string" ? content : JSON.stringify(content, null, 2);

const Content = ({ title, content }: { readonly title: string; readonly content: unknown }) => {
  const text = contentText(content);
  return (
    <div>
      <div className="flex items-center justify-between text-muted text-small">
        <h3 className="font-medium">{title}</h3>
        <CopyButton text={text} what={`what was ${title.toLowerCase()}`} />
      </div>
      <div className="rounded border border-line bg-surface px-2 py-1">
        <OutsideText block text={text} className="font-mono text-small" />
      </div>
    </div>
  );
};

const known = (content: unknown): boolean => content !== null && content !== undefined && content !== "";

/** What a step was asked and said, and why it did not go on. */
export function StepContents({ step }: { readonly step: TraceStep }) {
  const { status, reason, waitMs, asked, said } = step;
  const isEmpty = !known(asked) && !known(said) && reason === null;
  return (
    <div className="flex flex-col gap-2 bg-sunken px-4 py-2">
      {reason !== null && (
        <p className="text-small">
          <OutsideText text={reason} />
          {waitMs !== null && ` The next attempt begins after ${formatDuration(waitMs)}.`}
        </p>
      )}
      {known(asked) && <Content title="Asked" content={asked} />}
      {known(said) && <Content title="Said" content={said} />}
      {isEmpty && (
        <p className="text-muted text-small">
          {status === "running"
            ? "Nothing has come yet."
            : "No contents are kept of this step. Set logs of the agent to full to keep them."}
        </p>
      )}
    </div>
  );
}
