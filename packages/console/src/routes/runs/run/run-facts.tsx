import type { Invocation } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { Ago } from "../../../parts/ago.tsx";
import { formatCount, formatDuration } from "../../../parts/duration.ts";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";

interface RunFactsProps {
  readonly agent: string;
  readonly run: Invocation;
  readonly tokens: number;
  readonly durationMs: number | null;
}

/** The facts about a run, such as its agent, version and user. Session and user lead to their other runs. */
export const RunFacts = ({ agent, run, tokens, durationMs }: RunFactsProps) => (
  <Facts>
    <Fact name="Took">
      <span className="font-mono text-small">{formatDuration(durationMs)}</span>
    </Fact>
    <Fact name="Tokens">
      <span className="font-mono text-small">{formatCount(tokens)}</span>
    </Fact>
    <Fact name="Agent">
      <Link to="/agents/$agent" params={{ agent }} className={textLinkClass}>
        <OutsideText text={agent} />
      </Link>
    </Fact>
    <Fact name="Version">
      <OutsideText text={run.version ?? "draft"} />
    </Fact>
    <Fact name="Environment">
      <OutsideText text={run.environment} />
    </Fact>
    {run.session_id !== null && (
      <Fact name="Session">
        <Link to="/runs" search={{ agent, session: run.session_id }} className={textLinkClass}>
          <OutsideText text={run.session_id} />
        </Link>
      </Fact>
    )}
    {run.user_id !== null && (
      <Fact name="User">
        <Link to="/runs" search={{ user: run.user_id }} className={textLinkClass}>
          <OutsideText text={run.user_id} />
        </Link>
      </Fact>
    )}
    <Fact name="Started">
      <Ago at={run.created_at} />
    </Fact>
  </Facts>
);
