import { parseArgs } from "node:util";
import { type Command, type OptionSpecs, sharedOptions } from "./command.ts";
import { UsageError } from "./problem.ts";

export interface Parsed {
  readonly command: Command | undefined;
  /** The words before the first option, if they do not name a command. */
  readonly topic: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly isHelp: boolean;
}

/** The command with the longest name that the words begin with, and the words after it. */
function findCommand(commands: readonly Command[], words: readonly string[]) {
  const fits = commands
    .filter(({ name }) => name.split(" ").every((word, index) => words[index] === word))
    .sort((a, b) => b.name.length - a.name.length);
  const [command] = fits;
  return { command, rest: words.slice(command ? command.name.split(" ").length : 0) };
}

function readArguments(command: Command, words: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  let at = 0;
  for (const spec of command.args) {
    if (spec.endsWith("...")) {
      values[spec.slice(0, -3)] = words.slice(at);
      at = words.length;
      continue;
    }
    const isOptional = spec.endsWith("?");
    const word = words[at];
    if (word === undefined && !isOptional) throw new UsageError(`perch ${command.name}: <${spec}> is missing.`);
    values[isOptional ? spec.slice(0, -1) : spec] = word;
    at++;
  }
  if (at < words.length)
    throw new UsageError(command.extraArgument ?? `perch ${command.name}: "${words[at]}" is one word too many.`);
  return values;
}

function checkChoices(name: string, specs: OptionSpecs, values: Readonly<Record<string, unknown>>): void {
  for (const [option, { choices }] of Object.entries(specs)) {
    const optionValues = [values[option] ?? []].flat();
    const wrong = choices && optionValues.find((value) => !choices.includes(String(value)));
    if (wrong !== undefined) throw new UsageError(`perch ${name}: --${option} is one of ${choices?.join(", ")}.`);
  }
}

const asParseOptions = (specs: OptionSpecs) =>
  Object.fromEntries(
    Object.entries(specs).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short && { short }), ...(multiple && { multiple }) },
    ]),
  );

/** Options may stand before, between and after the words. */
export function parseCommand(commands: readonly Command[], argv: readonly string[]): Parsed {
  const args = [...argv];
  // Which options are allowed depends on the command, so the words are parsed first, ignoring unknown options.
  const { positionals: words } = parseArgs({
    args,
    options: asParseOptions(sharedOptions),
    allowPositionals: true,
    strict: false,
  });
  const { command } = findCommand(commands, words);
  const specs: OptionSpecs = { ...command?.options, ...sharedOptions };
  try {
    const { values, positionals } = parseArgs({ args, options: asParseOptions(specs), allowPositionals: true });
    const isHelp = values.help === true;
    const { rest } = findCommand(command ? [command] : [], positionals);
    if (!command || isHelp) return { command, topic: positionals.join(" "), args: {}, options: values, isHelp };
    checkChoices(command.name, specs, values);
    return { command, topic: command.name, args: readArguments(command, rest), options: values, isHelp };
  } catch (error) {
    if (error instanceof TypeError && "code" in error) throw new UsageError(error.message.split(". To specify")[0]);
    throw error;
  }
}
