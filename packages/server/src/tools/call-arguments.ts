export type Arguments = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Arguments =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returned to the model, which can correct its next call. */
export const notAnObjectMessage = (name: string): string =>
  `The arguments of ${name} must be a JSON object, for example {"name": "value"}. Nothing was called.`;
