import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { type Readable, Writable } from "node:stream";
import { styleText } from "node:util";
import { createSafeStream, safeText } from "./output/safe-text.ts";
import { wrapText } from "./output/wrap.ts";
import { Problem } from "./problem.ts";

export type Style = Parameters<typeof styleText>[0];

/**
 * Input and output of a command. Results go to standard output, everything else to standard error. All output is made
 * safe first: only the control sequences of `style` get through.
 */
export interface Terminal {
  /** One line of the result. */
  readonly line: (text?: string) => void;
  /** Part of a line of the result, for a stream of tokens. */
  readonly write: (text: string) => void;
  /** Progress and notes, which are not part of the result. On a terminal, lines are broken between words, but not indented ones: commands. */
  readonly note: (text: string) => void;
  /**
   * Draws a line on standard error over the one before; the empty text removes it. Undefined if lines cannot be
   * redrawn.
   */
  readonly status: ((text: string) => void) | undefined;
  readonly style: (style: Style, text: string) => string;
  /** A part of a line made safe by itself, so that it cannot hide the text beside it. */
  readonly safe: (text: string) => string;
  /** How many columns a text takes. */
  readonly widthOf: (text: string) => number;
  /** The text without its styles. */
  readonly plain: (text: string) => string;
  /**
   * Breaks lines between words if the result goes to a terminal. Continuation lines are indented by `hanging` columns.
   */
  readonly wrap: (text: string, hanging?: number) => string;
  readonly isInteractive: boolean;
  /** Whether a user can type, even if the result goes elsewhere. */
  readonly isInputInteractive: boolean;
  readonly columns: number;
  /** How long a line of a table may be: as wide as the terminal, and without a limit in a pipe. */
  readonly lineLimit: number;
  /** True if the user confirms. Without a terminal, throws unless `--yes` was given. */
  readonly confirm: (question: string, yes: boolean) => Promise<boolean>;
  /** Reads a line without showing it. */
  readonly secret: (prompt: string) => Promise<string>;
  readonly questions: (prompt: string) => Questions;
  readonly readAll: () => Promise<string>;
}

/** The lines that the user types, one for each prompt. */
export interface Questions extends AsyncIterable<string> {
  /**
   * Asks a question in between, and returns the line; undefined if the input ends instead. Text that was typed before
   * the question does not answer it. `draft` is on the line already, to be edited.
   */
  readonly ask: (question: string, draft?: string) => Promise<string | undefined>;
}

type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Stream;
  readonly stderr: Stream;
}

