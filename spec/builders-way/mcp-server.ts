import { startMcpServer } from "@perch/testkit/servers/mcp-server.ts";

const token = process.env.DOCS_TOKEN;
if (!token) throw new Error("DOCS_TOKEN is not set: it is the key that this server demands.");

const { url } = await startMcpServer({
  refuse: ({ headers }) => (headers.authorization === `Bearer ${token}` ? undefined : { status: 401 }),
});

console.log(`MCP server at ${url}`);
