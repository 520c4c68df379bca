/**
 * The thread behind `check-schema.ts`. The schemas come from authors of tools and are not trusted: regular expressions
 * are never evaluated, because one can take hours, and nothing is fetched. The main thread ends this one when it takes
 * too long.
 */
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { serveWork } from "../../fairness/serve-work.ts";
import type { CheckRequest, CheckResponse } from "./check-schema.ts";

const maxFailures = 10;
const maxTextLength = 200;

/** If a pattern still decides, as beside `additionalProperties: false`, everything fits. */
const everythingFits = Object.assign(() => ({ test: () => true }), { code: "everythingFits" });

const options: Options = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  logger: false,
  // Else each schema stays, and one that names itself like another replaces it.
  addUsedSchema: false,
  // Else a schema that refers to itself often becomes very long code.
  inlineRefs: false,
  code: { regExp: everythingFits },
};

function withoutPatterns<T extends Ajv>(ajv: T): T {
  ajv.removeKeyword("pattern").removeKeyword("patternProperties");
  // Compiles the schema of schemas, which takes longer than a check may.
  ajv.validate({ type: "object", properties: { a: { type: "string" } } }, {});
  return ajv;
}

const current = withoutPatterns(new Ajv2020(options));
const draft7 = withoutPatterns(new Ajv(options));

const toFailure = ({ instancePath, message, params }: ErrorObject) => {
  const named = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const path =
    typeof named === "string" ? `${instancePath}/${named.replaceAll("~", "~0").replaceAll("/", "~1")}` : instancePath;
  const error =
    params.missingProperty === undefined
      ? typeof named === "string"
        ? "Not expected here"
        : (message ?? "Does not fit the schema")
      : "Required";
  return { path: path.slice(0, maxTextLength), error: error.slice(0, maxTextLength) };
};

function check(request: CheckRequest): CheckResponse {
  // An asynchronous schema would answer with a promise.
  const { $schema, $async: _, ...schema } = JSON.parse(request.schema);
  const ajv = /draft-0[467]/.test(String($schema)) ? draft7 : current;
  try {
    const validate = ajv.compile(schema);
    if (validate(JSON.parse(request.value)) === true) return { failures: [] };
    return { failures: (validate.errors ?? []).slice(0, maxFailures).map(toFailure) };
  } catch (error) {
    return { unusable: (error instanceof Error ? error.message : String(error)).slice(0, maxTextLength) };
  } finally {
    ajv.removeSchema(schema);
  }
}

serveWork(check);
