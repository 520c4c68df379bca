import type { Approval } from "@perch/sdk";
import type { Session } from "../command.ts";
import { perchCommand } from "../perch-command.ts";
import { jsonText } from "./safe-text.ts";
import { coloured } from "./text.ts";

/** The first lines of a text that others wrote, as many as fit a terminal. `--json` has all of it. */
const maxShown = 500;
const truncate = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
const indented = (text: string): string => text.replaceAll(/^/gm, "    ");

function stateOf({ status, approvers, approved_by, decided_by }: Approval): string {
  if (status !== "open") return decided_by ? ` by ${decided_by.type} ${decided_by.name}` : "";
  return approvers > 1 ? `, ${approved_by.length} of ${approvers} have approved` : "";
}

function printHistory({ terminal }: Pick<Session, "terminal">, contents: NonNullable<Approval["contents"]>): void {
  for (const { text, calls } of contents.history) {
    if (text !== "") terminal.line(`  said       ${terminal.safe(truncate(text))}`);
    for (const { tool, arguments: args, result, failed } of calls) {
      const outcome = result === null ? "not made yet" : `${failed ? "failed: " : ""}${truncate(result)}`;
      terminal.line(
        `  called     ${terminal.safe(tool)} ${terminal.safe(truncate(jsonText(args)))}: ${terminal.safe(outcome)}`,
      );
    }
  }
}

/** The subject of a decision: the call or the question, why a person is asked, and the earlier steps of the run. */
export function printApproval({ terminal, time }: Pick<Session, "terminal" | "time">, approval: Approval): void {
  const { kind, contents, tool, agent_name, user_id, session_id, request_id } = approval;
  const title = kind === "question" ? `${agent_name} asks a person` : `${agent_name} wants to call ${tool}`;
  terminal.line(
    `${terminal.style("bold", terminal.safe(title))}  ${coloured(terminal, approval.status)}${terminal.safe(stateOf(approval))}`,
  );
  const row = (name: string, text: string) => terminal.line(`  ${name.padEnd(10)} ${terminal.safe(text)}`);
  row("why", approval.why);
  const asker = [user_id && `user ${user_id}`, session_id && `session ${session_id}`].filter(Boolean).join(", ");
  row("run", `${request_id}${asker ? ` of ${asker}` : ""}`);
  row("id", approval.id);
  row("expires", time(approval.expires_at));
  if (!contents) {
    row("contents", "hidden: they are for keys with the permission approve");
    return;
  }
  row("message", truncate(contents.message));
  printHistory({ terminal }, contents);
  if (contents.question !== null) row("question", contents.question);
  else
    terminal.line(
      `  arguments${approval.edited ? ", as a person changed them" : ""}\n${indented(jsonText(contents.arguments, 2))}`,
    );
  if (contents.answer !== undefined) row("answer", jsonText(contents.answer));
  if (contents.reason !== null) row("reason", contents.reason);
}

type Decidable = Pick<Approval, "id" | "kind"> & Partial<Pick<Approval, "second_factor">>;

/** The commands with which another approver can decide. */
export const decisionCommands = ({ id, kind, second_factor = false }: Decidable): string[] =>
  (kind === "question" ? [`answer ${id} ANSWER`, `reject ${id}`] : [`approve ${id}`, `reject ${id} --reason TEXT`]).map(
    (words) => `  ${perchCommand(`approvals ${words}`)}${second_factor ? " --code CODE" : ""}`,
  );
