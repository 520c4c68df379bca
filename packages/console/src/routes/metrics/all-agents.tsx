import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { AgentFigures } from "../../api/agent-figures.ts";
import { allMetricsQuery } from "../../api/all-metrics-query.ts";
import { KeptDays } from "../../lists/kept-days.tsx";
import { classNames } from "../../parts/class-names.ts";
import { formatCount, formatDuration } from "../../parts/duration.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { formatDollars, formatPercent, formatRuns, formatShort, totalOf } from "../../parts/figures.ts";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Sparkline } from "../../parts/sparkline.tsx";
import { Cell, RowName, Table, wideOnly } from "../../parts/table.tsx";
import { textLinkClass } from "../../parts/text-link.ts";
import { rangeLabel } from "../../parts/time-range.ts";
import { Working } from "../../parts/working.tsx";

const route = getRouteApi("/signed-in/metrics");

const right = `${wideOnly} text-right`;
const columns = [
  { title: "Agent" },
  { title: "Runs", className: right },
  { title: "Failed", className: right },
  { title: "Average run time", className: right },
  { title: "Tokens", className: right },
  { title: "Cost", className: right },
];

interface FigureProps {
  readonly text: string;
  readonly values: readonly (number | null)[];
  /** A description of the line for screen readers. */
  readonly label: string;
  readonly tone?: "accent" | "danger";
}

const Figure = ({ text, values, label, tone = "accent" }: FigureProps) => (
  <Cell className={wideOnly}>
    <span className="flex items-center justify-end gap-3">
      {/* A middle-sized window has no room for the line. */}
      <span className="max-xl:hidden">
        <Sparkline values={values} tone={tone} label={label} />
      </span>
      <span className={classNames("w-16 text-right", tone === "danger" && "text-danger")}>{text}</span>
    </span>
  </Cell>
);

/** The content of the columns that a narrow screen hides. */
const inWords = ({ runs, errorRate, averageMs, tokens, cost }: AgentFigures): string =>
  [
    formatRuns(runs),
    `${formatPercent(errorRate)} failed`,
    `${formatDuration(averageMs)} on average`,
    `${formatShort(totalOf(tokens))} tokens`,
    formatDollars(totalOf(cost)),
  ].join(", ");

const AgentRow = ({ figures }: { readonly figures: AgentFigures }) => {
  const { name, runs, errorRate } = figures;
  const orNone = (text: string) => (runs === 0 ? "–" : text);
  const average = formatDuration(figures.averageMs);
  return (
    <tr className="relative hover:bg-sunken">
      <RowName className="font-medium">
        <Link
          to="/metrics"
          search={(before) => ({ ...before, agent: name })}
          // The link covers the whole row, so the row needs no second link.
          className="after:absolute after:inset-0 after:content-[''] focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-accent focus-visible:after:-outline-offset-2"
        >
          <OutsideText text={name} />
        </Link>
        <span className="block pb-1 font-normal text-muted text-small md:hidden">
          {runs === 0 ? "no runs" : inWords(figures)}
        </span>
      </RowName>
      <Figure text={formatCount(runs)} values={figures.throughput} label="Runs over time" />
      <Figure
        text={orNone(formatPercent(errorRate))}
        values={figures.errorRates}
        label="Share of failed runs over time"
        {...(errorRate > 0 && { tone: "danger" })}
      />
      <Figure text={orNone(average)} values={figures.averagesMs} label="Average run time over time" />
      <Figure text={orNone(formatShort(totalOf(figures.tokens)))} values={figures.tokens} label="Tokens over time" />
      <Figure text={orNone(formatDollars(totalOf(figures.cost)))} values={figures.cost} label="Cost over time" />
    </tr>
  );
};

/** The newest hundred agents, each as a row that leads to its charts. */
export function AllAgents() {
  const { range, env } = route.useSearch();
  const { data, error, refetch } = useQuery(allMetricsQuery(range, env));
  if (!data)
    return error ? (
      <div className="p-4">
        <ErrorNote error={error} onRetry={() => void refetch()} />
      </div>
    ) : (
      <Working what="the metrics" />
    );
  if (data.agents.length === 0)
    return (
      <EmptyState title="No agents yet">
        <p className="text-muted">
          Each agent has a line here, with its runs, failures, run time, tokens and cost.{" "}
          <Link to="/agents" className={textLinkClass}>
            See how to begin
          </Link>
          .
        </p>
      </EmptyState>
    );
  return (
    <>
      <KeptDays range={range} className="px-4 py-3" />
      <Table caption={`Metrics of agents, ${rangeLabel(range).toLowerCase()}`} columns={columns}>
        {data.agents.map((figures) => (
          <AgentRow key={figures.id} figures={figures} />
        ))}
      </Table>
      {data.hasMore && (
        <p className="px-4 py-3 text-muted text-table">
          These are the newest 100 agents. Enter the name of another one above.
        </p>
      )}
    </>
  );
}
