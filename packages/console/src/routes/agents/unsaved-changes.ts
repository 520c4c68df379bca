import { createContext, useContext, useEffect } from "react";

/** Whether the definition has changes that are not saved: they are typed on one page, and actions above all pages leave them out. */
interface UnsavedChanges {
  readonly hasUnsaved: boolean;
  readonly setHasUnsaved: (hasUnsaved: boolean) => void;
}

export const UnsavedChangesContext = createContext<UnsavedChanges>({
  hasUnsaved: false,
  setHasUnsaved: () => undefined,
});

export const useHasUnsaved = (): boolean => useContext(UnsavedChangesContext).hasUnsaved;

/** Says so for as long as the component is shown. */
export function useSayUnsaved(isDirty: boolean): void {
  const { setHasUnsaved } = useContext(UnsavedChangesContext);
  useEffect(() => {
    setHasUnsaved(isDirty);
    return () => setHasUnsaved(false);
  }, [isDirty, setHasUnsaved]);
}
