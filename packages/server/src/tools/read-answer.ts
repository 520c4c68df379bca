import { fitForModel, mostBytesRead, sizeInWords } from "./text-for-model.ts";

const textual =
  /^(text\/.+|[^/]+\/(.+\+)?(json|jsonl|x-ndjson|xml|yaml|x-yaml|javascript|x-javascript|x-www-form-urlencoded))$/;

const contentTypeOf = ({ headers }: Response) => {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((parameter) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(parameter)?.[1]).find(Boolean);
  return { type: type.trim(), charset: charset ?? "utf-8" };
};

/** How large a body says it is. Said of the compressed bytes, it tells nothing. */
function statedSize({ headers }: Response): number | undefined {
  const length = headers.get("content-length");
  return length !== null && /^\d+$/.test(length) && !headers.has("content-encoding") ? Number(length) : undefined;
}

async function readUpTo(response: Response, most: number): Promise<{ bytes: Buffer; complete: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the body, so that the rest is never sent.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > most) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, most), complete: size <= most };
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** A body as text that a model may be shown and a database can hold. Bytes that are no text are only counted. */
export async function readAnswer(response: Response): Promise<string> {
  const { type, charset } = contentTypeOf(response);
  const { bytes, complete } = await readUpTo(response, mostBytesRead);
  const stated = statedSize(response);
  if (type !== "" && !textual.test(type) && bytes.length > 0) {
    const size = complete ? bytes.length : stated;
    return `[${size === undefined ? `more than ${sizeInWords(mostBytesRead)}` : `${size} bytes`} of ${fitForModel(type)}]`;
  }
  const text = decode(bytes, charset);
  if (!complete) return fitForModel(text, stated ? sizeInWords(stated) : `more than ${sizeInWords(mostBytesRead)}`);
  return fitForModel(text);
}
