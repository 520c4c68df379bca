import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { end, field, frame, framesIn, input, output, start, step } from "../../test/support/engine-frames.ts";
import { createLogger } from "../platform/logger.ts";
import type { RunSteps } from "../runs/execute/run-steps.ts";
import { runServices } from "../workflows/run-agent.ts";
import { identityKeyOf } from "./identity-key.ts";
import type { OneStepResult, RunOneStep } from "./one-step-run.ts";
import { type Endpoint, serveEndpoint } from "./serve-endpoint.ts";

const path = "/invoke/AgentRuns/run";
const contentType = "application/vnd.restate.invocation.v6";
const message = { id: "1", message: "hello", sessionId: null, definition: { memory: {}, runtime: {}, tools: [] } };
const first = Buffer.concat([start(1), input(message)]);
const completed = { status: "completed", response: "ü".repeat(5000) };

let endpoint: Endpoint | undefined;
let client: ClientHttp2Session | undefined;
const closeBoth = async (): Promise<void> => {
  client?.destroy();
  await endpoint?.close();
};
afterEach(closeBoth);

/** What the SDK is given: its first step fails for now, so that it answers with an error frame. */
const steps = new Proxy({} as RunSteps, { get: () => () => Promise.reject(new Error("by the SDK")) });

async function serve(runOneStep: RunOneStep, identityKeys: readonly string[] = []): Promise<void> {
  const deps = {
    steps,
    findDefinition: async () => undefined,
    kill: async () => undefined,
    defaultLogs: "shapes",
  } as const;
  endpoint = await serveEndpoint({
    services: [...runServices(deps)],
    identityKeys,
    host: "127.0.0.1",
    port: 0,
    release: "1.0.0",
    describe: () => ({}),
    logger: createLogger("silent"),
    runOneStep,
  });
  client = connect(`http://127.0.0.1:${endpoint.port}`);
}

function open(headers: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
  if (!client) throw new Error("not connected");
  const target = { ":method": "POST", ":path": `/releases/1.0.0/1${path}`, "content-type": contentType };
  return client.request({ ...target, ...headers }).on("error", () => undefined);
}

async function answerOf(bytes: Buffer | readonly Buffer[], headers: Readonly<Record<string, string>> = {}) {
  const stream = open(headers);
  const response = once(stream, "response");
  for (const piece of Buffer.isBuffer(bytes) ? [bytes] : bytes) stream.write(piece);
  stream.end();
  const [{ ":status": status, "content-type": type }] = await response;
  return { status, type, frames: framesIn(await buffer(stream)) };
}

/** Runs one step as told, and keeps what it was asked. */
const asked = (result: OneStepResult | undefined) => {
  const messages: unknown[] = [];
  const runOneStep: RunOneStep = async (given) => {
    messages.push(given);
    return result;
  };
  return { messages, runOneStep };
};

describe("a run of one step", () => {
  test("is answered with its output and the end", async () => {
    const { messages, runOneStep } = asked({ output: completed });
    await serve(runOneStep);
    const { status, type, frames } = await answerOf(first);
    expect([status, type, messages]).toEqual([200, contentType, [message]]);
    expect(frames).toEqual(framesIn(Buffer.concat([output(completed), end])));
  });

  test("is read from any pieces", async () => {
    for (const size of [1, 7, 8, 9, 50]) {
      const { runOneStep } = asked({ output: completed });
      await serve(runOneStep);
      const pieces = Array.from({ length: Math.ceil(first.length / size) }, (_, i) =>
        first.subarray(i * size, (i + 1) * size),
      );
      expect((await answerOf(pieces)).frames).toHaveLength(2);
      await closeBoth();
    }
  });

  test("sends the head of its answer at once", async () => {
    const gate = Promise.withResolvers<OneStepResult>();
    await serve(() => gate.promise);
    const stream = open();
    stream.write(first);
    await once(stream, "response");
    gate.resolve({ output: completed });
    expect(framesIn(await buffer(stream))).toHaveLength(2);
  });

  test("that the engine gives up while it runs harms nothing", async () => {
    const made = { name: "model 1", result: { status: "fulfilled", value: {} } } as const;
    for (const result of [{ output: completed }, { made }]) {
      const gate = Promise.withResolvers<OneStepResult>();
      await serve(() => gate.promise);
      const stream = open();
      stream.write(first);
      await once(stream, "response");
      stream.destroy();
      await once(stream, "close");
      gate.resolve(result);
      await closeBoth();
    }
    await serve(asked({ output: completed }).runOneStep);
    expect((await answerOf(first)).frames).toHaveLength(2);
  });

  test("whose step is not the end goes on in the SDK, which journals the result and does not make the step again", async () => {
    const value = { retry: { model: 0, tries: 2, failures: [], log: [] }, afterMs: 60_000 };
    await serve(asked({ made: { name: "model 1", result: { status: "fulfilled", value } } }).runOneStep);
    const stream = open();
    stream.write(first);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    await expect.poll(() => framesIn(Buffer.concat(chunks)).length).toBe(2);
    const [run, proposal] = framesIn(Buffer.concat(chunks));
    expect(run?.type).toBe(0x0411);
    expect(run?.message.toString("latin1")).toContain("model 1");
    expect(proposal?.message.toString("utf8")).toContain(JSON.stringify(value));
    stream.destroy();
  });

  test("whose step throws is tried again by the engine", async () => {
    const result = { status: "rejected", reason: new Error("the database is away") } as const;
    await serve(asked({ made: { name: "model 1", result } }).runOneStep);
    const { frames } = await answerOf(first);
    expect(frames.map(({ message: told }) => told.toString("utf8")).join()).toContain("the database is away");
  });

  test("that is none is left to the SDK as a whole", async () => {
    const { messages, runOneStep } = asked(undefined);
    await serve(runOneStep);
    const { frames } = await answerOf(first);
    expect(messages).toEqual([message]);
    expect(frames.map(({ message: told }) => told.toString("utf8")).join()).toContain("by the SDK");
  });
});

