import { inspect } from "node:util";
import { errorCodes } from "@perch/contract";
import { beforeEach, describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { createError } from "../src/create-error.ts";
import {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  PayloadTooLargeError,
  Perch,
  PerchError,
  RateLimitedError,
  UnauthorizedError,
} from "../src/index.ts";

const server = usePerch();
let apiKey: string;
let perch: Perch;
let weak: Perch;
beforeEach(async () => {
  const organisation = await server().createOrganisation();
  apiKey = organisation.adminKey;
  perch = new Perch({ baseUrl: `${server().url}/`, apiKey });
  weak = new Perch({ baseUrl: server().url, apiKey: await organisation.createKey({ role: "viewer" }) });
});

const thrownBy = async (work: PromiseLike<unknown>): Promise<PerchError> => {
  const error = await Promise.resolve(work).catch((thrown: unknown) => thrown);
  if (!(error instanceof PerchError)) throw new Error(`not refused: ${inspect(error)}`);
  return error;
};

describe("a refusal", () => {
  test("400 names the fields", async () => {
    const error = await thrownBy(perch.agents.create({ name: "No Good", model: "perch/echo" }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ name: "InvalidRequestError", status: 400, code: "invalid_request" });
    expect(error.details.map(({ field }) => field)).toEqual(["name"]);
    expect(error.correlationId).toMatch(/^corr_/);
  });

  test.each([
    ["401", UnauthorizedError, () => new Perch({ baseUrl: server().url, apiKey: "perch_wrong" }).me()],
    ["401 without a key", UnauthorizedError, () => new Perch({ baseUrl: server().url }).me()],
    ["403", ForbiddenError, () => weak.agents.create({ name: "bot", model: "perch/echo" })],
    ["404", NotFoundError, () => perch.agents.get("missing")],
    ["413", PayloadTooLargeError, () => perch.agents.create({ name: "x".repeat(2 ** 20), model: "perch/echo" })],
  ] as const)("%s has a class of its own, a code and a correlation id", async (status, type, work) => {
    const error = await thrownBy(work());
    expect(error).toBeInstanceOf(type);
    expect(error.status).toBe(Number(status.slice(0, 3)));
    expect(error.message.length).toBeGreaterThan(10);
    expect(error.correlationId).toMatch(/^corr_/);
  });

  test("409 names the conflict", async () => {
    await perch.agents.create({ name: "bot", model: "perch/echo" });
    const error = await thrownBy(perch.agents.create({ name: "bot", model: "perch/echo" }));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error.message).toContain("bot");
  });

  test("429 shows when to come back", async () => {
    const { adminKey } = await server().createOrganisation("free");
    const eager = new Perch({ baseUrl: server().url, apiKey: adminKey, maxRetries: 0 });
    const outcomes = await Promise.allSettled(Array.from({ length: 120 }, () => eager.me()));
    const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    expect(errors.length).toBeGreaterThan(10);
    for (const error of errors) {
      expect(error).toBeInstanceOf(RateLimitedError);
      expect((error as PerchError).retryAfterSeconds).toBeGreaterThanOrEqual(1);
    }
    // With retries, the call succeeds.
    const patient = new Perch({ baseUrl: server().url, apiKey: adminKey });
    await Promise.all([patient.me(), patient.me()]);
  });

  test("no answer is an error of its own, with its cause", async () => {
    const error = await thrownBy(new Perch({ baseUrl: "http://127.0.0.1:1", apiKey, maxRetries: 0 }).me());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ status: undefined, code: "connection_failed" });
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("an address that is not Perch is recognised", async () => {
    const notPerch = { baseUrl: `${server().url}/docs`, apiKey, fetch: async () => new Response("<html>") };
    const error = await thrownBy(new Perch(notPerch).me());
    expect(error.message).toContain("baseUrl");
  });

  test("every code of the contract has a class of its own", () => {
    const names = errorCodes.map((code) => createError({ code, message: "" }).name);
    expect(new Set(names).size).toBe(errorCodes.length);
    expect(names).not.toContain("PerchError");
    for (const code of ["later_than_this_client", "constructor", "toString"]) {
      const { name, message } = createError({ code, message: "It failed." });
      expect([name, message]).toEqual(["PerchError", `It failed. (${code})`]);
    }
  });
});

describe("the message of an error", () => {
  test("names the request and the next step, after the server's message", async () => {
    const error = await thrownBy(perch.agents.get("missing"));
    expect(error.url).toBe(`${server().url}/v1/agents/missing`);
    expect(error.message.startsWith(error.shortMessage)).toBe(true);
    expect(error.message).toContain(`(GET ${error.url}, 404 not_found, correlation id ${error.correlationId})`);
    expect(error.message).toMatch(/\) Check the id or the name/);
    const refused = await thrownBy(perch.logs.list("missing", { contains: "searched for" }));
    expect(refused.message).not.toContain("searched");
  });

  test("names the run", async () => {
    const details = [{ field: "request_id", error: "req_1" }];
    const error = createError({
      status: 422,
      code: "run_failed",
      message: "The model failed",
      retryable: true,
      details,
    });
    expect(error.message).toBe(
      "The model failed. (422 run_failed, run req_1) A new call may succeed. runs.steps shows what the run did.",
    );
  });

  test("shows the next step for every code except a conflict, which the server explains", () => {
    const silent = errorCodes.filter((code) => createError({ code, message: "It failed." }).message.endsWith(")"));
    expect(silent).toEqual(["conflict"]);
  });
});

describe("the API key", () => {
  test("is in no error and in no print of the client", async () => {
    const errors = await Promise.all([
      thrownBy(perch.agents.get("missing")),
      thrownBy(new Perch({ baseUrl: "http://127.0.0.1:1", apiKey, maxRetries: 0 }).me()),
      // In the place of an id it is in the address, and in the server's words.
      thrownBy(perch.agents.get(apiKey)),
    ]);
    const printed = [perch, perch.agents, ...errors].map((value) =>
      [inspect(value, { depth: 9, showHidden: true }), JSON.stringify(value), String(value)].join(),
    );
    for (const text of printed) expect(text).not.toContain(apiKey);
  });

  test("that no header could carry is refused at once, without being shown", () => {
    const make = () => new Perch({ baseUrl: server().url, apiKey: `${apiKey}\n` });
    expect(make).toThrow("line break");
    try {
      make();
    } catch (error) {
      expect(inspect(error)).not.toContain(apiKey);
    }
  });

  test("and the address come from the environment if they are not given", async () => {
    process.env.PERCH_API_KEY = apiKey;
    process.env.PERCH_URL = server().url;
    try {
      expect((await new Perch().me()).key.permissions).toContain("manage");
    } finally {
      delete process.env.PERCH_API_KEY;
      delete process.env.PERCH_URL;
    }
    expect(() => new Perch()).toThrow("PERCH_URL");
    expect(() => new Perch({ baseUrl: "perch.example.com" })).toThrow("https://");
    expect(() => new Perch({ baseUrl: "https://user:secret@perch.example.com" })).toThrow("must not contain");
  });
});
