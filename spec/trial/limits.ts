import type { TaskReport } from "./task.ts";

const maxSeconds = 300;
/** Of our own commands: what npm, pip and a compiler do before they say something is not ours. */
const maxSilentSeconds = 2;

const isOurs = (command: string): boolean => /^perch(-server)? /.test(command);

/**
 * What took longer than it should, in words. `factor` is how many times slower than an idle machine this one may be. This is said
 * and does not fail the trial: quick start and the builder's way have limits that do.
 */
export function listSlow(reports: readonly TaskReport[], factor: number): string[] {
  const seconds = reports.reduce((total, report) => total + report.seconds, 0);
  return [
    ...(seconds > maxSeconds * factor ? [`The whole took ${seconds.toFixed(0)} s instead of ${maxSeconds} s.`] : []),
    ...reports.flatMap(({ number, commands }) =>
      commands
        .filter(({ command, silentSeconds }) => isOurs(command) && silentSeconds > maxSilentSeconds * factor)
        .map(
          ({ command, silentSeconds }) => `Task ${number}: ${command} was silent for ${silentSeconds.toFixed(1)} s.`,
        ),
    ),
  ];
}
