import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { type McpCall, type McpServer, startMcpServer, textResult } from "@perch/testkit/servers/mcp-server.ts";
import { pairFor, runNumberIn } from "./outside-server.ts";
import { type OutsideText, outsideTexts, parsedText } from "./outside-texts.ts";

const stringOf = (value: unknown): string => (typeof value === "string" ? value : "t");

/** A list that has the text in every place in which MCP allows a server to write. */
function toolsWith(text: OutsideText): Tool[] {
  const value = parsedText(text);
  const name = stringOf(value);
  return [
    {
      name: name || "t",
      title: name,
      description: name,
      inputSchema: {
        type: "object",
        properties: { q: { type: "string", description: name }, [name]: { default: value } },
      },
    } as Tool,
  ];
}

const structured = (value: unknown) => ({ content: [], structuredContent: { value } }) as CallToolResult;

const answers: readonly ((value: unknown) => CallToolResult)[] = [
  (value) => textResult(stringOf(value)),
  structured,
  (value) => ({ ...textResult(stringOf(value)), isError: true }),
  (value) => ({ content: [{ type: "resource_link", uri: stringOf(value), name: stringOf(value) }] }),
  (value) => ({ content: [{ type: "image", data: stringOf(value), mimeType: stringOf(value) }] }),
  (value) => {
    throw new Error(stringOf(value));
  },
];

const answerCall = ({ arguments: args }: McpCall): CallToolResult => {
  const { text, answer } = pairFor(runNumberIn(JSON.stringify(args)), answers.length);
  return answers[answer]?.(parsedText(text)) ?? textResult("done");
};

/** An official MCP server for each text; those after them refuse every request with the text as their body. */
export const startOutsideMcpServers = (): Promise<McpServer[]> =>
  Promise.all([
    ...outsideTexts.map((text) => startMcpServer({ tools: toolsWith(text), answer: answerCall })),
    ...outsideTexts.map((text, i) =>
      startMcpServer({ refuse: () => ({ status: i % 2 === 0 ? 400 : 500, body: text.plain }) }),
    ),
  ]);
