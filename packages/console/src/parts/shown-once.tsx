import { CopyButton } from "./copy-button.tsx";

interface ShownOnceProps {
  /** "the key", "the signing secret" */
  readonly what: string;
  readonly value: string;
}

/** A value that the server shows only once. It is gone when the dialog closes. */
export const ShownOnce = ({ what, value }: ShownOnceProps) => (
  <div className="flex flex-col gap-1">
    <p className="flex items-center gap-1 rounded border border-accent bg-accent-soft px-3 py-1.5">
      <code className="min-w-0 flex-1 select-all font-mono text-small [overflow-wrap:anywhere]">{value}</code>
      <CopyButton text={value} what={what} />
    </p>
    <p className="text-table">Copy {what} now: it is not shown again.</p>
  </div>
);
