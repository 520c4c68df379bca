import {
  type Operation,
  openApiDocument,
  operationExamples,
  operationKeys,
  operations,
  routeOf,
} from "../../packages/contract/src/index.ts";
import { codeSamplesOf, type OperationId, type SampledOperation, typescriptStatements } from "./code-samples.ts";

interface Paths {
  readonly [path: string]: { readonly [method: string]: Record<string, unknown> };
}

function sampledOperations(): SampledOperation[] {
  return operationKeys.flatMap((key) => {
    const { id, permission }: Operation = operations[key];
    const example = operationExamples[key];
    if (!example) return [];
    const isList = key.startsWith("GET ") && "pagination" in (example.response as object);
    const { request } = example;
    return [{ ...routeOf(key), operationId: id as OperationId, request, isList, isPublic: permission === "public" }];
  });
}

/** The OpenAPI document of the contract, with code samples in the languages of our clients. */
export function completeOpenApiDocument(version: string): Record<string, unknown> {
  const document = openApiDocument(version);
  for (const operation of sampledOperations()) {
    const described = (document.paths as Paths)[operation.path]?.[operation.method.toLowerCase()];
    if (described) described["x-codeSamples"] = codeSamplesOf(operation);
  }
  return document;
}

/** A program with all samples, for the compiler to check. It is never run. */
export function typescriptSamplesFile(): string {
  const functions = sampledOperations().map((operation) => {
    const body = typescriptStatements(operation).replaceAll(/^(?=.)/gm, "  ");
    return `export async function ${operation.operationId}Sample(perch: Perch): Promise<void> {\n${body}\n}\n`;
  });
  return [
    "// Made from the examples of the operations by `pnpm generate`. Do not edit.\n",
    'import type { Perch } from "../src/index.ts";\n',
    ...functions,
  ].join("\n");
}
