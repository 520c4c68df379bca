import { availableParallelism, loadavg } from "node:os";
import type { Walk } from "./walk.ts";

const maxCommands = 8;
const maxSeconds = 180;
const maxSilentSeconds = 2;

/** How many times slower than an idle machine this one may be. 1 as long as every process has a core. */
export const loadFactor = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/** The walk as a table, with its real figures. */
export function walkTable({ steps, seconds }: Walk, factor: number): string {
  const width = Math.max(...steps.map(({ command }) => command.length));
  const rows = steps.map(
    ({ command, seconds: took, silentSeconds }) =>
      `${command.padEnd(width)}  ${took.toFixed(2).padStart(7)} s  ${silentSeconds.toFixed(2).padStart(7)} s`,
  );
  const load = `load: ${factor.toFixed(1)} processes for each core, so limits count as many times`;
  return [
    `${"command".padEnd(width)}       took     silent`,
    ...rows,
    `${steps.length} commands, ${seconds} s; ${load}`,
  ].join("\n");
}

/** What the walk does not keep to, in words; none if it is as promised. */
export function listBroken({ steps, seconds }: Walk, factor: number): string[] {
  return [
    ...(steps.length > maxCommands ? [`${steps.length} commands instead of ${maxCommands}`] : []),
    ...(seconds > maxSeconds * factor ? [`${seconds} s instead of ${maxSeconds} s`] : []),
    ...steps
      .filter(({ silentSeconds }) => silentSeconds > maxSilentSeconds * factor)
      .map(({ command, silentSeconds }) => `${command} was silent for ${silentSeconds} s`),
  ];
}
