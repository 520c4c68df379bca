import { isServiceLink, otherVariables } from "./other-variables.ts";

/** How many letters to insert, delete or replace to make one word of the other. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...to].entries())
      current.push(
        Math.min(
          (previous[column] ?? 0) + (letter === other ? 0 : 1),
          (previous[column + 1] ?? 0) + 1,
          (current[column] ?? 0) + 1,
        ),
      );
    previous = current;
  }
  return previous.at(-1) ?? 0;
}

const maxDistance = 3;

function nearest(variable: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((name) => ({ name, distance: editDistance(variable, name) }))
    .sort((one, other) => one.distance - other.distance);
  return best && best.distance <= maxDistance ? best.name : undefined;
}

/** One line for each variable with our prefix that nothing reads. A misspelt setting would be silently ignored otherwise. */
export function unknownVariables(given: Readonly<Record<string, string>>, known: readonly string[]): string[] {
  const names = new Set(known);
  return Object.entries(given)
    .filter(([name]) => name.startsWith("PERCH_") && !names.has(name) && !otherVariables.has(name))
    .filter(([name, value]) => !isServiceLink(name, value))
    .map(([name]) => {
      const meant = nearest(name, known);
      return `${name} is not a setting.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
    });
}
