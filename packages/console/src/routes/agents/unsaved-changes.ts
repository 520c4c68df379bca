import { createContext, useContext, useEffect } from "react";

/** Whether the definition has unsaved changes. They are made on one page, and the actions above all pages do not include them. */
interface UnsavedChanges {
  readonly hasUnsaved: boolean;
  readonly setHasUnsaved: (hasUnsaved: boolean) => void;
}

export const UnsavedChangesContext = createContext<UnsavedChanges>({
  hasUnsaved: false,
  setHasUnsaved: () => undefined,
});

export const useHasUnsaved = (): boolean => useContext(UnsavedChangesContext).hasUnsaved;

/** Marks the definition as unsaved while the component is shown. */
export function useSayUnsaved(isDirty: boolean): void {
  const { setHasUnsaved } = useContext(UnsavedChangesContext);
  useEffect(() => {
    setHasUnsaved(isDirty);
    return () => setHasUnsaved(false);
  }, [isDirty, setHasUnsaved]);
}
