import { type Command, command, sharedOptions } from "../command.ts";
import { didYouMean } from "../nearest.ts";
import { UsageError } from "../problem.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** Every word that may follow `perch a b`, by `a b`. */
export function completionsOf(commands: readonly Command[]): Map<string, string[]> {
  const after = new Map<string, Set<string>>();
  const add = (before: string, word: string) => after.set(before, (after.get(before) ?? new Set()).add(word));
  for (const { name, options } of commands) {
    const words = name.split(" ");
    for (const [index, word] of words.entries()) add(words.slice(0, index).join(" "), word);
    // `perch agents` is short for `perch agents list`.
    for (const before of [name, ...(words[1] === "list" ? [words[0] ?? ""] : [])])
      for (const option of Object.keys({ ...options, ...sharedOptions })) add(before, `--${option}`);
  }
  return new Map([...after].map(([before, words]) => [before, [...words].sort()]));
}

const cases = (commands: readonly Command[], indent: string): string =>
  [...completionsOf(commands)]
    .filter(([before]) => before !== "")
    .map(([before, words]) => `${indent}"${before}") words="${words.join(" ")}" ;;`)
    .join("\n");

/** The words before the cursor that are not options; at most two of them name a command. */
const bash = (commands: readonly Command[]): string => `_perch() {
  local at="\${COMP_WORDS[COMP_CWORD]}" first="" second="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) if [ -z "$first" ]; then first="$word"; elif [ -z "$second" ]; then second="$word"; fi ;;
    esac
  done
  words="${completionsOf(commands).get("")?.join(" ")}"
  case "$first" in
    "") ;;
    *) words="" ;;
  esac
  case "$first" in
${cases(commands, "    ")}
  esac
  case "$first \${second}" in
${cases(commands, "    ")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$at"))
}
complete -o default -F _perch perch`;

const zsh = (commands: readonly Command[]): string => `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;

function fish(commands: readonly Command[]): string {
  const line = (condition: string, rest: string) => `complete -c perch -n '${condition}' ${rest}`;
  const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
  return commands
    .flatMap(({ name, summary, options }) => {
      const [first = "", second] = name.split(" ");
      const seen = second ? `__fish_seen_subcommand_from ${first}` : "__fish_use_subcommand";
      const own = `__fish_seen_subcommand_from ${second ?? first}`;
      return [
        line(seen, `-f -a ${second ?? first} -d ${quoted(summary)}`),
        ...Object.entries(options).map(([option, { help }]) => line(own, `-l ${option} -d ${quoted(help)}`)),
      ];
    })
    .join("\n");
}

/** Takes the commands as a function, because it is one of them itself. */
export const completion = (commands: () => readonly Command[]): Command =>
  command({
    name: "completion",
    summary: "Print a completion script for your shell.",
    details:
      'bash and zsh: `eval "$(perch completion bash)"` in your .bashrc or .zshrc. fish: `perch completion fish | source`',
    args: ["shell"],
    run: async ({ terminal, show }, { shell }) => {
      const scripts = { bash, zsh, fish };
      const script = scripts[shell as keyof typeof scripts]?.(commands());
      if (script === undefined)
        throw new UsageError(
          `perch completion: shell must be one of ${shells.join(", ")}.${didYouMean(shell, shells)}`,
        );
      show({ shell, script }, () => terminal.line(script));
    },
  });