const huge = Buffer.alloc(8);
huge.writeUInt16BE(0x0400, 0);
huge.writeUInt32BE(0xffffffff, 4);

describe("what is not exactly the first attempt of a run goes to the SDK", () => {
  test.each([
    ["another attempt", Buffer.concat([start(1, 1), input(message)]), {}],
    ["a journal with a step", Buffer.concat([start(2), input(message), step("model 1")]), {}],
    ["no start", input(message), {}],
    ["a start that is cut", start(1).subarray(0, 20), {}],
    ["an input that is cut", first.subarray(0, -5), {}],
    ["an input of 4 GiB", Buffer.concat([start(1), huge]), {}],
    ["a start of 4 GiB", Buffer.concat([Buffer.alloc(4), Buffer.alloc(4, 255)]), {}],
    ["an unknown frame for the input", Buffer.concat([start(1), frame(0x0777, field(14, 1))]), {}],
    [
      "a field that is longer than its message",
      Buffer.concat([frame(0x0000, Buffer.from([10, 127, 1])), input(message)]),
      {},
    ],
    ["an unknown wire type", Buffer.concat([frame(0x0000, Buffer.from([7, 1])), input(message)]), {}],
    ["a message that is no JSON", Buffer.concat([start(1), frame(0x0400, field(14, field(1, Buffer.from("{"))))]), {}],
    ["another version of the protocol", first, { "content-type": "application/vnd.restate.invocation.v5" }],
    ["no version of the protocol", first, { "content-type": "text/plain" }],
  ])("%s", async (_, bytes, headers) => {
    const { messages, runOneStep } = asked({ output: completed });
    await serve(runOneStep);
    const { frames } = await answerOf(bytes, headers);
    expect(messages).toEqual([]);
    expect(frames.map(({ message: told }) => told.toString("utf8")).join()).not.toContain(completed.status);
    // The worker goes on.
    expect((await answerOf(first)).frames).toHaveLength(2);
  });
});

describe("with an identity key", () => {
  const { privateKey } = generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const kid = identityKeyOf(privateKey);
  const nowSeconds = Math.floor(Date.now() / 1000);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

  function tokenOf(changes: object = {}, head: object = {}): string {
    const claims = { aud: path, nbf: nowSeconds - 60, iat: nowSeconds, exp: nowSeconds + 60, ...changes };
    const signed = `${encode({ typ: "JWT", alg: "EdDSA", kid, ...head })}.${encode(claims)}`;
    return `${signed}.${sign(null, Buffer.from(signed), createPrivateKey(privateKey)).toString("base64url")}`;
  }

  const signedBy = (token: string) => ({ "x-restate-signature-scheme": "v1", "x-restate-jwt-v1": token });

  test("a run that the engine signed is answered", async () => {
    await serve(asked({ output: completed }).runOneStep, [kid]);
    expect((await answerOf(first, signedBy(tokenOf()))).frames).toHaveLength(2);
  });

  test("none of the forged ones is", async () => {
    const { messages, runOneStep } = asked({ output: completed });
    await serve(runOneStep, [kid]);
    const token = tokenOf();
    const other = generateKeyPairSync("ed25519").privateKey;
    const [head = "", claims = "", signature = ""] = token.split(".");
    const forged = [
      "",
      "a.b.c",
      `${head}.${claims}.`,
      `${head}.${encode({ aud: path, nbf: 0, exp: nowSeconds + 60 })}.${signature}`,
      `${head}.${claims}.${sign(null, Buffer.from(`${head}.${claims}`), other).toString("base64url")}`,
      `${encode({ alg: "none", kid })}.${claims}.`,
      tokenOf({ aud: "/invoke/AgentSessions/run" }),
      tokenOf({ exp: nowSeconds - 3600 }),
      tokenOf({ nbf: nowSeconds + 3600 }),
      tokenOf({}, { alg: "HS256" }),
    ];
    // Each bit of signature and claims in turn, over and over.
    const count = process.env.TEST_TIER === "required" ? 300 : 10_000;
    for (let i = 0; i < count; i++) {
      const bytes = Buffer.from(i % 2 ? signature : claims, "base64url");
      const bit = Math.floor(i / 2) % (bytes.length * 8);
      bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const changed = bytes.toString("base64url");
      forged.push(i % 2 ? `${head}.${claims}.${changed}` : `${head}.${changed}.${signature}`);
    }
    const statuses = new Map<number | undefined, number>();
    for (const each of forged) {
      const { status } = await answerOf(first, signedBy(each));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    const { status } = await answerOf(first);
    expect([...statuses, status]).toEqual([[401, forged.length], 401]);
    expect(messages).toEqual([]);
  }, 120_000);
});
