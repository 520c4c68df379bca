import type { Deployment } from "@perch/sdk";
import { Ago, exactTime } from "../../../parts/ago.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { Icon, type IconName } from "../../../parts/icon.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { type VerdictTone, verdictOf } from "../deploy/verdict.ts";

const tones: Record<VerdictTone, { readonly icon: IconName; readonly className: string }> = {
  waiting: { icon: "clock", className: "border-warning bg-warning-soft" },
  healthy: { icon: "check", className: "border-accent bg-accent-soft" },
  failed: { icon: "left", className: "border-danger bg-danger-soft" },
  none: { icon: "split", className: "border-canary bg-canary-soft" },
};

const watchedUntil = ({ activated_at, guards }: Deployment): Date | undefined =>
  activated_at === null || !guards ? undefined : new Date(Date.parse(activated_at) + guards.window_seconds * 1000);

/** How long the guards still watch. After that the canary stays as it is. */
const Watch = ({ deployment }: { readonly deployment: Deployment }) => {
  const until = watchedUntil(deployment);
  if (!until) return null;
  return until > new Date() ? (
    <>The guards check it until {exactTime(until)}.</>
  ) : (
    <>The guards checked it until {exactTime(until)}: promote it or abort it.</>
  );
};

/** The result of the guards' last check, in a sentence. Screen readers announce it when it changes. */
export function VerdictLine({ deployment }: { readonly deployment: Deployment }) {
  const verdict = verdictOf(deployment);
  const { guard_report: report, status, ended_at } = deployment;
  const tone = verdict && tones[verdict.tone];
  return (
    <div role="status" className="empty:-mb-5">
      {verdict && tone && (
        <div className={classNames("flex gap-2 rounded border px-3 py-2 text-table", tone.className)}>
          <Icon name={tone.icon} className="mt-0.5 size-4" />
          <p className="min-w-0">
            <OutsideText text={verdict.sentence} className="font-medium" />{" "}
            <span className="text-muted">
              {status === "active" && <Watch deployment={deployment} />}{" "}
              {status === "active" && report && (
                <>
                  Last check <Ago at={report.checked_at} />.
                </>
              )}
              {status === "rolled_back" && ended_at !== null && <Ago at={ended_at} />}
            </span>
          </p>
        </div>
      )}
    </div>
  );
}
