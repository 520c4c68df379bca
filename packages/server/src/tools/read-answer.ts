import { fitForModel, formatBytes, maxBytesRead } from "./text-for-model.ts";

const textual =
  /^(text\/.+|[^/]+\/(.+\+)?(json|jsonl|x-ndjson|xml|yaml|x-yaml|javascript|x-javascript|x-www-form-urlencoded))$/;

const contentTypeOf = ({ headers }: Response) => {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((parameter) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(parameter)?.[1]).find(Boolean);
  return { type: type.trim(), charset: charset ?? "utf-8" };
};

/** The Content-Length, unless it is that of a compressed body. */
function declaredSize({ headers }: Response): number | undefined {
  const length = headers.get("content-length");
  return length !== null && /^\d+$/.test(length) && !headers.has("content-encoding") ? Number(length) : undefined;
}

async function readUpTo(response: Response, maxBytes: number): Promise<{ bytes: Buffer; complete: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the body, so that the rest is never sent.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), complete: size <= maxBytes };
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** A body as text that a model may be shown and a database can hold. Binary bodies are only described by their size. */
export async function readResponseText(response: Response): Promise<string> {
  const { type, charset } = contentTypeOf(response);
  const { bytes, complete } = await readUpTo(response, maxBytesRead);
  const declared = declaredSize(response);
  if (type !== "" && !textual.test(type) && bytes.length > 0) {
    const size = complete ? bytes.length : declared;
    return `[${size === undefined ? `more than ${formatBytes(maxBytesRead)}` : `${size} bytes`} of ${fitForModel(type)}]`;
  }
  const text = decode(bytes, charset);
  if (!complete) return fitForModel(text, declared ? formatBytes(declared) : `more than ${formatBytes(maxBytesRead)}`);
  return fitForModel(text);
}
