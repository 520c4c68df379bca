import type { CallToolResult } from "@ai-sdk/mcp";

type Part = Readonly<Record<string, unknown>> & { readonly type: string };

const bytesIn = (base64: unknown) => `${typeof base64 === "string" ? Buffer.byteLength(base64, "base64") : 0} bytes`;
const words = (...parts: readonly unknown[]) => parts.filter((part) => typeof part === "string" && part).join(" ");

function resourceInWords(resource: unknown): string {
  if (typeof resource !== "object" || resource === null) return "[resource]";
  const { uri, mimeType, text, blob } = resource as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return `[${words("resource", uri)}]\n${text}`;
  return `[${words("resource", uri, mimeType)}, ${bytesIn(blob)}]`;
}

/** Models are given text: what is not text is described. */
function partInWords(part: Part): string {
  const { type, text, mimeType, data, resource, uri, name, description } = part;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource") return resourceInWords(resource);
  if (type === "resource_link") return `[${words("resource", uri, name, description)}]`;
  if (data !== undefined) return `[${words(type, mimeType)}, ${bytesIn(data)}]`;
  return `[${type}]`;
}

const hasText = ({ type, text, resource }: Part) =>
  (type === "text" && text !== "") || (typeof resource === "object" && resource !== null && "text" in resource);

/** All of a result as one text, not yet cut. */
export function resultInWords(result: CallToolResult): string {
  if (!("content" in result) || !Array.isArray(result.content))
    return JSON.stringify("toolResult" in result ? result.toolResult : result);
  const parts: readonly Part[] = result.content;
  const structured = parts.some(hasText) ? undefined : result.structuredContent;
  return [...parts.map(partInWords), ...(structured === undefined ? [] : [JSON.stringify(structured)])].join("\n");
}
