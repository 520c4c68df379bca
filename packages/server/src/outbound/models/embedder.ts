import { PermanentModelError } from "./model.ts";

export interface Embedder {
  readonly dimensions: number;
  /** One unit vector for each text, in order. Throws `TransientModelError` or `PermanentModelError`, as models do. */
  readonly embed: (texts: readonly string[], signal: AbortSignal) => Promise<readonly (readonly number[])[]>;
}

/** The embedder settings of an agent's definition. */
export interface EmbedderRef {
  /** `provider/model` */
  readonly model: string;
  readonly dimensions: number;
}

/** Normalises to unit length: some models truncate their vectors without doing so. `subject` names the model in errors. */
export function toUnitVector(vector: ArrayLike<number>, dimensions: number, subject: string): readonly number[] {
  if (vector.length !== dimensions)
    throw new PermanentModelError(
      `${subject} makes vectors of ${vector.length} dimensions, and the agent's memory.embedder.dimensions is ${dimensions}.`,
    );
  const values = Array.from(vector);
  // Scaled by the largest first, so that squares neither overflow nor underflow.
  const largest = values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  if (!Number.isFinite(largest) || largest === 0)
    throw new PermanentModelError(`${subject} made a vector that says nothing: all zeros, or not numbers.`);
  const scaled = values.map((value) => value / largest);
  const length = Math.sqrt(scaled.reduce((sum, value) => sum + value * value, 0));
  return scaled.map((value) => value / length);
}
