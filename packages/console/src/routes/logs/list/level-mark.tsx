import type { LogLevel } from "../../../api/logs-queries.ts";
import { classNames } from "../../../parts/class-names.ts";
import { Icon, type IconName } from "../../../parts/icon.tsx";

/** Each level has a hue and a shape, because some users do not see the hue. */
const marks: Record<LogLevel, { readonly colour: string; readonly icon: IconName }> = {
  debug: { colour: "text-muted", icon: "dots" },
  info: { colour: "text-muted", icon: "info" },
  warn: { colour: "text-warning", icon: "warning" },
  error: { colour: "text-danger", icon: "cross" },
};

interface LevelMarkProps {
  readonly level: LogLevel;
  readonly iconOnly?: boolean;
}

export const LevelMark = ({ level, iconOnly = false }: LevelMarkProps) => (
  <span className={classNames("inline-flex items-center gap-1.5 align-middle", marks[level].colour)}>
    <Icon name={marks[level].icon} className="size-3.5" />
    <span className={iconOnly ? "sr-only" : undefined}>{level}</span>
  </span>
);
