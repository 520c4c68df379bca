import type { OperationExample } from "../../packages/contract/src/index.ts";
import { methodNames } from "../typescript-sdk/method-names.ts";
import { call, literal, python, typescript } from "./literals.ts";

export type OperationId = keyof typeof methodNames;
type Request = OperationExample["request"];

export interface SampledOperation {
  readonly operationId: OperationId;
  readonly method: string;
  readonly path: string;
  readonly request: Request;
  readonly isList: boolean;
  readonly isPublic: boolean;
}

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** Methods whose name in Python is not the TypeScript one in snake_case. */
const pythonNames: Readonly<Partial<Record<OperationId, string>>> = { getMe: "me" };
const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The parameters of the path, in its order. */
const pathValues = ({ path, request }: SampledOperation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => request.params?.[name] ?? "");

/** The statements that a reader adds to a program with a client `perch`. */
export function typescriptStatements(operation: SampledOperation): string {
  const { operationId, request, isList } = operation;
  const method = operationId === "getMe" ? "me" : methodNames[operationId];
  const given = [...pathValues(operation), request.body, request.query].filter((part) => part !== undefined);
  const args = given.map((part) => literal(part, typescript, "", 40));
  const called = call(`perch.${method}`, args);
  if (isList) return `for await (const item of ${called}) {\n  console.log(item);\n}`;
  return `const result = await ${called};\nconsole.log(result);`;
}

const typescriptSample = (operation: SampledOperation): string =>
  `import { Perch } from "@perch/sdk";\n\n// Reads PERCH_URL and PERCH_API_KEY.\nconst perch = new Perch();\n\n${typescriptStatements(operation)}`;

function pythonSample(operation: SampledOperation): string {
  const { operationId, request, isList } = operation;
  const method = pythonNames[operationId] ?? snakeCase(methodNames[operationId]);
  const named = Object.entries({ ...(request.body as object | undefined), ...request.query });
  const args = [
    ...pathValues(operation).map((value) => literal(value, python)),
    ...named.map(([name, value]) => `${name}=${literal(value, python, "", name.length + 9)}`),
  ];
  const called = call(`perch.${method}`, args, "    ");
  const statements = isList ? `for item in ${called}:\n    print(item)` : `result = ${called}\nprint(result)`;
  return `from perch_sdk import Perch\n\n# Reads PERCH_URL and PERCH_API_KEY.\nperch = Perch()\n\n${statements}`;
}

function curlSample({ method, path, request, isPublic }: SampledOperation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(request.params?.[name] ?? ""));
  const search = new URLSearchParams(
    Object.entries(request.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const body = request.body === undefined ? undefined : JSON.stringify(request.body, null, 2).replaceAll("'", "'\\''");
  const isImplied = method === "GET" || (method === "POST" && body !== undefined);
  return [
    `curl${isImplied ? "" : ` -X ${method}`} "$PERCH_URL${filled}${search.size > 0 ? `?${search}` : ""}"`,
    ...(isPublic ? [] : ['-H "Authorization: Bearer $PERCH_API_KEY"']),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${body}'`]),
  ].join(" \\\n  ");
}

/** The same request as the example, with each client. */
export const codeSamplesOf = (operation: SampledOperation): CodeSample[] => [
  { lang: "typescript", label: "TypeScript", source: typescriptSample(operation) },
  { lang: "python", label: "Python", source: pythonSample(operation) },
  { lang: "shell", label: "curl", source: curlSample(operation) },
];
