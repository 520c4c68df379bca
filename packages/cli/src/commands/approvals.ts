import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Approval, ApprovalSummary } from "@perch/sdk";
import { command, type Session, yesOption } from "../command.ts";
import { type CursorPage, commandLine, listOptions, pageOfAllAgents } from "../list-options.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseDuration } from "../output/duration.ts";
import { decisionCommands, printApproval } from "../output/print-approval.ts";
import { printEmpty, printNextPage, printTable } from "../output/table.ts";
import { coloured } from "../output/text.ts";
import { UsageError } from "../problem.ts";

const statuses = ["open", "approved", "rejected", "answered", "expired", "cancelled", "any"] as const;

const list = command({
  name: "approvals list",
  summary: "List what runs wait for, newest first.",
  details:
    "Without --status only what is open. Decided ones are kept for 30 days, and at least until their run has ended.",
  options: {
    limit: listOptions.limit,
    cursor: { type: "string", value: "CURSOR", help: "Where the page before ended." },
    status: { type: "string", choices: statuses, help: "Only those with this status. Default: open." },
    agent: { type: "string", value: "AGENT", help: "Only those of this agent." },
    run: { type: "string", value: "RUN", help: "Only those of this run." },
    kind: { type: "string", choices: ["tool", "question"], help: "Only calls, or only questions." },
    tool: { type: "string", value: "NAME", help: "Only those of this tool." },
    user: { type: "string", value: "ID", help: "Only those of this user." },
    session: { type: "string", short: "s", value: "ID", help: "Only those of this conversation." },
    "expires-within": { type: "string", value: "TIME", help: "Only those that expire within this time, such as 1h." },
  },
  examples: ["perch approvals", "perch approvals --agent support --expires-within 1h"],
  run: async ({ perch, terminal, show, signal, time }, _, { limit, cursor, ...options }) => {
    const { status = "open", "expires-within": within } = options;
    const page: CursorPage = pageOfAllAgents("approvals list", omitUndefined({ limit, cursor }));
    const narrowing = omitUndefined({
      agent_id: options.agent,
      request_id: options.run,
      kind: options.kind,
      tool: options.tool,
      user_id: options.user,
      session_id: options.session,
      expires_within_seconds: within === undefined ? undefined : parseDuration("expires-within", within),
    });
    const query = { ...page, ...narrowing, ...(status !== "any" && { status }) };
    const found = await perch().approvals.list(query, { signal });
    const { next_cursor } = found.pagination;
    const rowOf = (one: ApprovalSummary): string[] => [
      one.id,
      coloured(terminal, one.status),
      one.agent_name,
      one.tool,
      one.why,
      one.user_id ?? "-",
      time(one.status === "open" ? one.expires_at : one.decided_at),
    ];
    show(found, () => {
      if (found.data.length === 0 && next_cursor === null)
        return printEmpty(terminal, {
          what: status === "any" ? "approvals" : `${status} approvals`,
          narrowedBy: [...Object.keys(narrowing), cursor],
          next: "A run waits here when a tool of its agent has `approval`, or when it asks a person.",
        });
      const titles = ["approval", "status", "agent", "tool", "why", "user", status === "open" ? "expires" : "decided"];
      printTable(terminal, titles, found.data.map(rowOf), { truncate: ["why", "user"] });
      const words = {
        "--status": options.status,
        "--agent": options.agent,
        "--run": options.run,
        "--kind": options.kind,
      };
      const more = { "--tool": options.tool, "--user": options.user, "--session": options.session };
      const rest = { "--expires-within": within, "--limit": limit };
      printNextPage(terminal, next_cursor, commandLine("approvals", { ...words, ...more, ...rest }));
    });
  },
});

const whoDecides = ({ can_decide, contents }: Approval): string => {
  if (can_decide) return "To decide:";
  // Only a key without the permission sees an open approval without its contents.
  return contents === null
    ? "This key does not have the permission approve. With one that has it:"
    : "This key started the run, so another approver decides:";
};

const show = command({
  name: "approvals show",
  summary: "Show what a decision is about: arguments, why, who asked, and what the run did so far.",
  details:
    "Needs a key with the permission approve for the contents. Long texts are cut; --json has more of them, and all of the arguments.",
  args: ["approval"],
  run: async (session, { approval: id }) => {
    const { perch, terminal, signal } = session;
    const approval = await perch().approvals.get(id, { signal });
    session.show(approval, () => {
      printApproval(session, approval);
      if (approval.status === "open") terminal.note([whoDecides(approval), ...decisionCommands(approval)].join("\n"));
    });
  },
});

