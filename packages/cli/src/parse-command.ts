import { parseArgs } from "node:util";
import { type Command, type OptionSpecs, sharedOptions } from "./command.ts";
import { didYouMean } from "./nearest.ts";
import { perchCommand } from "./perch-command.ts";
import { UsageError } from "./problem.ts";

/** A command to run, or help about everything, about the commands that begin with a word, or about one command. */
export type Parsed =
  | {
      readonly kind: "command";
      readonly command: Command;
      readonly args: Readonly<Record<string, unknown>>;
      readonly options: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "overview" }
  | { readonly kind: "topic"; readonly topic: string }
  | { readonly kind: "help"; readonly command: Command };

const isRequired = (spec: string): boolean => !spec.endsWith("?") && !spec.endsWith("...");
const firstWordsOf = (commands: readonly Command[]): string[] => [
  ...new Set(commands.map(({ name }) => name.split(" ")[0] ?? "")),
];

interface Found {
  readonly command: Command;
  readonly rest: readonly string[];
  /** The words are `runs bot`, which is short for `runs list bot`. */
  readonly isShort: boolean;
}

/** The command with the longest name that the words begin with, and the words after it. */
function findCommand(commands: readonly Command[], words: readonly string[]): Found | undefined {
  const [command] = commands
    .filter(({ name }) => name.split(" ").every((word, index) => words[index] === word))
    .sort((a, b) => b.name.length - a.name.length);
  if (command) return { command, rest: words.slice(command.name.split(" ").length), isShort: false };
  const list = commands.find(({ name }) => name === `${words[0]} list`);
  return list && { command: list, rest: words.slice(1), isShort: true };
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): UsageError {
  const [topic = "", word] = words;
  const ofTopic = commands.map(({ name }) => name.split(" ")).filter(([first, second]) => first === topic && second);
  if (ofTopic.length === 0 || word === undefined)
    return new UsageError(
      `There is no command "perch ${topic}".${didYouMean(topic, [...firstWordsOf(commands), "help"], perchCommand)}`,
    );
  const known = ofTopic.map(([, second = ""]) => second);
  const suggestion = didYouMean(word, known, (second) => perchCommand(`${topic} ${second}`));
  return new UsageError(`There is no command "perch ${topic} ${word}".${suggestion}`);
}

function tooManyWords(commands: readonly Command[], { command, rest, isShort }: Found, at: number): UsageError {
  if (command.extraArgument !== undefined) return new UsageError(command.extraArgument);
  const [topic = ""] = command.name.split(" ");
  const unknown = unknownCommand(commands, [topic, rest[0] ?? ""]);
  // `runs cancle bot` is a misspelt command, not a list of too many agents.
  if (isShort && (at === 0 || unknown.message.includes("Did you mean"))) return unknown;
  return new UsageError(`perch ${command.name}: "${rest[at]}" is one word too many.`);
}

function readArguments(commands: readonly Command[], found: Found): Record<string, unknown> {
  const { command, rest: words } = found;
  const values: Record<string, unknown> = {};
  let at = 0;
  for (const spec of command.args) {
    if (spec.endsWith("...")) {
      values[spec.slice(0, -3)] = words.slice(at);
      at = words.length;
      continue;
    }
    const word = words[at];
    if (word === undefined && isRequired(spec)) throw new UsageError(`perch ${command.name}: <${spec}> is missing.`);
    values[isRequired(spec) ? spec : spec.slice(0, -1)] = word;
    at++;
  }
  if (at < words.length) throw tooManyWords(commands, found, at);
  return values;
}

/** The choice that a value stands for: `rolled_back`, as the API writes it, is `rolled-back` here. */
function choiceOf(value: string, choices: readonly string[]): string | undefined {
  const plain = (text: string) => text.replaceAll("_", "-");
  return choices.find((choice) => choice === value) ?? choices.find((choice) => plain(choice) === plain(value));
}

function readChoices(name: string, specs: OptionSpecs, values: Readonly<Record<string, unknown>>) {
  const read = { ...values };
  for (const [option, { choices }] of Object.entries(specs)) {
    const given = values[option];
    if (!choices || given === undefined) continue;
    const chosen = [given].flat().map((value) => {
      const choice = choiceOf(String(value), choices);
      if (choice !== undefined) return choice;
      const suggestion = didYouMean(String(value), choices);
      throw new UsageError(`perch ${name}: --${option} is one of ${choices.join(", ")}.${suggestion}`);
    });
    read[option] = Array.isArray(given) ? chosen : chosen[0];
  }
  return read;
}

const asParseOptions = (specs: OptionSpecs) =>
  Object.fromEntries(
    Object.entries(specs).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short && { short }), ...(multiple && { multiple }) },
    ]),
  );

function parseOptions(argv: readonly string[], specs: OptionSpecs) {
  try {
    return parseArgs({ args: [...argv], options: asParseOptions(specs), allowPositionals: true });
  } catch (error) {
    if (!(error instanceof TypeError && "code" in error)) throw error;
    const unknown = /^Unknown option '--([^']+)'/.exec(error.message)?.[1];
    const suggestion = unknown === undefined ? "" : didYouMean(unknown, Object.keys(specs), (name) => `--${name}`);
    throw new UsageError(`${error.message.split(". To specify")[0]?.replace(/\.?$/, ".")}${suggestion}`);
  }
}

function helpFor(commands: readonly Command[], words: readonly string[]): Parsed {
  const [topic] = words;
  if (topic === undefined) return { kind: "overview" };
  const found = findCommand(commands, words);
  if (found && !(found.isShort && words.length === 1)) {
    if (found.isShort && words.length > 1 && found.command.args.length === 0) throw unknownCommand(commands, words);
    return { kind: "help", command: found.command };
  }
  if (!firstWordsOf(commands).includes(topic)) throw unknownCommand(commands, words);
  return { kind: "topic", topic };
}

const wordsOf = (argv: readonly string[]) =>
  // Which options are allowed depends on the command, so the words are parsed first, ignoring unknown options.
  parseArgs({
    args: [...argv],
    options: asParseOptions(sharedOptions),
    allowPositionals: true,
    strict: false,
  });

/**
 * The commands that `perch help` explains for a wrong command line: its command, or all that begin with its first word.
 */
export function helpTopicOf(commands: readonly Command[], argv: readonly string[]): string | undefined {
  const { positionals: words } = wordsOf(argv);
  const found = findCommand(commands, words);
  if (found && !found.isShort) return found.command.name;
  const [topic = ""] = words;
  return firstWordsOf(commands).includes(topic) ? topic : undefined;
}

/** Options may stand before, between and after the words. */
export function parseCommand(commands: readonly Command[], argv: readonly string[]): Parsed {
  const { positionals: words, values: early } = wordsOf(argv);
  if (words[0] === "help") return helpFor(commands, words.slice(1));
  const command = findCommand(commands, words)?.command;
  if (!command && words.length > 0 && early.help !== true && !firstWordsOf(commands).includes(words[0] ?? ""))
    throw unknownCommand(commands, words);
  const specs: OptionSpecs = { ...command?.options, ...sharedOptions };
  const { values, positionals } = parseOptions(argv, specs);
  const found = command && findCommand(commands, positionals);
  if (!found || values.help === true) return helpFor(commands, positionals);
  const { isShort, rest, command: chosen } = found;
  // Only `perch memory`, because a list of memories would need an agent.
  if (isShort && rest.length === 0 && chosen.args.some(isRequired)) return helpFor(commands, positionals);
  const options = readChoices(chosen.name, specs, values);
  return { kind: "command", command: chosen, args: readArguments(commands, found), options };
}
