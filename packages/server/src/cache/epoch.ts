/** Replaced at every change of an organisation. A value cached under another epoch, or older than `maxAgeMs`, is stale. */
export interface Epoch {
  readonly value: string;
  readonly maxAgeMs: number;
}
