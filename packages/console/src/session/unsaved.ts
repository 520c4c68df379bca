import { useEffect, useId } from "react";

const unsaved = new Set<string>();

/** Whether a page holds something that somebody wrote and that would be lost with it. */
export const hasUnsaved = (): boolean => unsaved.size > 0;

/** Whoever leaves has been asked: the browser does not ask once more. */
export const discardUnsaved = (): void => unsaved.clear();

/** Says so for as long as the component is shown. */
export function useUnsaved(isUnsaved: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isUnsaved) return;
    unsaved.add(id);
    return () => void unsaved.delete(id);
  }, [id, isUnsaved]);
}
