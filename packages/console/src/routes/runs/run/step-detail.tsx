import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Ago } from "../../../parts/ago.tsx";
import { extentOf } from "../../../parts/content-text.ts";
import { ContentView } from "../../../parts/content-view.tsx";
import { formatCount, formatDuration } from "../../../parts/duration.ts";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import type { TraceKind, TraceStep } from "../../../run-trace/trace.ts";
import { type LogItem, levelNames, type WaterfallItem } from "./waterfall-items.ts";

const kindNames: Record<TraceKind, string> = {
  model: "Model call",
  tool: "Tool call",
  tools: "Listing of tools",
  memory: "Recall of memories",
};

const numberOf = ({ kind, step, call }: TraceStep): string => {
  if (kind === "tool") return ` ${step}.${call}`;
  return kind === "model" ? ` ${step}` : "";
};

const StepFacts = ({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) => (
  <Facts>
    {facts.map(([name, value]) => (
      <Fact key={name} name={name}>
        {value}
      </Fact>
    ))}
  </Facts>
);

function factsOf(step: TraceStep): (readonly [string, ReactNode])[] {
  const facts: (readonly [string, ReactNode])[] = [
    ["Status", <StatusMark key="status" status={step.status} />],
    [step.kind === "model" ? "Model" : "Name", <OutsideText key="name" text={step.name} className="font-mono" />],
    ["Attempt", step.attempt],
    ["Took", formatDuration(step.durationMs)],
  ];
  if (step.tokens !== null) facts.push(["Tokens", formatCount(step.tokens)]);
  if (step.waitMs !== null) facts.push(["Then waited", formatDuration(step.waitMs)]);
  return facts;
}

interface NotKeptProps {
  readonly step: TraceStep;
  readonly agent: string;
}

/** Explains why contents are missing, and how to store them next time. */
function NotKept({ step, agent }: NotKeptProps) {
  const extents = [extentOf(step.input), extentOf(step.output)];
  if (extents.includes("all") || step.status === "running") return null;
  const isShape = extents.includes("shape");
  return (
    <p className="text-muted text-table">
      {isShape
        ? "Only sizes and structure were kept, because the agent's logs setting was shapes. "
        : "The input and output of this step are not stored: the agent's logs setting was off, or it has expired. "}
      Set <code className="font-mono">logs: full</code> in the{" "}
      <Link to="/agents/$agent/definition" params={{ agent }} className={textLinkClass}>
        definition
      </Link>{" "}
      to keep the contents of new runs.
    </p>
  );
}

const noOutput: Partial<Record<TraceStep["status"], string>> = {
  failed: "No answer: the call failed.",
  retried: "No answer: the attempt failed.",
  interrupted: "No answer: the call was interrupted.",
};

const Contents = ({ step }: { readonly step: TraceStep }) => (
  <>
    {extentOf(step.input) !== "nothing" && <ContentView title="Input" what="the input" value={step.input} />}
    {extentOf(step.output) === "nothing" ? (
      extentOf(step.input) === "all" && <p className="text-muted text-table">{noOutput[step.status]}</p>
    ) : (
      <ContentView title="Output" what="the output" value={step.output} />
    )}
  </>
);

const StepView = ({ step, agent }: NotKeptProps) => (
  <>
    <h2 className="text-body">
      {kindNames[step.kind]}
      {numberOf(step)}
    </h2>
    <StepFacts facts={factsOf(step)} />
    {step.reason !== null && (
      <p className={step.status === "failed" ? "text-danger" : "text-warning"}>
        <OutsideText text={step.reason} />
      </p>
    )}
    <NotKept step={step} agent={agent} />
    <Contents step={step} />
  </>
);

const LogView = ({ item }: { readonly item: LogItem }) => (
  <>
    <h2 className="text-body">Log line</h2>
    <Facts>
      <Fact name="Level">{levelNames[item.entry.level]}</Fact>
      <Fact name="At">
        <Ago at={item.entry.timestamp} />
      </Fact>
    </Facts>
    <ContentView title="Message" what="the message" value={item.entry.message} />
    <ContentView title="Metadata" what="the metadata" value={item.entry.metadata} />
  </>
);

interface StepDetailProps {
  readonly item: WaterfallItem | undefined;
  readonly agent: string;
}

/** The input and output of the selected step. */
export const StepDetail = ({ item, agent }: StepDetailProps) => (
  <section
    aria-label="The selected step"
    className="flex min-w-0 flex-col gap-3 p-4 @5xl:sticky @5xl:top-0 @5xl:max-h-[calc(100vh-3rem)] @5xl:self-start @5xl:overflow-auto"
  >
    {item?.type === "step" && <StepView key={item.key} step={item.step} agent={agent} />}
    {item?.type === "log" && <LogView key={item.key} item={item} />}
    {!item && <p className="text-muted text-table">Choose a step to see its input and output.</p>}
  </section>
);