/** https://no-color.org: any value but the empty one. FORCE_COLOR is for those who pipe into a pager. */
function hasColour({ NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv, stdout: Stream): boolean {
  if (NO_COLOR) return false;
  if (FORCE_COLOR && FORCE_COLOR !== "0") return true;
  return stdout.isTTY === true && TERM !== "dumb";
}

/** Longer lines are hard to read. */
const maxProseColumns = 80;

const eraseLine = "\r\u001b[K";

function createStatus(stderr: Stream, { TERM }: NodeJS.ProcessEnv): Terminal["status"] {
  if (stderr.isTTY !== true || TERM === "dumb") return undefined;
  let isDrawn = false;
  return (text) => {
    if (text === "" && !isDrawn) return;
    isDrawn = text !== "";
    // A line that wraps could not be erased.
    const line = safeText(text)
      .replaceAll(/\s+/g, " ")
      .slice(0, (stderr.columns || 80) - 1);
    stderr.write(`${eraseLine}${line}`);
  };
}

/** One line; empty if the user presses ctrl-c or ctrl-d instead. */
async function ask(input: Readable, output: Writable, prompt: string): Promise<string> {
  const reader = createInterface({ input, output, terminal: true });
  const ended = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
  const answered = reader.question(prompt).catch(() => "");
  try {
    return (await Promise.race([answered, ended])).trim();
  } finally {
    reader.close();
  }
}

/**
 * Styles are written with a mark that others cannot guess, so that they can be distinguished from sequences in text of
 * others, and become real sequences at the very end.
 */
function createStyles() {
  const begin = `\u001b${randomBytes(8).toString("hex")}[`;
  const marked = new RegExp(String.raw`(\x1b${begin.slice(1, -1)}\[[\d;]*m)`);
  const mapParts = (text: string, toPart: (mark: string) => string): string =>
    text
      .split(marked)
      .map((part, index) => (index % 2 === 1 ? toPart(part) : safeText(part)))
      .join("");
  return {
    style: (style: Style, text: string): string => {
      const [open = "", close = ""] = styleText(style, "x", { validateStream: false }).split("x");
      return [open, text, close]
        .map((part, index) => (index === 1 ? part : part.replaceAll("\u001b[", begin)))
        .join("");
    },
    safe: (text: string) => mapParts(text, (mark) => mark),
    plain: (text: string) => mapParts(text, () => ""),
    toOutput: (text: string) => mapParts(text, (mark) => `\u001b[${mark.slice(begin.length)}`),
  };
}

function createQuestions(
  { stdin, stderr }: Pick<Streams, "stdin" | "stderr">,
  isInteractive: boolean,
  prompt: string,
): Questions {
  const reader = createInterface({ input: stdin, output: stderr, terminal: isInteractive, prompt });
  const lines: string[] = [];
  let isClosed = false;
  let wake: () => void = () => {};
  reader.on("line", (line) => {
    lines.push(line);
    wake();
  });
  reader.on("close", () => {
    isClosed = true;
    wake();
  });
  // A terminal in raw mode sends no signal, so a command that waits for a run must learn of ctrl-c in another way.
  reader.on("SIGINT", () => {
    reader.close();
    process.emit("SIGINT", "SIGINT");
  });
  const nextLine = async (shown: string): Promise<string | undefined> => {
    if (isInteractive && !isClosed) {
      reader.setPrompt(shown);
      reader.prompt();
    }
    if (lines.length === 0 && !isClosed)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    const line = lines.shift();
    // Ctrl-d leaves the cursor behind the prompt.
    if (line === undefined && isInteractive) stderr.write("\n");
    return line;
  };
  return {
    ask: (question, draft) => {
      lines.splice(0);
      const answer = nextLine(safeText(question));
      if (draft !== undefined && !isClosed) reader.write(safeText(draft));
      return answer;
    },
    [Symbol.asyncIterator]: async function* () {
      try {
        for (let line = await nextLine(prompt); line !== undefined; line = await nextLine(prompt)) yield line;
      } finally {
        // Closes the reader, because an open reader waits for the next line and the process would not end.
        reader.close();
      }
    },
  };
}

export function createTerminal({ stdin, stdout, stderr }: Streams, env: NodeJS.ProcessEnv): Terminal {
  const isColoured = hasColour(env, stdout);
  const isInteractive = stdin.isTTY === true && stdout.isTTY === true;
  const { style, safe, plain, toOutput } = createStyles();
  const stream = createSafeStream();
  const widthOf = (text: string) => plain(text).length;
  const limitOf = ({ isTTY, columns }: Stream): number => (isTTY === true ? columns || 80 : Number.POSITIVE_INFINITY);
  const proseColumns = stderr.isTTY === true ? Math.min(limitOf(stderr), maxProseColumns) : Number.POSITIVE_INFINITY;
  const wrapNote = (text: string): string =>
    text
      .split("\n")
      .map((line) => (line.startsWith("  ") ? line : wrapText(line, proseColumns, widthOf)))
      .join("\n");
  return {
    line: (text = "") => void stdout.write(`${stream.end()}${toOutput(text)}\n`),
    write: (text) => void stdout.write(stream.push(text)),
    note: (text) => void stderr.write(`${toOutput(wrapNote(text))}\n`),
    status: createStatus(stderr, env),
    style: (name, text) => (isColoured ? style(name, text) : text),
    safe,
    widthOf,
    plain,
    wrap: (text, hanging) => wrapText(text, limitOf(stdout), widthOf, hanging),
    isInteractive,
    isInputInteractive: stdin.isTTY === true,
    // Some terminals report 0.
    columns: stdout.columns || 80,
    lineLimit: limitOf(stdout),
    confirm: async (question, yes) => {
      if (yes) return true;
      if (!isInteractive) throw new Problem(`${question} There is no terminal to ask on.`, "Give --yes to go on.");
      return /^y(es)?$/i.test(await ask(stdin, stderr, `${safeText(question)} [y/N] `));
    },
    secret: async (prompt) => {
      const discarded = new Writable({ write: (_, __, done) => done() });
      // The terminal's echo is turned off before the prompt appears.
      const answer = ask(stdin, discarded, "");
      stderr.write(prompt);
      const text = await answer;
      stderr.write("\n");
      return text;
    },
    questions: (prompt) => createQuestions({ stdin, stderr }, isInteractive, prompt),
    readAll: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer));
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}
