import { createHash } from "node:crypto";

const maxCharacters = 64;
const hashCharacters = 8;

export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

const plainName = ({ server, tool }: ServerTool) => `${server}_${tool}`.replaceAll(/[^a-zA-Z0-9_-]/g, "_");

function hashedName(tool: ServerTool): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([tool.server, tool.tool]))
    .digest("hex");
  return `${plainName(tool).slice(0, maxCharacters - hashCharacters - 1)}_${hash.slice(0, hashCharacters)}`;
}

/**
 * What the model calls each tool, in their order. A name that is too long, taken, or wanted twice ends in a hash of what
 * it stands for, so that it is the same in every run whatever the order of tools.
 */
export function namesForModel(tools: readonly ServerTool[], taken: readonly string[]): string[] {
  const wanted = Map.groupBy([...taken, ...tools.map(plainName)], (name) => name);
  return tools.map((tool) => {
    const name = plainName(tool);
    return name.length <= maxCharacters && wanted.get(name)?.length === 1 ? name : hashedName(tool);
  });
}
