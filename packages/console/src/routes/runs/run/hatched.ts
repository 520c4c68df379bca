import type { CSSProperties } from "react";

/** The pattern for time in which the run waits. */
export const hatched: CSSProperties = {
  backgroundImage: "repeating-linear-gradient(135deg, var(--warning) 0 1px, transparent 1px 5px)",
};
