import type { Deployment } from "@perch/sdk";
import type { ChartMark } from "../../../parts/time-chart-options.ts";
import { type Block, timelineOf } from "./timeline.ts";

const always = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };

/** Where a version began to serve requests, as marks of charts: as a canary, and for everybody, which can be its promotion. */
export const marksOf = (deployments: readonly Deployment[], now: number): ChartMark[] =>
  timelineOf(deployments, always, now).flatMap(({ live, canaries }) => {
    const markOf =
      (word: string) =>
      ({ from, deployment }: Block): ChartMark => ({ atSeconds: from / 1000, label: `${deployment.version}${word}` });
    return [...live.map(markOf("")), ...canaries.map(markOf(" canary"))];
  });
