import type { Deployment } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { exactTime } from "../../../parts/ago.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { Icon } from "../../../parts/icon.tsx";
import { BlockLink } from "./block-link.tsx";
import { hasLabelBelow, type Lane, placeOf, type Span } from "./timeline.ts";

const markClass = "-translate-x-1/2 absolute top-0 flex size-6 items-center justify-center rounded";
const leftOf = (at: number, span: Span) => ({ left: `clamp(12px, ${placeOf(at, at, span).left}%, calc(100% - 12px))` });

interface MarkProps {
  readonly agent: string;
  readonly deployment: Deployment;
  readonly span: Span;
}

/** A deployment that never served a request has no length, so it is a mark at its time. */
const NeverMark = ({ agent, deployment, span }: MarkProps) => {
  const isPending = deployment.status === "pending";
  const at = Date.parse(deployment.created_at);
  const name = `${deployment.version}, ${isPending ? "being checked" : "failed"}, ${exactTime(new Date(at))}`;
  return (
    <li className="contents">
      <Link
        to="/agents/$agent/deployments/$deployment"
        params={{ agent, deployment: deployment.id }}
        title={name}
        aria-label={name}
        style={leftOf(at, span)}
        className={classNames(markClass, isPending ? "text-warning" : "text-danger")}
      >
        <Icon name={isPending ? "clock" : "cross"} className="size-3.5" />
      </Link>
    </li>
  );
};

/** The mark of a rollback that ended a deployment. The block shows it too, and leads to it. */
const RolledBackMark = ({ at, span }: { readonly at: number; readonly span: Span }) => (
  <span aria-hidden="true" style={leftOf(at, span)} className={classNames(markClass, "pointer-events-none text-text")}>
    <Icon name="left" className="size-3.5" />
  </span>
);

interface LaneViewProps {
  readonly agent: string;
  readonly lane: Lane;
  readonly span: Span;
  readonly compared: readonly string[];
}

/** One environment: marks above, live versions in the middle, canaries as thinner blocks below. */
export const LaneView = ({ agent, lane, span, compared }: LaneViewProps) => {
  const { environment, live, canaries, never } = lane;
  const common = { agent, span };
  const canaryHeight = canaries.some((block) => hasLabelBelow(block, span)) ? "h-25" : "h-20";
  const rolledBack = [...live, ...canaries].filter(
    ({ deployment, to }) => deployment.status === "rolled_back" && to <= span.end,
  );
  return (
    <section aria-label={environment} className="sm:grid sm:grid-cols-[112px_minmax(0,1fr)]">
      <h3 className="pt-1 text-table sm:pt-7">{environment}</h3>
      <ul
        className={classNames("relative border-line border-b sm:border-l", canaries.length > 0 ? canaryHeight : "h-14")}
      >
        {live.map((block) => (
          <BlockLink
            key={block.deployment.id}
            {...common}
            block={block}
            kind="live"
            isCompared={compared.includes(block.deployment.id)}
          />
        ))}
        {canaries.map((block) => (
          <BlockLink
            key={block.deployment.id}
            {...common}
            block={block}
            kind="canary"
            isCompared={compared.includes(block.deployment.id)}
          />
        ))}
        {never.map((deployment) => (
          <NeverMark key={deployment.id} {...common} deployment={deployment} />
        ))}
        {rolledBack.map(({ deployment, to }) => (
          <li key={deployment.id} className="contents">
            <RolledBackMark at={to} span={span} />
          </li>
        ))}
      </ul>
    </section>
  );
};
