import { type CommandName, commandTable, type Option } from "./command-table.ts";

/** A command was called in a wrong way: the message explains how, and the command's usage follows it. */
export class UsageError extends Error {}

const width = 80;

/** Breaks a text into lines that fit behind an indentation. */
function wrap(text: string, indent: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}

/** Two columns: names, and their meaning. */
function columns(rows: readonly (readonly [name: string, text: string])[]): string {
  const indent = Math.max(...rows.map(([name]) => name.length)) + 4;
  return rows.map(([name, text]) => `  ${name.padEnd(indent - 2)}${wrap(text, indent)}`).join("\n");
}

export const isCommand = (name: string): name is CommandName => Object.hasOwn(commandTable, name);

const optionName = (name: string, { value }: Option): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`;

const optionText = ({ text, default: fallback }: Option): string =>
  typeof fallback === "string" ? `${text} Default: ${fallback}.` : text;

/** `perch-server help`. */
export const usage = (): string => `Usage: perch-server <command> [options]

${columns(Object.entries(commandTable).map(([name, { summary }]) => [name, summary]))}

perch-server help COMMAND shows the options of a command.
perch-server --version prints the version.
Settings come from the environment: see docs/operations/configuration.md.`;

/** `perch-server help COMMAND`. */
export function commandUsage(name: CommandName): string {
  const { summary, details, options } = commandTable[name] as (typeof commandTable)[CommandName] & { details?: string };
  const rows = Object.entries<Option>(options);
  const paragraphs = [
    `Usage: perch-server ${name}${rows.length > 0 ? " [options]" : ""}`,
    wrap(summary, 0),
    ...(details === undefined ? [] : [wrap(details, 0)]),
    ...(rows.length > 0 ? [columns(rows.map(([key, option]) => [optionName(key, option), optionText(option)]))] : []),
  ];
  return paragraphs.join("\n\n");
}
