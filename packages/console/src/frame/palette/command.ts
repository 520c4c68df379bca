import type { IconName } from "../../parts/icon.tsx";

/** Something that the palette can do, in a group with a heading. */
export interface Command {
  readonly id: string;
  readonly group: "Go to" | "This page" | "Agents" | "Theme" | "Help";
  readonly name: string;
  readonly icon: IconName;
  /** Other words that find it. */
  readonly words?: string;
  /** The keys that do the same. */
  readonly keys?: string;
  readonly run: () => void;
}

const textOf = ({ name, words = "", group }: Command): string => `${name} ${words} ${group}`.toLowerCase();

/** Groups in the order of their first command: the arrows go through the commands as they are shown. */
export const inGroups = (commands: readonly Command[]): readonly Command[] =>
  [...Map.groupBy(commands, ({ group }) => group).values()].flat();

/** A command is found if each word that was typed is somewhere in it; those that begin with the typed text come first. */
export function findCommands(commands: readonly Command[], typed: string): readonly Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter((command) => words.every((word) => textOf(command).includes(word)));
  const rank = ({ name }: Command) => (name.toLowerCase().startsWith(words.join(" ")) ? 0 : 1);
  return words.length === 0 ? found : found.toSorted((a, b) => rank(a) - rank(b));
}
