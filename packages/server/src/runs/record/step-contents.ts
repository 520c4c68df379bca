import type { LogSetting } from "@perch/contract";
import { storableJson, storableText } from "../../platform/storable-text.ts";

/** A longer text, or longer JSON, is cut here. */
export const maxContentLength = 32_768;
const maxFields = 32;
const maxFieldNameLength = 64;
const maxShapeDepth = 2;
/** A longer shape, of wide objects in a wide object, has only the names of the outer ones. */
const maxShapeLength = 2048;

function shapeWithin(value: unknown, levels: number): unknown {
  if (typeof value === "string") return `string(${value.length})`;
  if (value === null) return "null";
  if (Array.isArray(value)) return `array(${value.length})`;
  if (typeof value !== "object") return typeof value;
  const fields = Object.entries(value);
  if (levels === 0) return `object(${fields.length})`;
  const shapes = fields
    .slice(0, maxFields)
    .map(([name, inner]) => [storableText(name, maxFieldNameLength), shapeWithin(inner, levels - 1)] as const);
  const left = fields.length - shapes.length;
  // Defines each name, so that `__proto__` is one like any other.
  return Object.fromEntries(left > 0 ? [...shapes, ["…", `${left} more fields`]] : shapes);
}

/** Sizes and structure of a value, and none of its values: a text is its length, an object keeps the names of its fields. */
export function shapeOf(value: unknown): unknown {
  if (typeof value === "string") return { characters: value.length };
  const shape = shapeWithin(value, maxShapeDepth);
  return JSON.stringify(shape).length <= maxShapeLength ? shape : shapeWithin(value, 1);
}

const truncateText = (text: string): string =>
  text.length <= maxContentLength
    ? storableText(text)
    : `${storableText(text, maxContentLength)}… [cut: ${text.length} characters in all]`;

/** The value as it is stored: cut at `maxContentLength`, with a mark of the cut. Longer JSON becomes text. */
function wholeOf(value: unknown): unknown {
  if (typeof value === "string") return truncateText(value);
  const json = JSON.stringify(value) ?? "null";
  return json.length <= maxContentLength ? storableJson(value) : truncateText(json);
}

/** As much of a content as the agent's `logs` setting allows to be seen; undefined is nothing. */
export function contentFor(setting: LogSetting, value: unknown): unknown {
  if (setting === "off" || value === undefined) return undefined;
  return setting === "shapes" ? shapeOf(value) : wholeOf(value);
}
