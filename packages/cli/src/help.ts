import { type Command, type CommandGroup, type OptionSpecs, sharedOptions } from "./command.ts";
import { wrapText } from "./output/wrap.ts";
import { perchCommand, withPerchCommands } from "./perch-command.ts";

/** Wider lines are hard to read; a narrower terminal gets lines that fit. */
export const maxHelpColumns = 80;
const minHelpColumns = 40;
export const helpColumns = (terminalColumns: number): number =>
  Math.max(minHelpColumns, Math.min(maxHelpColumns, terminalColumns));

const indent = "  ";
/** A longer left column would leave too little room, so the text then begins on the next line. */
const maxLeft = 28;

type Row = readonly [left: string, right: string];

function columns(rows: readonly Row[], width: number): string {
  const fitting = rows.map(([left]) => left.length).filter((length) => length <= maxLeft);
  const margin = Math.max(0, ...fitting) + indent.length + 2;
  return rows
    .flatMap(([left, right]) => {
      const [first = "", ...rest] = wrapText(right, width - margin).split("\n");
      const hanging = rest.map((line) => " ".repeat(margin) + line);
      return left.length <= maxLeft
        ? [`${indent}${left}`.padEnd(margin) + first, ...hanging]
        : [`${indent}${left}`, " ".repeat(margin) + first, ...hanging];
    })
    .map((line) => line.trimEnd())
    .join("\n");
}

const argument = (spec: string): string => {
  if (spec.endsWith("?")) return `[${spec.slice(0, -1)}]`;
  return spec.endsWith("...") ? `[${spec.slice(0, -3)}…]` : `<${spec}>`;
};

/** Choices are shown in the usage if there is room, else in the text. */
const optionRows = (specs: OptionSpecs): Row[] =>
  Object.entries(specs).map(([name, { type, short, value, choices, help }]) => {
    const sign = `${short ? `-${short}, ` : ""}--${name}`;
    if (type === "boolean") return [sign, help];
    if (value !== undefined || !choices) return [`${sign} ${value ?? "TEXT"}`, help];
    const isShort = `${sign} ${choices.join("|")}`.length <= maxLeft;
    return isShort
      ? [`${sign} ${choices.join("|")}`, help]
      : [`${sign} ${name.toUpperCase()}`, `${help} One of ${choices.join(", ")}.`];
  });

const isText = (part: string | false | undefined): part is string => typeof part === "string";

export function commandHelp({ name, summary, details, args, options, examples }: Command, width: number): string {
  const own = optionRows(options);
  const usage = ["Usage:", perchCommand(name), ...args.map(argument), "[options]"].join(" ");
  return [
    wrapText(summary, width),
    `\n${wrapText(usage, width)}`,
    details && `\n${wrapText(withPerchCommands(details), width)}`,
    own.length > 0 && `\nOptions:\n${columns(own, width)}`,
    `\nFor every command:\n${columns(optionRows(sharedOptions), width)}`,
    examples && `\nExamples:\n${examples.map((line) => indent + line.replace(/^perch /, perchCommand(""))).join("\n")}`,
  ]
    .filter(isText)
    .join("\n");
}

const firstWord = ({ name }: Command): string => name.split(" ")[0] ?? "";
const lastWord = ({ name }: Command): string => name.split(" ").at(-1) ?? "";

/** A command, or all that begin with the same word as one row. */
function rowsOf({ commands, subjects = {} }: CommandGroup): Row[] {
  const words = new Set(commands.map(firstWord));
  return [...words].map((word) => {
    const same = commands.filter((command) => firstWord(command) === word);
    const [only] = same;
    if (only?.name === word) return [word, only.summary];
    return [word, `${subjects[word] ?? ""}: ${same.map(lastWord).join(", ")}.`];
  });
}

const footer = (width: number): string =>
  wrapText(
    `\`${perchCommand("help <command>")}\` explains a command. Every command takes --json, --utc, --profile, --url and --key.\nExit codes: 0 success, 1 failure, 2 wrong usage, 3 a run waits for a person, 130 after ctrl-c and 143 after SIGTERM while a run was under way.`,
    width,
  );

/** All commands, by task. */
export function overview(groups: readonly CommandGroup[], width: number): string {
  const rows = groups.map(rowsOf);
  // One margin for all groups.
  const longest = Math.max(...rows.flat().map(([left]) => left.length));
  const listed = groups.map(({ title }, index) => {
    const padded = (rows[index] ?? []).map(([left, right]): Row => [left.padEnd(longest), right]);
    return `${title}:\n${columns(padded, width)}`;
  });
  return [
    "The command line of Perch, an agent hosting service.",
    `Usage: ${perchCommand("<command> [options]")}`,
    ...listed,
    footer(width),
  ].join("\n\n");
}

/** The commands that begin with one word: `perch keys`. */
export function topicHelp(commands: readonly Command[], topic: string, width: number): string {
  const rows = commands
    .filter((command) => firstWord(command) === topic)
    .map(({ name, args, summary }): Row => [[name, ...args.map(argument)].join(" "), summary]);
  const list = commands.find(({ name }) => name === `${topic} list`);
  const short = [topic, ...(list?.args ?? []).map(argument)].join(" ");
  return [
    `Usage: ${perchCommand(`${topic} <command> [options]`)}`,
    `Commands:\n${columns(rows, width)}`,
    ...(list ? [wrapText(`\`${perchCommand(short)}\` is short for \`${perchCommand(`${list.name}`)}\`.`, width)] : []),
    footer(width),
  ].join("\n\n");
}
