import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** npx and npm put these folders on the PATH of their child processes; the user's own shell does not have them. */
const isOfNpm = (folder: string): boolean => /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder);

/** The command with which the user starts this program again: `perch`, or `npx perch` if a shell would not find it. */
export function programName({ npm_command, PATH = "" }: NodeJS.ProcessEnv): "perch" | "npx perch" {
  if (npm_command === "exec") return "npx perch";
  const folders = PATH.split(delimiter).filter((folder) => folder !== "" && !isOfNpm(folder));
  const names = process.platform === "win32" ? ["perch.cmd", "perch.exe"] : ["perch"];
  return folders.some((folder) => names.some((name) => isProgram(join(folder, name)))) ? "perch" : "npx perch";
}

/** A command as the user can type it: every hint that names one uses this. */
export const perchCommand = (words: string): string => `${programName(process.env)} ${words}`;

/** The same for our own texts, which have commands between backticks. */
export const withPerchCommands = (text: string): string =>
  text.replaceAll(/`perch /g, () => `\`${programName(process.env)} `);
