import { StatusMark } from "../../parts/status-mark.tsx";
import type { ServedEnvironment } from "./live-deployments.ts";

interface LiveVersionProps extends ServedEnvironment {
  /** Left out if one environment is chosen for the whole page. */
  readonly withName?: boolean;
}

/** `production v2`, and beside it a canary with its share. */
export const LiveVersion = ({ environment, live, canary, withName = true }: LiveVersionProps) => (
  <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
    {withName && <span className="text-muted">{environment}</span>}
    {live && <code className="font-mono">{live.version}</code>}
    {canary && (
      <span className="inline-flex items-center gap-1 text-canary">
        <StatusMark status="canary" iconOnly />
        <code className="font-mono">{canary.version}</code> {canary.traffic_percent} %
      </span>
    )}
  </span>
);
