import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { expect, test } from "vitest";
import { createIsSigned } from "./engine-signature.ts";
import { identityKeyOf } from "./identity-key.ts";

const newKey = (): string =>
  generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  }).privateKey;

test("a request of the engine itself is signed by its key, for its path, and by no other", async () => {
  const [ours, other] = [newKey(), newKey()];
  const folder = mkdtempSync(join(tmpdir(), "perch-signature-"));
  writeFileSync(join(folder, "engine.pem"), ours);
  const engine = await startRestate(1, 1, {
    RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: join(folder, "engine.pem"),
  });
  const asked = Promise.withResolvers<IncomingHttpHeaders>();
  const worker = createServer(({ headers }, response) => {
    asked.resolve(headers);
    response.stream.respond({ ":status": 404 }, { endStream: true });
  });
  try {
    await once(worker.listen(0, "127.0.0.1"), "listening");
    const uri = `http://127.0.0.1:${(worker.address() as AddressInfo).port}`;
    const registered = fetch(`${engine.adminUrls[0]}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri }),
    });
    const headers = await asked.promise;
    const keys = [other, ours].map(identityKeyOf);
    expect(createIsSigned(keys)("/discover", headers)).toBe(true);
    expect(createIsSigned(keys)("/invoke/AgentRuns/run", headers)).toBe(false);
    expect(createIsSigned([identityKeyOf(other)])("/discover", headers)).toBe(false);
    await registered;
  } finally {
    worker.close();
    await engine.stop();
    rmSync(folder, { recursive: true });
  }
});
