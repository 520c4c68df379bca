import type { ReactNode } from "react";
import type { ListedRun } from "../../../api/run-list-queries.ts";
import { exactTime, relativeTime } from "../../../parts/ago.tsx";
import { formatCount, formatDuration } from "../../../parts/duration.ts";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { visibleText } from "../../../parts/visible-text.ts";

export interface CellContext {
  readonly now: Date;
  /** The address of the run, for its link. */
  readonly href: string;
}

export interface Column {
  readonly id: string;
  readonly title: string;
  /** As in `grid-template-columns`. */
  readonly width: string;
  /** It is shown if the list is at least so wide, in pixels. */
  readonly from: number;
  readonly kind?: "plain" | "number" | "outside" | "id";
  readonly cell: (run: ListedRun, context: CellContext) => ReactNode;
}

/** The link is for the mouse: to open it in a new tab or copy it. The keyboard opens the row. */
const agentCell = (run: ListedRun, { href }: CellContext) => (
  <a href={href} tabIndex={-1} className="hover:underline">
    {visibleText(run.agent_name)}
  </a>
);

const started = ({ created_at }: ListedRun, { now }: CellContext) => {
  const at = new Date(created_at);
  return (
    <time dateTime={created_at} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  );
};

const outside = (text: string | null): string | null => text && visibleText(text);

const widest = 100_000;

const columns: readonly (Column & { readonly until?: number })[] = [
  {
    id: "mark",
    title: "Status",
    width: "20px",
    from: 0,
    until: 520,
    cell: ({ status }) => <StatusMark status={status} iconOnly />,
  },
  { id: "status", title: "Status", width: "96px", from: 520, cell: ({ status }) => <StatusMark status={status} /> },
  { id: "agent", title: "Agent", width: "minmax(100px, 2fr)", from: 0, kind: "outside", cell: agentCell },
  {
    id: "request",
    title: "Request id",
    width: "128px",
    from: 840,
    kind: "id",
    cell: ({ request_id }) => request_id,
  },
  {
    id: "version",
    title: "Version",
    width: "minmax(56px, 1fr)",
    from: 1040,
    kind: "outside",
    cell: ({ version }) => outside(version ?? "draft"),
  },
  {
    id: "environment",
    title: "Environment",
    width: "minmax(80px, 1fr)",
    from: 1040,
    kind: "outside",
    cell: ({ environment }) => outside(environment),
  },
  {
    id: "user",
    title: "User",
    width: "minmax(96px, 2fr)",
    from: 700,
    kind: "outside",
    cell: ({ user_id }) => outside(user_id),
  },
  {
    id: "session",
    title: "Session",
    width: "minmax(96px, 2fr)",
    from: 600,
    kind: "outside",
    cell: ({ session_id }) => outside(session_id),
  },
  { id: "steps", title: "Steps", width: "44px", from: 1120, kind: "number", cell: ({ steps }) => formatCount(steps) },
  {
    id: "tokens",
    title: "Tokens",
    width: "60px",
    from: 800,
    kind: "number",
    cell: ({ tokens_used }) => formatCount(tokens_used),
  },
  {
    id: "duration",
    title: "Took",
    width: "72px",
    from: 320,
    kind: "number",
    cell: ({ duration_ms, status }) => (status === "running" ? "…" : formatDuration(duration_ms)),
  },
  { id: "started", title: "Started", width: "80px", from: 0, kind: "number", cell: started },
];

/** As many columns as there is room for. */
export const columnsFor = (width: number): readonly Column[] =>
  columns.filter(({ from, until = widest }) => width >= from && width < until);

export const templateOf = (shown: readonly Column[]): string => shown.map(({ width }) => width).join(" ");
