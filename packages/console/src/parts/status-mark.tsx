import { classNames } from "./class-names.ts";
import { Icon, type IconName } from "./icon.tsx";

/** Each state has a hue and a shape, because some users do not see the hue. */
const marks = {
  running: { colour: "text-accent", icon: undefined },
  completed: { colour: "text-muted", icon: "check" },
  active: { colour: "text-accent", icon: "check" },
  failed: { colour: "text-danger", icon: "cross" },
  waiting: { colour: "text-warning", icon: "pause" },
  paused: { colour: "text-warning", icon: "pause" },
  pending: { colour: "text-warning", icon: "clock" },
  retried: { colour: "text-warning", icon: "clock" },
  interrupted: { colour: "text-warning", icon: "strike" },
  cancelled: { colour: "text-muted", icon: "strike" },
  superseded: { colour: "text-muted", icon: "strike" },
  rolled_back: { colour: "text-muted", icon: "left" },
  canary: { colour: "text-canary", icon: "split" },
} as const satisfies Record<string, { readonly colour: string; readonly icon: IconName | undefined }>;
export type MarkedStatus = keyof typeof marks;

interface StatusMarkProps {
  readonly status: MarkedStatus;
  /** Shows only the mark, for a column whose title explains it. Screen readers still hear the word. */
  readonly iconOnly?: boolean;
  /** The word, if it differs from the API's: an agent that is `running` is not a run under way. */
  readonly word?: string;
}

export function StatusMark({ status, iconOnly = false, word = status.replace("_", " ") }: StatusMarkProps) {
  const { colour, icon } = marks[status];
  return (
    <span
      className={classNames("inline-flex min-h-5 items-center gap-1.5 align-middle", colour)}
      title={iconOnly ? word : undefined}
    >
      {icon ? (
        <Icon name={icon} className="size-3.5" />
      ) : (
        <span className="pulse mx-[3px] size-2 rounded-full bg-current" />
      )}
      <span className={iconOnly ? "sr-only" : undefined}>{word}</span>
    </span>
  );
}
