import type { VersionDiff } from "@perch/sdk";
import { useId } from "react";
import { classNames } from "../../../parts/class-names.ts";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { changedLines, type DiffLine } from "./changed-lines.ts";

/** A sign before the line repeats the meaning for users who do not see the colour. */
const signs = { removed: "−", added: "+", same: " " } as const;
const lineWords = { removed: "Removed: ", added: "Added: ", same: "" } as const;
const lineClasses = {
  removed: "bg-danger-soft text-danger",
  added: "bg-accent-soft text-accent",
  same: "text-muted",
} as const;

const Line = ({ kind, text }: DiffLine) => (
  <div className={classNames("flex gap-2 px-2", lineClasses[kind])}>
    <span aria-hidden="true" className="select-none whitespace-pre">
      {signs[kind]}
    </span>
    <span className="sr-only">{lineWords[kind]}</span>
    <OutsideText text={text} className="min-w-0 whitespace-pre-wrap" />
  </div>
);

type Change = VersionDiff["changes"][number];

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, undefined, 2));

const linesOf = (change: Change): DiffLine[] =>
  changedLines("from" in change ? shown(change.from) : undefined, "to" in change ? shown(change.to) : undefined);

const ChangeItem = ({ change }: { readonly change: Change }) => {
  const id = useId();
  return (
    <li aria-labelledby={id} className="border-line border-b py-2">
      <h2 id={id} className="mb-1 font-medium font-mono text-small">
        <OutsideText text={change.path} />
        {!("from" in change) && <span className="ml-2 font-normal text-muted">is new</span>}
        {!("to" in change) && <span className="ml-2 font-normal text-muted">is removed</span>}
      </h2>
      <div className="overflow-hidden rounded border border-line font-mono text-small leading-5">
        {linesOf(change).map((line, index) => (
          <Line key={index} {...line} />
        ))}
      </div>
    </li>
  );
};

/** The differences between two definitions, field by field. */
export function DiffView({ diff }: { readonly diff: VersionDiff }) {
  if (diff.same)
    return (
      <p className="text-muted text-table">
        No difference: {diff.from} and {diff.to} are the same.
      </p>
    );
  return (
    <div className="max-w-5xl">
      <div className="flex items-center gap-1 text-muted text-small">
        {diff.changes.length === 1 ? "1 field differs" : `${diff.changes.length} fields differ`} from {diff.from} to{" "}
        {diff.to}
        <CopyButton text={diff.text} what="the changes as a unified diff" />
      </div>
      <ul>
        {diff.changes.map((change) => (
          <ChangeItem key={change.path} change={change} />
        ))}
      </ul>
    </div>
  );
}
