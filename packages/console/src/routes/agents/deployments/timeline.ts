import type { Deployment } from "@perch/sdk";
import { isCanary } from "../../../api/is-canary.ts";
import { inEnvironmentOrder } from "../live-deployments.ts";

/** A time in which a deployment served requests: all of them, or a share as a canary. In milliseconds. */
export interface Block {
  readonly deployment: Deployment;
  readonly from: number;
  readonly to: number;
  /** It still serves requests. */
  readonly isOpen: boolean;
}

export interface Lane {
  readonly environment: string;
  readonly live: readonly Block[];
  readonly canaries: readonly Block[];
  /** Deployments that never served a request: they failed their checks, or are being checked. */
  readonly never: readonly Deployment[];
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

const timeOf = (at: string): number => Date.parse(at);
const overlaps = ({ from, to }: Pick<Block, "from" | "to">, { start, end }: Span): boolean =>
  to >= start && from <= end;

/** The server's clock can be ahead of the reader's, so a start in the future counts as now. */
const timeUntil = (at: string, now: number): number => Math.min(timeOf(at), now);

const blockOf = (deployment: Deployment, now: number): Block | undefined => {
  const { activated_at, ended_at, status } = deployment;
  if (activated_at === null) return undefined;
  const to = ended_at === null ? now : timeUntil(ended_at, now);
  return { deployment, from: timeUntil(activated_at, now), to, isOpen: status === "active" };
};

/**
 * A deployment ends and the next one begins in two statements, and the clock can be set back between them. An overlap this short is not a
 * canary.
 */
export const handoverMs = 1000;

/**
 * A promoted canary has one record, which begins when it was a canary. It became live at the end of the previous deployment; until then
 * both served requests.
 */
function splitPromoted(blocks: readonly Block[]): { readonly live: Block[]; readonly canaries: Block[] } {
  const live: Block[] = [];
  const canaries: Block[] = [];
  for (const block of blocks.toSorted((a, b) => a.from - b.from)) {
    const before = live.at(-1);
    if (before && !before.isOpen && before.to > block.from + handoverMs) {
      canaries.push({ ...block, to: before.to, isOpen: false });
      live.push({ ...block, from: before.to });
    } else live.push(block);
  }
  return { live, canaries };
}

function laneOf(environment: string, deployments: readonly Deployment[], span: Span, now: number): Lane {
  const blocksOf = (those: readonly Deployment[]) => those.flatMap((each) => blockOf(each, now) ?? []);
  const isPartial = ({ traffic_percent }: Deployment) => traffic_percent < 100;
  const { live, canaries } = splitPromoted(blocksOf(deployments.filter((each) => !isPartial(each))));
  const isSeen = (block: Block) => overlaps(block, span);
  return {
    environment,
    live: live.filter(isSeen),
    canaries: [...canaries, ...blocksOf(deployments.filter(isPartial))].filter(isSeen),
    never: deployments.filter(({ activated_at, created_at }) => {
      const at = timeUntil(created_at, now);
      return activated_at === null && overlaps({ from: at, to: at }, span);
    }),
  };
}

/**
 * The deployments that served each environment over time, from deployments in any order. Environments with nothing in sight are left out.
 */
export function timelineOf(deployments: readonly Deployment[], span: Span, now: number): Lane[] {
  const environments = [...new Set(deployments.map(({ environment }) => environment))].sort(inEnvironmentOrder);
  return environments
    .map((environment) =>
      laneOf(
        environment,
        deployments.filter((each) => each.environment === environment),
        span,
        now,
      ),
    )
    .filter(({ live, canaries, never }) => live.length + canaries.length + never.length > 0);
}

/** The position of a block, in percent of the span's width. */
export function placeOf(
  from: number,
  to: number,
  { start, end }: Span,
): { readonly left: number; readonly width: number } {
  const share = (at: number) => (Math.min(Math.max(at, start), end) - start) / (end - start);
  const left = share(from) * 100;
  return { left, width: share(to) * 100 - left };
}

/** In percent of the lane. A shorter block has no room for a label, least of all on a phone. */
const labelWidth = 30;

/** A canary under way needs a decision, so while its block is short its label stands below it. */
export const hasLabelBelow = ({ isOpen, from, to }: Block, span: Span): boolean =>
  isOpen && placeOf(from, to, span).width < labelWidth;

/** The word for the deployment's state. */
export function wordOf(deployment: Deployment): string {
  if (isCanary(deployment)) return `canary ${deployment.traffic_percent} %`;
  return deployment.status === "active" ? "live" : deployment.status.replace("_", " ");
}
