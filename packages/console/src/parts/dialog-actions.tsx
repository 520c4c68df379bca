import type { ReactNode } from "react";

/** The buttons at the end of a dialog, with the action last. */
export const DialogActions = ({ children }: { readonly children: ReactNode }) => (
  <div className="flex flex-wrap justify-end gap-2">{children}</div>
);