const codeOption = {
  type: "string",
  value: "CODE",
  help: "Code of your second factor, where the decision needs one.",
} as const;
const codeHeaders = (code: string | undefined) => (code === undefined ? {} : { headers: { "x-mfa-code": code } });

function printDecided({ terminal, show: print }: Session, approval: Approval): void {
  const { id, status, approvers, approved_by } = approval;
  print(approval, () => {
    if (status !== "open") return terminal.line(`${id} is ${status}.`);
    terminal.line(`${id} is still open: ${approved_by.length} of ${approvers} have approved.`);
  });
}

/** JSON, or the contents of a file after @. Nothing of it is repeated in an error. */
function parseArguments(text: string, cwd: string): Record<string, unknown> {
  const file = text.startsWith("@") ? resolve(cwd, text.slice(1)) : undefined;
  let given: unknown;
  try {
    given = JSON.parse(file === undefined ? text : readFileSync(file, "utf8"));
  } catch (error) {
    if (file !== undefined && error instanceof Error && "code" in error)
      throw new UsageError(`perch approvals approve: ${file} cannot be read (${String(error.code)}).`);
  }
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new UsageError("perch approvals approve: --arguments is a JSON object, or @FILE with one.");
  return given as Record<string, unknown>;
}

const approve = command({
  name: "approvals approve",
  summary: "Approve a call. The run goes on.",
  details:
    "Shows the call, asks for confirmation, and approves exactly that call: if its arguments change meanwhile, nothing is approved. With --digest, which `perch approvals show --json` has, it does not ask.",
  args: ["approval"],
  options: {
    arguments: {
      type: "string",
      value: "JSON|@FILE",
      help: "Make the call with these arguments instead. They replace all of its arguments.",
    },
    digest: { type: "string", value: "DIGEST", help: "The digest of what you looked at." },
    code: codeOption,
    yes: yesOption,
  },
  examples: [
    'perch approvals approve appr_01h455vb4pex5vsknk084sn02q \\\n    --arguments \'{"order": "42", "amount": 80}\'',
  ],
  run: async (session, { approval: id }, { arguments: text, digest: given, code, yes }) => {
    const { perch, terminal, signal, isJson, cwd } = session;
    const args = text === undefined ? undefined : parseArguments(text, cwd);
    const client = perch();
    let digest = given;
    if (digest === undefined) {
      const approval = await client.approvals.get(id, { signal });
      if (!isJson && approval.status === "open") printApproval(session, approval);
      const question = args === undefined ? "Approve this call?" : `Approve it with ${JSON.stringify(args)} instead?`;
      if (approval.status === "open" && !(await terminal.confirm(question, yes === true))) return;
      digest = approval.digest;
    }
    const body = { digest, ...omitUndefined({ arguments: args }) };
    printDecided(session, await client.approvals.approve(id, body, { signal, ...codeHeaders(code) }));
  },
});

const reject = command({
  name: "approvals reject",
  summary: "Reject a call or a question. The model is told so, and the run goes on.",
  args: ["approval"],
  options: { reason: { type: "string", value: "TEXT", help: "What the model is told." }, code: codeOption },
  run: async (session, { approval: id }, { reason, code }) => {
    const options = { signal: session.signal, ...codeHeaders(code) };
    printDecided(session, await session.perch().approvals.reject(id, omitUndefined({ reason }), options));
  },
});

/** In the form of the schema: a text if it allows one, otherwise JSON. */
export function parseAnswer(text: string, parameters: Record<string, unknown> | undefined): unknown {
  const types = [parameters?.type ?? []].flat();
  if (types.includes("string")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const answer = command({
  name: "approvals answer",
  summary: "Answer a question of an agent. The run goes on.",
  details: "The answer is a text where the question wants one, otherwise JSON such as 3 or true.",
  args: ["approval", "answer..."],
  options: { code: codeOption },
  examples: ["perch approvals answer appr_01h455vb4pex5vsknk084sn02q blue"],
  run: async (session, { approval: id, answer: words }, { code }) => {
    if (words.length === 0) throw new UsageError("perch approvals answer: the answer is missing.");
    const { signal } = session;
    const client = session.perch();
    const { contents } = await client.approvals.get(id, { signal });
    const body = { answer: parseAnswer(words.join(" "), contents?.parameters) };
    printDecided(session, await client.approvals.answer(id, body, { signal, ...codeHeaders(code) }));
  },
});

export const approvalCommands = [list, show, approve, reject, answer];
