/**
 * The fenced blocks of a page, and how a test treats each of them:
 *
 * - `sh` is executed, in one shell for the whole page; `ts` and `js` are executed, as one program for each page.
 * - `json`, `text`, `http` or `yaml` right after one of these is its output (see compare-replies.ts).
 * - `json` after a line `<!-- body of: POST /v1/agents -->` must be a valid body of that operation.
 * - A block after a line `<!-- not executed: the reason -->` is skipped.
 * - A line `<!-- exit status: 1 -->` gives the exit status of a block of commands, if it is not 0.
 * - Any other block is a mistake in the page.
 */

export interface Block {
  /** The line of its fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly exitStatus: number;
}

/** A block that is executed, and the block below it with its output. */
export interface Step extends Block {
  readonly reply: Block | undefined;
}

export interface Page {
  readonly steps: readonly Step[];
  readonly bodies: readonly (Block & { readonly operation: string })[];
  readonly notExecuted: readonly { readonly line: number; readonly reason: string }[];
  /** Why nothing on this page is executed, if the page gives a reason: `<!-- page not executed: the reason -->`. */
  readonly pageNotExecuted: string | undefined;
  /** What is wrong with the page, in words. */
  readonly mistakes: readonly string[];
}

const executed = new Set(["sh", "ts", "js", "python"]);
const replies = new Set(["json", "text", "http", "yaml"]);

interface Fence extends Block {
  /** The last line above the fence that is not blank. */
  readonly lineAbove: string;
}

/** All fenced blocks of a page, in order. */
export function* fencesOf(markdown: string): Generator<Fence> {
  const lines = markdown.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const [, indent = "", language = ""] = /^( *)```(\w*)/.exec(lines[index] ?? "") ?? [];
    if (!lines[index]?.trimStart().startsWith("```")) continue;
    const end = lines.findIndex((line, at) => at > index && line === `${indent}\`\`\``);
    if (end < 0) throw new Error(`The block at line ${index + 1} has no end`);
    const text = lines.slice(index + 1, end).map((line) => `${line.slice(indent.length)}\n`);
    const lineAbove = lines.slice(0, index).findLast((line) => line.trim() !== "") ?? "";
    const exitStatus = Number(/^<!-- exit status: (\d+) -->$/.exec(lineAbove.trim())?.[1] ?? 0);
    yield { line: index + 1, language, text: text.join(""), lineAbove: lineAbove.trim(), exitStatus };
    index = end;
  }
}

export function readPage(markdown: string): Page {
  const steps: { -readonly [Key in keyof Step]: Step[Key] }[] = [];
  const bodies: Page["bodies"][number][] = [];
  const notExecuted: Page["notExecuted"][number][] = [];
  const mistakes: string[] = [];
  let previous: Fence | undefined;
  for (const fence of fencesOf(markdown)) {
    const { line, language, lineAbove } = fence;
    const [, reason] = /^<!-- not executed:(.*)-->$/.exec(lineAbove) ?? [];
    const [, operation] = /^<!-- body of: (.*) -->$/.exec(lineAbove) ?? [];
    const last = steps.at(-1);
    const isReply = lineAbove === "```" && last !== undefined && last.line === previous?.line;
    if (reason !== undefined) {
      if (reason.trim() === "") mistakes.push(`line ${line}: "not executed" needs a reason`);
      notExecuted.push({ line, reason: reason.trim() });
    } else if (operation !== undefined) bodies.push({ ...fence, operation });
    else if (executed.has(language)) steps.push({ ...fence, reply: undefined });
    else if (isReply && replies.has(language)) last.reply = fence;
    else
      mistakes.push(
        `line ${line}: this block${language && ` of ${language}`} is neither executed, nor right below a block that prints it, nor marked as not executed`,
      );
    previous = fence;
  }
  const [, pageNotExecuted] = /^<!-- page not executed: (.+) -->$/m.exec(markdown) ?? [];
  return { steps, bodies, notExecuted, pageNotExecuted, mistakes };
}
