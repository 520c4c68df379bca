import { useEffect, useId } from "react";

const unsaved = new Set<string>();

/** Whether the page has unsaved work that leaving would lose. */
export const hasUnsaved = (): boolean => unsaved.size > 0;

/** The user has already confirmed leaving, so the browser does not ask again. */
export const discardUnsaved = (): void => unsaved.clear();

/** Marks the page as unsaved while the component is shown. */
export function useUnsaved(isUnsaved: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isUnsaved) return;
    unsaved.add(id);
    return () => void unsaved.delete(id);
  }, [id, isUnsaved]);
}
