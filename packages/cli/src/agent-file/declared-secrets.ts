import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { Problem } from "../problem.ts";
import { isSecretName, secretNameRule } from "../set-secret.ts";
import { isObject } from "./fields.ts";

/**
 * A secret that the file names: the hosts it may be sent to, and the variable that has its value. The value is never in
 * the file.
 */
export interface DeclaredSecret {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly variable: string;
}

const isHosts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((host) => typeof host === "string");

// Upper case only, because a value in the wrong place is rarely upper case, and must not be repeated as a variable's
// name.
const isVariable = (value: unknown): value is string => typeof value === "string" && /^[A-Z_][A-Z0-9_]*$/.test(value);

const form = "Write `hosts: [api.example.com]`, and `env: NAME` if the variable is not called like the secret.";

/** The block `secrets` of an agent. No error repeats its content, which may be a value in the wrong place. */
export function readDeclaredSecrets(block: unknown, locationOf: (path: string) => string): DeclaredSecret[] {
  if (block === undefined || block === null) return [];
  if (!isObject(block)) throw new Problem(`${locationOf("secrets")}: secrets is a map from names to hosts.`, form);
  return Object.entries(block).map(([name, entry]) => {
    const refuse = (reason: string, path = `secrets.${name}`) => new Problem(`${locationOf(path)}: ${reason}`, form);
    if (!isSecretName(name)) throw refuse(`this is not a secret's name. ${secretNameRule}`);
    if (!isObject(entry) || Object.keys(entry).some((key) => key !== "hosts" && key !== "env"))
      throw refuse(`the secret ${name} has hosts, and may have env. Its value does not belong in this file.`);
    const { hosts, env: variable = name.toUpperCase() } = entry;
    if (!isHosts(hosts)) throw refuse(`the secret ${name} needs a list of hosts.`);
    if (!isVariable(variable))
      throw refuse(`env of ${name} is the name of a variable in capitals, such as ${name.toUpperCase()}.`);
    if (variable.startsWith("PERCH_"))
      throw refuse(`env of ${name} begins with PERCH_. These variables are Perch's own keys and settings.`);
    return { name, hosts, variable };
  });
}

export interface FoundValue {
  readonly value: string;
  readonly source: "environment" | ".env";
}

export type FindValue = (variable: string) => FoundValue | undefined;

/** Whether a value that was found may be sent to the hosts of its secret. */
export type AgreeToSend = (secret: DeclaredSecret, found: FoundValue, agentFile: string) => Promise<boolean>;

export interface ValueSource {
  readonly findValue: FindValue;
  /** Not given: every value that is found may be sent. */
  readonly agreeToSend?: AgreeToSend;
}

function readEnvFile(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return {};
    throw new Problem(`${file} cannot be read (${code}).`, `Correct or remove ${basename(file)}.`);
  }
}

/** Values from the environment, or else from `.env` beside the file. They are not put into the environment of this process. */
export function createFindValue(env: NodeJS.ProcessEnv, agentFile: string): FindValue {
  let stored: NodeJS.Dict<string> | undefined;
  return (variable) => {
    const value = env[variable];
    if (value) return { value, source: "environment" };
    stored ??= readEnvFile(join(dirname(agentFile), ".env"));
    const found = stored[variable];
    return found ? { value: found, source: ".env" } : undefined;
  };
}
