import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as sdk from "../../packages/sdk/src/index.ts";
import type { Surface } from "./surface.ts";

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const namesIn = (names: readonly string[]): string[] => names.map(snakeCase).toSorted();

type Class = new (...args: never[]) => object;
const isClass = (value: unknown): value is Class =>
  typeof value === "function" && Function.prototype.toString.call(value).startsWith("class ");

/** Methods and accessors, including inherited ones and those in fields. */
function membersOf(prototype: object, instance: object = {}): string[] {
  const kept = Object.entries(instance).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor" && name !== "then");
  const above = Object.getPrototypeOf(prototype) as object;
  return [...new Set([...kept, ...own, ...(above === Object.prototype ? [] : membersOf(above))])];
}

/** Types leave no trace at run time, so the names of the options come from the source. */
function optionNames(): string[] {
  const source = readFileSync(join(import.meta.dirname, "../../packages/sdk/src/options.ts"), "utf8");
  const [, body = ""] = /export interface PerchOptions \{\n([\s\S]*?)\n\}/.exec(source) ?? [];
  return [...body.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name = ""]) => name);
}

/** The name is the class's. */
const fieldsOf = (error: object): string[] => Object.keys(error).filter((field) => field !== "name");

const errorClasses = Object.entries(sdk).flatMap(([name, value]) =>
  isClass(value) && value.prototype instanceof Error ? [{ name, value }] : [],
);
/** Constructors create the fields, so an error of each class is needed. */
function createErrorOf(type: Class): object {
  if (type === sdk.DeploymentFailedError) return new sdk.DeploymentFailedError({ error: "" } as sdk.Deployment, {});
  if (type === sdk.RequestVerificationError) return new sdk.RequestVerificationError("expired", "");
  return new type({ code: "", message: "" } as never);
}

/** Reflects on the client: no request is made. */
export function typescriptSurface(): Surface {
  const perch = new sdk.Perch({ baseUrl: "https://perch.example" });
  const namespaces = Object.entries(perch).map(
    ([name, value]) => [snakeCase(name), namesIn(membersOf(Object.getPrototypeOf(value), value))] as const,
  );
  const parentOf = (type: Class): string => {
    const { name } = Object.getPrototypeOf(type) as { name: string };
    return name === "Error" ? "Exception" : name;
  };
  return {
    client: {
      options: namesIn(optionNames()),
      methods: namesIn(membersOf(sdk.Perch.prototype)),
      namespaces: Object.fromEntries(namespaces),
    },
    errors: Object.fromEntries(
      errorClasses.map(({ name, value }) => [
        name,
        { parent: parentOf(value), fields: namesIn(fieldsOf(createErrorOf(value))) },
      ]),
    ),
    classes: {
      PageList: namesIn(membersOf(sdk.PageList.prototype)),
      RunStream: namesIn(membersOf(sdk.RunStream.prototype)),
    },
    functions: namesIn(
      Object.entries(sdk).flatMap(([name, value]) => (typeof value === "function" && !isClass(value) ? [name] : [])),
    ),
  };
}
