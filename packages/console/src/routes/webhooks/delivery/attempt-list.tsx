import type { DeliveryAttempt } from "@perch/sdk";
import { useContext } from "react";
import { Ago } from "../../../parts/ago.tsx";
import { formatDuration } from "../../../parts/duration.ts";
import { HeadingLevel } from "../../../parts/heading-level.ts";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";

const Attempt = ({ attempt }: { readonly attempt: DeliveryAttempt }) => (
  <li className="flex flex-col gap-1 border-line border-b py-2">
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
      <span className="font-medium">Attempt {attempt.number}</span>
      <StatusMark
        status={attempt.error === null ? "completed" : "failed"}
        word={attempt.status_code === null ? "no answer" : String(attempt.status_code)}
      />
      <span className="font-mono text-small">{formatDuration(attempt.duration_ms)}</span>
      <span className="ml-auto text-muted">
        <Ago at={attempt.attempted_at} />
      </span>
    </p>
    {attempt.error !== null && <OutsideText block text={attempt.error} className="text-danger text-table" />}
    {attempt.response !== null && attempt.response !== "" && (
      <fieldset
        aria-label={`Start of the answer to attempt ${attempt.number}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
        tabIndex={0}
        className="max-h-32 overflow-auto rounded border border-line bg-sunken px-3 py-1.5"
      >
        <OutsideText block text={attempt.response} className="font-mono text-small" />
      </fieldset>
    )}
  </li>
);

/** Every attempt, the last first: its time, its duration, the receiver's answer, and the reason of a failure. */
export function AttemptList({ attempts }: { readonly attempts: readonly DeliveryAttempt[] }) {
  const Heading = `h${useContext(HeadingLevel)}` as const;
  return (
    <section className="flex flex-col">
      <Heading className="text-table">Attempts</Heading>
      {attempts.length === 0 ? (
        <p className="py-2 text-muted text-table">None yet.</p>
      ) : (
        <ol>
          {attempts
            .toSorted((a, b) => b.number - a.number)
            .map((attempt) => (
              <Attempt key={attempt.number} attempt={attempt} />
            ))}
        </ol>
      )}
    </section>
  );
}
