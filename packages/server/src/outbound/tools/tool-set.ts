import { createHash } from "node:crypto";
import type { McpTarget, RunTool } from "./tool.ts";
import type { ToolApproval } from "./tool-approval.ts";
import { PermanentToolError } from "./tool-errors.ts";

const maxTools = 128;
const maxDefinitionBytes = 512 * 1024;

/** A tool of an MCP server before it has the name that the model will know. */
export interface ListedTool {
  readonly server: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly target: McpTarget;
  readonly approval?: ToolApproval;
}

/** Applied to each server while its tools are listed, and to all servers together. */
export function assertWithinLimits(listed: readonly ListedTool[], server: string): void {
  if (listed.length > maxTools)
    throw new PermanentToolError(`With the MCP server ${server} there are more than ${maxTools} tools.`);
  const bytes = Buffer.byteLength(JSON.stringify(listed));
  if (bytes > maxDefinitionBytes)
    throw new PermanentToolError(
      `With the MCP server ${server} the definitions of tools are larger than ${maxDefinitionBytes / 1024} KiB.`,
    );
}

const maxNameCharacters = 64;
const hashCharacters = 8;

interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

const plainName = ({ server, tool }: ServerTool) => `${server}_${tool}`.replaceAll(/[^a-zA-Z0-9_-]/g, "_");

function hashedName(tool: ServerTool): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([tool.server, tool.tool]))
    .digest("hex");
  return `${plainName(tool).slice(0, maxNameCharacters - hashCharacters - 1)}_${hash.slice(0, hashCharacters)}`;
}

/**
 * The model's name for each tool, in their order. A name that is too long, taken, or wanted twice ends in a hash of the
 * tool, so that it is the same in every run whatever the order of tools.
 */
export function namesForModel(tools: readonly ServerTool[], taken: readonly string[]): string[] {
  const wanted = Map.groupBy([...taken, ...tools.map(plainName)], (name) => name);
  return tools.map((tool) => {
    const name = plainName(tool);
    return name.length <= maxNameCharacters && wanted.get(name)?.length === 1 ? name : hashedName(tool);
  });
}

export function nameTools(listed: readonly ListedTool[], taken: readonly string[]): RunTool[] {
  const names = namesForModel(
    listed.map(({ server, target: { tool } }) => ({ server, tool })),
    taken,
  );
  const seen = new Set(taken);
  return listed.map(({ server, description, parameters, target, approval }, index) => {
    const name = names[index] ?? "";
    // Only a deliberate hash collision gets here; one tool must not impersonate another.
    if (seen.has(name)) throw new PermanentToolError(`Two tools of the MCP server ${server} would be called ${name}.`);
    seen.add(name);
    return { definition: { name, description, parameters }, target, ...(approval && { approval }) };
  });
}
