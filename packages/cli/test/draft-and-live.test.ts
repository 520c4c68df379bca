import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch(
  { valkeyUrl: serviceUrl("PERCH_VALKEY_URL"), outboundAllowedPrivateRanges: ["127.0.0.0/8"] },
  { withWorker: true },
);
removeDesks();

/** An agent that answers with this text. */
const replying = (reply: string) => `name: bot
model: perch/script
instructions: '${JSON.stringify({ steps: [{ reply }] })}'
`;

async function createDesk() {
  const desk = await newDesk(server());
  const save = (text: string) => writeFileSync(join(desk.cwd, "agent.yaml"), text);
  save(replying("one"));
  return { ...desk, save };
}

describe("perch invoke --draft", () => {
  test("runs the draft, whatever is deployed, as --agent-version draft does", async () => {
    verifies("deployment.draft-invoked");
    const { perch, save } = await createDesk();
    await perch(["apply"]);
    expect(await perch(["deploy", "bot", "--label", "v1"])).toMatchObject({ code: 0 });
    save(replying("two"));
    await perch(["apply", "--yes"]);
    expect((await perch(["invoke", "bot", "Hi"])).stdout).toBe("one\n");
    expect((await perch(["invoke", "bot", "Hi", "--draft"])).stdout).toBe("two\n");
    expect((await perch(["invoke", "bot", "Hi", "--agent-version", "draft"])).stdout).toBe("two\n");
    const chat = await perch(["chat", "bot", "--draft"], { input: "Hi\n" });
    expect(chat.stdout).toContain("two");
  });

  test("with a version as well is a usage error", async () => {
    const { perch } = await createDesk();
    const { code, stderr } = await perch(["invoke", "bot", "Hi", "--draft", "--agent-version", "v1"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--draft or --agent-version");
  });
});

describe("perch apply", () => {
  test("says what answers: the draft until something is deployed, and then what to do to make it live", async () => {
    const { perch, save } = await createDesk();
    expect((await perch(["apply"])).stdout).toContain("bot created. Nothing is deployed: the draft answers.\n");
    await perch(["deploy", "bot", "--label", "v1"]);
    expect((await perch(["apply"])).stdout).toBe("bot: no change\n");
    save(replying("two"));
    const updated = await perch(["apply", "--yes"]);
    expect(updated.stdout).toContain("bot updated (draft). production runs v1: perch deploy bot makes this live.\n");
    expect((await perch(["apply"])).stdout).toContain("bot is not live as the file has it: production runs v1:");
    await perch(["deploy", "bot", "--label", "v2", "--environment", "staging"]);
    save(replying("one"));
    const back = await perch(["apply", "--yes", "--json"]);
    expect(back.json()).toMatchObject({
      applied: true,
      agents: [
        {
          name: "bot",
          outcome: "updated",
          live: [
            { environment: "production", version: "v1", traffic_percent: 100, same_as_draft: true },
            { environment: "staging", version: "v2", traffic_percent: 100, same_as_draft: false },
          ],
          problems: [],
        },
      ],
    });
  });

  test("warns of an unknown provider, a tool that does not answer and a missing secret, and applies the file", async () => {
    verifies("agent.check");
    const { perch, save } = await createDesk();
    const port = await freePort();
    save(`name: bot
model: local/llama3.2
fallback_models: [openai/gpt-5]
tools:
  - type: mcp
    name: docs
    url: http://127.0.0.1:${port}/mcp
  - type: mcp
    name: orders
    url: http://127.0.0.1:${port}/mcp
    headers:
      Authorization: Bearer {{secret.docs_token}}
`);
    const { code, stdout, stderr } = await perch(["apply"]);
    expect(code).toBe(0);
    expect(stdout).toContain("bot created.");
    const warnings = stderr
      .replaceAll(`:${port}`, ":<port>")
      .split(/^warning: /m)
      .slice(1);
    expect(warnings).toMatchInlineSnapshot(`
      [
        "agent.yaml:12: {{secret.docs_token}} exists neither for bot nor for the organisation. Set it: perch secrets set docs_token --host http://127.0.0.1:<port> --agent bot
      ",
        "agent.yaml:2: There is no model local/llama3.2 here. Use one of perch/echo, perch/script, or add a provider: perch providers add.
        perch providers add local --base-url http://127.0.0.1:11434/v1   # or wherever it is
      ",
        "agent.yaml:3: There is no model openai/gpt-5 here. Use one of perch/echo, perch/script, or add a provider: perch providers add.
        perch providers add openai --type openai --api-key-env OPENAI_API_KEY
      ",
        "agent.yaml:5: The MCP server docs could not be reached: it refuses connections (ECONNREFUSED). Start it, or correct \`url\` of the tool docs.
      ",
      ]
    `);
    const json = await perch(["apply", "--json"]);
    expect(json.json()).toMatchObject({
      applied: false,
      agents: [{ problems: [{ kind: "secret" }, { kind: "model" }, { kind: "model" }, { kind: "tool" }] }],
    });
  });

  test("a template says what it lacks before anything runs", async () => {
    verifies("agent.check");
    for (const [template, missing] of [
      ["openai", "perch providers add local --base-url http://127.0.0.1:11434/v1"],
      ["remote", "The remote agent at 127.0.0.1:8801 could not be reached"],
    ] as const) {
      const { perch } = await newDesk(server());
      expect(await perch(["init", "--template", template])).toMatchObject({ code: 0 });
      const { code, stderr } = await perch(["apply"]);
      expect(code).toBe(0);
      expect(stderr).toContain(missing);
      expect(stderr.match(/^warning: /gm)).toHaveLength(1);
    }
    const { perch } = await newDesk(server());
    await perch(["init"]);
    expect(await perch(["apply"])).toMatchObject({ code: 0, stderr: "" });
  });
});
