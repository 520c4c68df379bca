import { classNames } from "../../../parts/class-names.ts";
import { LaneView } from "./lane-view.tsx";
import type { Lane, Span } from "./timeline.ts";

const dayMs = 86_400_000;
const ofDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const ofMonth = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const parts = 6;

/** Times under the lanes; on a phone every second one. */
const Axis = ({ start, end }: Span) => {
  const format = end - start > 2 * dayMs ? ofMonth : ofDay;
  return (
    <div aria-hidden="true" className="flex text-muted text-small sm:pl-[112px]">
      {Array.from({ length: parts }, (_, index) => (
        <span
          key={index}
          className={classNames("flex-1 border-line border-l pt-0.5 pl-1", index % 2 === 1 && "max-sm:hidden")}
        >
          {format.format(start + ((end - start) * index) / parts)}
        </span>
      ))}
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

/** A lane for each environment, all of them over the same time. The table of the page says the same in words. */
export const TimelineView = ({ lanes, ...rest }: TimelineViewProps) => (
  <div className="px-4">
    {lanes.map((lane) => (
      <LaneView key={lane.environment} lane={lane} {...rest} />
    ))}
    <Axis {...rest.span} />
  </div>
);
