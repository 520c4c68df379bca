/** How a form without scripts asks for an answer. */
export type AnswerField =
  | { readonly type: "text" }
  | { readonly type: "number" }
  | { readonly type: "choice"; readonly values: readonly Scalar[] };

type Scalar = string | number | boolean;

const isScalar = (value: unknown): value is Scalar => ["string", "number", "boolean"].includes(typeof value);

const maxChoices = 100;

/** The field for an answer of this JSON Schema; undefined if one field is not enough, and only the API can answer. */
export function answerFieldOf(schema: object): AnswerField | undefined {
  const { type, enum: values } = schema as { readonly type?: unknown; readonly enum?: unknown };
  if (values !== undefined) {
    const fits = Array.isArray(values) && values.length > 0 && values.length <= maxChoices && values.every(isScalar);
    return fits ? { type: "choice", values } : undefined;
  }
  if (type === "boolean") return { type: "choice", values: [true, false] };
  if (type === "string") return { type: "text" };
  return type === "number" || type === "integer" ? { type: "number" } : undefined;
}

const numberPattern = /^-?\d{1,15}(\.\d{1,15})?$/;

/** The entered text as a value; undefined if the field does not allow it. A choice is named by its position. */
export function parseAnswer(field: AnswerField, text: string): Scalar | undefined {
  if (field.type === "text") return text;
  if (field.type === "number") return numberPattern.test(text.trim()) ? Number(text) : undefined;
  return /^\d{1,3}$/.test(text) ? field.values[Number(text)] : undefined;
}
