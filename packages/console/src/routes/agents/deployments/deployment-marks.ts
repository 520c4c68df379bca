import type { Deployment } from "@perch/sdk";
import type { ChartMark } from "../../../parts/time-chart-options.ts";
import { type Block, timelineOf } from "./timeline.ts";

const always = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };

/** Chart marks for the moments when a version began to serve requests: as a canary, and for all users, possibly by promotion. */
export const marksOf = (deployments: readonly Deployment[], now: number): ChartMark[] =>
  timelineOf(deployments, always, now).flatMap(({ live, canaries }) => {
    const markOf =
      (word: string) =>
      ({ from, deployment }: Block): ChartMark => ({ atSeconds: from / 1000, label: `${deployment.version}${word}` });
    return [...live.map(markOf("")), ...canaries.map(markOf(" canary"))];
  });
