import {
  ActionRequiredError,
  type Approval,
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  type Perch,
  type PerchError,
  UnauthorizedError,
} from "@perch/sdk";
import type { Session } from "./command.ts";
import { parseAnswer } from "./commands/approvals.ts";
import { decisionCommands, printApproval } from "./output/print-approval.ts";
import type { ActionRequired } from "./output/print-run.ts";
import { inPlainWords } from "./plain-words.ts";
import { errorText } from "./report-error.ts";
import type { Questions } from "./terminal.ts";

interface Asking {
  readonly session: Session;
  readonly client: Perch;
  readonly questions: Questions;
}

/** The input ended: the run waits for somebody else. */
class InputEnded extends Error {}

async function ask({ questions }: Asking, question: string, draft?: string): Promise<string> {
  const line = await questions.ask(question, draft);
  if (line === undefined) throw new InputEnded();
  return line.trim();
}

/** Arguments from a line that has the present ones to begin with. Undefined: they are no JSON object. */
async function askForArguments(asking: Asking, { contents }: Approval): Promise<Record<string, unknown> | undefined> {
  const line = await ask(asking, "arguments: ", JSON.stringify(contents?.arguments ?? {}));
  try {
    const given: unknown = JSON.parse(line);
    if (typeof given === "object" && given !== null && !Array.isArray(given)) return given as Record<string, unknown>;
  } catch {}
  asking.session.terminal.note("That is not a JSON object. Nothing was decided.");
  return undefined;
}

async function optionsOf(asking: Asking, { second_factor }: Approval) {
  const { signal } = asking.session;
  if (!second_factor) return { signal };
  let code = "";
  while (code === "") code = await ask(asking, "code of your second factor: ");
  return { signal, headers: { "x-mfa-code": code } };
}

/** One question to a person, and what it decides. Undefined: nothing yet. */
async function decideCall(asking: Asking, approval: Approval): Promise<Approval | undefined> {
  const { approvals } = asking.client;
  const { id, digest } = approval;
  const word = (await ask(asking, "approve? [y]es / [e]dit / [n]o ")).toLowerCase();
  if (/^y(es)?$/.test(word)) return approvals.approve(id, { digest }, await optionsOf(asking, approval));
  if (/^n(o)?$/.test(word)) {
    const reason = await ask(asking, "reason, for the model (empty: none): ");
    return approvals.reject(id, reason === "" ? {} : { reason }, await optionsOf(asking, approval));
  }
  if (!/^e(dit)?$/.test(word)) return undefined;
  const args = await askForArguments(asking, approval);
  return args && approvals.approve(id, { digest, arguments: args }, await optionsOf(asking, approval));
}

async function answerQuestion(asking: Asking, approval: Approval): Promise<Approval | undefined> {
  const parameters = approval.contents?.parameters;
  const choices = Array.isArray(parameters?.enum) ? ` (${parameters.enum.join(", ")})` : "";
  const line = await ask(asking, `answer${choices}: `);
  if (line === "") return undefined;
  const body = { answer: parseAnswer(line, parameters) };
  return asking.client.approvals.answer(approval.id, body, await optionsOf(asking, approval));
}

const isWrongCode = (error: unknown): error is UnauthorizedError =>
  error instanceof UnauthorizedError && /^This (code|step-up token) /.test(error.shortMessage);

/** The key lacks the permission or a second factor, or no code of it counts for a while. */
const mayNotDecide = (error: unknown): error is PerchError =>
  error instanceof ForbiddenError ||
  (error instanceof UnauthorizedError && /^Too many wrong codes/.test(error.shortMessage));

/** Asks until there is a decision. Undefined: this key may not decide. */
async function decide(asking: Asking, approval: Approval): Promise<Approval | undefined> {
  const { terminal } = asking.session;
  for (;;) {
    try {
      const decided = await (approval.kind === "question" ? answerQuestion : decideCall)(asking, approval);
      if (decided) return decided;
    } catch (error) {
      if (mayNotDecide(error)) {
        terminal.note(inPlainWords(error.shortMessage));
        return undefined;
      }
      // Somebody else was faster, or it has expired.
      if (error instanceof ConflictError) {
        terminal.note(inPlainWords(error.shortMessage));
        return asking.client.approvals.get(approval.id, { signal: asking.session.signal });
      }
      if (!(error instanceof InvalidRequestError || isWrongCode(error))) throw error;
      terminal.note(terminal.style("red", isWrongCode(error) ? error.shortMessage : errorText(error)));
    }
  }
}

async function askAbout(asking: Asking, action: ActionRequired["approvals"][number]): Promise<void> {
  const { session, client } = asking;
  const { terminal, signal } = session;
  let approval: Approval | undefined;
  const leaveToOthers = (why: string) =>
    terminal.note([`${why} Somebody else can decide:`, ...decisionCommands(approval ?? action)].join("\n"));
  try {
    approval = await client.approvals.get(action.id, { signal });
  } catch (error) {
    if (!(error instanceof ForbiddenError || error instanceof NotFoundError)) throw error;
    return leaveToOthers(`${terminal.safe(action.tool)} waits for a person, and this key cannot see what for.`);
  }
  if (approval.status !== "open") return;
  printApproval(session, approval);
  if (!approval.contents) return leaveToOthers("This key may not decide.");
  if (!approval.can_decide) return leaveToOthers("This key started the run, so it may not decide.");
  const decided = await decide(asking, approval);
  if (!decided) return leaveToOthers("It waits.");
  if (decided.status === "open")
    return leaveToOthers(`${decided.approved_by.length} of ${decided.approvers} have approved.`);
  terminal.note(terminal.style("dim", `${decided.id} is ${decided.status}.`));
}

/** Lets the person at the terminal decide what a run waits for, as far as their key may. What is left is waited for. */
export async function askForDecision(asking: Asking, event: ActionRequired): Promise<void> {
  try {
    for (const action of event.approvals) await askAbout(asking, action);
  } catch (error) {
    if (!(error instanceof InputEnded)) throw error;
    const details = [
      { field: "request_id", error: event.request_id },
      ...event.approvals.map(({ id }) => ({ field: "approval_id", error: id })),
    ];
    throw new ActionRequiredError({ code: "action_required", message: event.message, details });
  }
}
