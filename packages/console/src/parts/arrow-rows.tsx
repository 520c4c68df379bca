import type { ReactNode } from "react";
import { moveThroughRows } from "./row-keys.ts";

/** A list whose rows the arrows move through. */
export const ArrowRows = ({ children }: { readonly children: ReactNode }) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: arrows move between the links inside.
  <div onKeyDown={moveThroughRows}>{children}</div>
);
