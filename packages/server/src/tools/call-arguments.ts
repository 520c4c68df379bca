export type Arguments = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Arguments =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Said to the model, which can do better next time. */
export const noObject = (name: string): string =>
  `The arguments of ${name} must be a JSON object, for example {"name": "value"}. Nothing was called.`;
