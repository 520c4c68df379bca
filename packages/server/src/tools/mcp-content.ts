import type { CallToolResult } from "@ai-sdk/mcp";

type Part = Readonly<Record<string, unknown>> & { readonly type: string };

const bytesIn = (base64: unknown) => `${typeof base64 === "string" ? Buffer.byteLength(base64, "base64") : 0} bytes`;
const joinText = (...parts: readonly unknown[]) => parts.filter((part) => typeof part === "string" && part).join(" ");

function describeResource(resource: unknown): string {
  if (typeof resource !== "object" || resource === null) return "[resource]";
  const { uri, mimeType, text, blob } = resource as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return `[${joinText("resource", uri)}]\n${text}`;
  return `[${joinText("resource", uri, mimeType)}, ${bytesIn(blob)}]`;
}

/** Models are given text: what is not text is described. */
function partToText(part: Part): string {
  const { type, text, mimeType, data, resource, uri, name, description } = part;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource") return describeResource(resource);
  if (type === "resource_link") return `[${joinText("resource", uri, name, description)}]`;
  if (data !== undefined) return `[${joinText(type, mimeType)}, ${bytesIn(data)}]`;
  return `[${type}]`;
}

const hasText = ({ type, text, resource }: Part) =>
  (type === "text" && text !== "") || (typeof resource === "object" && resource !== null && "text" in resource);

/** All of a result as one text, not yet cut. */
export function resultToText(result: CallToolResult): string {
  if (!("content" in result) || !Array.isArray(result.content))
    return JSON.stringify("toolResult" in result ? result.toolResult : result);
  const parts: readonly Part[] = result.content;
  const structured = parts.some(hasText) ? undefined : result.structuredContent;
  return [...parts.map(partToText), ...(structured === undefined ? [] : [JSON.stringify(structured)])].join("\n");
}
