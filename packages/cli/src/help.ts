import { type Command, type OptionSpecs, sharedOptions } from "./command.ts";

const indent = "  ";
const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `${indent}${left.padEnd(width)}${right}`.trimEnd()).join("\n");
};

const argument = (spec: string): string => {
  if (spec.endsWith("?")) return `[${spec.slice(0, -1)}]`;
  return spec.endsWith("...") ? `[${spec.slice(0, -3)}…]` : `<${spec}>`;
};

const optionRows = (specs: OptionSpecs): (readonly [string, string])[] =>
  Object.entries(specs).map(([name, { type, short, value, choices, help }]) => {
    const sign = `${short ? `-${short}, ` : ""}--${name}`;
    const operand = type === "string" ? ` ${value ?? choices?.join("|") ?? "TEXT"}` : "";
    return [sign + operand, help];
  });

export function commandHelp({ name, summary, details, args, options, examples }: Command): string {
  const own = optionRows(options);
  return [
    summary,
    `\nUsage: ${["perch", name, ...args.map(argument)].join(" ")} [options]`,
    details && `\n${details}`,
    own.length > 0 && `\nOptions:\n${columns(own)}`,
    `\nFor every command:\n${columns(optionRows(sharedOptions))}`,
    examples && `\nExamples:\n${examples.map((line) => `${indent}${line}`).join("\n")}`,
  ]
    .filter(Boolean)
    .join("\n");
}

/** All commands, or those under one word: `perch keys`. */
export function overview(commands: readonly Command[], topic = ""): string {
  const shown = commands.filter(({ name }) => topic === "" || name === topic || name.startsWith(`${topic} `));
  const rows = shown.map(
    ({ name, args, summary }) => [[name, ...args.map(argument)].join(" "), summary] as [string, string],
  );
  return [
    topic === "" ? "The command line interface of Perch.\n" : "",
    `Usage: perch ${topic === "" ? "<command>" : `${topic} <command>`} [options]\n`,
    "Commands:",
    columns(rows),
    `\n\`perch <command> --help\` shows details. Every command takes --json, --profile, --url and --key.`,
    "Exit codes: 0 success, 1 failure, 2 wrong usage.",
  ]
    .filter((line, index) => index > 0 || line !== "")
    .join("\n");
}
