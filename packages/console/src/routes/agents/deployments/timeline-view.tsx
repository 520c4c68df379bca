import { classNames } from "../../../parts/class-names.ts";
import { LaneView } from "./lane-view.tsx";
import { timeTicks } from "./time-ticks.ts";
import { type Lane, placeOf, type Span } from "./timeline.ts";

const dayMs = 86_400_000;
const ofDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const ofMonth = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

/** Round times under the lanes; on a phone every second one. A label that would cross the edge is left out. */
const Axis = ({ span }: { readonly span: Span }) => {
  const format = span.end - span.start > 2 * dayMs ? ofMonth : ofDay;
  return (
    <div aria-hidden="true" className="relative h-5 text-muted text-small sm:ml-[112px]">
      {timeTicks(span).map((at, index) => {
        const { left } = placeOf(at, at, span);
        return (
          <span
            key={at}
            style={{ left: `${left}%` }}
            className={classNames(
              "absolute top-0 border-line border-l pt-0.5 pl-1 whitespace-nowrap",
              (index % 2 === 1 || left > 84) && "max-sm:hidden",
            )}
          >
            {left < 96 && format.format(at)}
          </span>
        );
      })}
    </div>
  );
};

interface TimelineViewProps {
  readonly agent: string;
  readonly lanes: readonly Lane[];
  readonly span: Span;
  /** Ids of the deployments that are compared. */
  readonly compared: readonly string[];
}

/** A lane for each environment, all of them over the same time. The table of the page shows the same in words. */
export const TimelineView = ({ lanes, ...rest }: TimelineViewProps) => (
  <div className="px-4">
    {lanes.map((lane) => (
      <LaneView key={lane.environment} lane={lane} {...rest} />
    ))}
    <Axis span={rest.span} />
  </div>
);
