import type { OptionSpecs } from "./command.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { parseWhole } from "./output/duration.ts";
import { UsageError } from "./problem.ts";

/** For commands that show a page of a list. */
export const listOptions = {
  limit: { type: "string", value: "N", help: "Maximum number of items, up to 100. Default: 10." },
  offset: { type: "string", value: "N", help: "Number of items to skip." },
} as const satisfies OptionSpecs;

export const pageOf = ({ limit, offset }: { readonly limit?: string; readonly offset?: string }) =>
  omitUndefined({
    limit: limit === undefined ? undefined : parseWhole("limit", limit),
    offset: offset === undefined ? undefined : parseWhole("offset", offset),
  });

/**
 * For commands that show a page of one agent, or of all agents if none is given. Only the latter has cursors, only the
 * former offsets.
 */
export const anyAgentListOptions = {
  limit: listOptions.limit,
  offset: { type: "string", value: "N", help: "Number of items to skip. For one agent." },
  cursor: { type: "string", value: "CURSOR", help: "Where the page before ended. For all agents." },
} as const satisfies OptionSpecs;

interface AnyAgentPage {
  readonly limit?: string;
  readonly offset?: string;
  readonly cursor?: string;
}

/** `name` is the command's. */
export function pageOfAgent(name: string, { cursor, ...page }: AnyAgentPage) {
  if (cursor !== undefined)
    throw new UsageError(
      `perch ${name}: --cursor is for the list of all agents. Use --offset, or leave out the agent.`,
    );
  return pageOf(page);
}

export interface CursorPage {
  readonly limit?: number;
  readonly cursor?: string;
}

export function pageOfAllAgents(name: string, { limit, offset, cursor }: AnyAgentPage): CursorPage {
  if (offset !== undefined)
    throw new UsageError(`perch ${name}: --offset is for the list of one agent. Use --cursor, or name the agent.`);
  return cursorPageOf(omitUndefined({ limit, cursor }));
}

/**
 * For one agent, with filters that only the list of all agents has, so the agent becomes one more filter of that list.
 */
export function pageOfNarrowedAgent(name: string, narrowedBy: string, { offset, ...page }: AnyAgentPage): CursorPage {
  if (offset !== undefined)
    throw new UsageError(`perch ${name}: --offset does not go with ${narrowedBy}. Use --cursor instead.`);
  return cursorPageOf(page);
}

const cursorPageOf = ({ limit, cursor }: AnyAgentPage): CursorPage =>
  omitUndefined({ limit: limit === undefined ? undefined : parseWhole("limit", limit), cursor });

/** A value as a shell takes it. */
export const quoted = (value: string): string =>
  /^[\w./:@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;

/** A command with the options that were given, as one can type it. */
export const commandLine = (name: string, options: Readonly<Record<string, string | number | undefined>>): string =>
  [
    name,
    ...Object.entries(options).flatMap(([option, value]) =>
      value === undefined ? [] : [option, quoted(String(value))],
    ),
  ].join(" ");
