import { type Context, contextOf, type Request } from "./run-context.ts";

function bodyOf(run: Request): { message: string; context?: Context } {
  const context = contextOf(run);
  return { message: run.message, ...(Object.keys(context).length > 0 && { context }) };
}

/** JSON with invisible characters as escapes: pasted code must be what it looks like. */
const toLiteral = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(/[\p{Cf}\u007F-\u009F\u2028\u2029]/gu, (character) =>
    character.length > 1 ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** In single quotes only the quote itself has a meaning to a shell. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function toCurl(origin: string, agent: string, run: Request): string {
  const url = `${origin}/v1/agents/${encodeURIComponent(agent)}/invoke`;
  return [
    `curl -X POST ${shellQuoted(url)}`,
    '-H "Authorization: Bearer $PERCH_API_KEY"',
    '-H "Content-Type: application/json"',
    `--data-raw ${shellQuoted(toLiteral(bodyOf(run)))}`,
  ].join(" \\\n  ");
}

export const toTypeScript = (origin: string, agent: string, run: Request): string =>
  `import { Perch } from "@perch/sdk";

const perch = new Perch({ baseUrl: ${toLiteral(origin)}, apiKey: process.env.PERCH_API_KEY });
const { response } = await perch.agents.invoke(${toLiteral(agent)}, ${toLiteral(bodyOf(run), 2)});
console.log(response);
`;

/** Strings, and objects of strings, are the same in Python as in JSON. */
export function toPython(origin: string, agent: string, run: Request): string {
  const { message, context } = bodyOf(run);
  const lines = [toLiteral(agent), `message=${toLiteral(message)}`];
  if (context) lines.push(`context=${toLiteral(context)}`);
  return `import os

from perch_sdk import Perch

perch = Perch(os.environ["PERCH_API_KEY"], base_url=${toLiteral(origin)})
result = perch.agents.invoke(
${lines.map((line) => `    ${line},\n`).join("")})
print(result.response)
`;
}
