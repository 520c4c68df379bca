/** How the definition is shown. The form if absent. */
export interface DefinitionSearch {
  readonly view?: "yaml" | "changes" | undefined;
}

export const parseDefinitionSearch = ({ view }: Record<string, unknown>): DefinitionSearch => ({
  view: view === "yaml" || view === "changes" ? view : undefined,
});
