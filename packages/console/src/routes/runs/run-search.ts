/** The view of one run, as it is in the address. */
export interface RunSearch {
  /** The selected step. */
  readonly step?: string | undefined;
  /** `hide`: without the log lines between the steps. */
  readonly logs?: "hide" | undefined;
}

export const parseRunSearch = (search: Record<string, unknown>): RunSearch => ({
  step: typeof search.step === "string" ? search.step : undefined,
  logs: search.logs === "hide" ? "hide" : undefined,
});
