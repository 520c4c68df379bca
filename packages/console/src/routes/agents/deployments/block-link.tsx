import { Link } from "@tanstack/react-router";
import { exactTime } from "../../../parts/ago.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { formatSpan } from "../../../parts/span.ts";
import { type Block, hasLabelBelow, placeOf, type Span, wordOf } from "./timeline.ts";

interface BlockLinkProps {
  readonly agent: string;
  readonly block: Block;
  readonly span: Span;
  readonly kind: "live" | "canary";
  readonly isCompared: boolean;
}

const colours = {
  live: "h-7 bg-sunken border-line-strong text-muted leading-6.5 hover:text-text",
  liveNow: "h-7 border-transparent bg-accent font-medium text-on-accent leading-6.5",
  canary: "h-6 border-canary bg-canary-soft text-canary leading-5.5",
} as const;

/** A time of service, to scale. A very short one is wide enough for a finger. */
export function BlockLink({ agent, block, span, kind, isCompared }: BlockLinkProps) {
  const { deployment, from, to, isOpen } = block;
  const { left, width } = placeOf(from, to, span);
  const isLiveNow = kind === "live" && isOpen;
  const isLabelBelow = kind === "canary" && hasLabelBelow(block, span);
  const what = kind === "canary" && !isOpen ? "canary" : wordOf(deployment);
  // The label begins with the visible text, for users of voice control.
  const name = `${deployment.version} ${what}, ${isOpen ? `since ${exactTime(new Date(from))}` : `for ${formatSpan(to - from)} until ${exactTime(new Date(to))}`}`;
  return (
    <li className="contents">
      <Link
        to="/agents/$agent/deployments/$deployment"
        params={{ agent, deployment: deployment.id }}
        title={name}
        aria-label={name}
        style={{ left: `min(${left}%, calc(100% - 14px))`, width: `${width}%` }}
        className={classNames(
          "absolute min-w-3.5 whitespace-nowrap rounded border px-1.5 font-mono text-small",
          !isLabelBelow && "truncate",
          kind === "canary" ? `top-13.5 ${colours.canary}` : `top-6 ${isLiveNow ? colours.liveNow : colours.live}`,
          deployment.status === "rolled_back" && "border-dashed",
          isCompared && "outline-2 outline-text",
        )}
      >
        <span className={classNames(isLabelBelow && "absolute top-full right-0")}>
          {deployment.version}
          {isOpen && <span className="font-sans"> {what}</span>}
        </span>
      </Link>
    </li>
  );
}
