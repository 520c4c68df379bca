const [quote, backslash, comma, brace, bracket] = ['"', "\\", ",", "{", "["].map((each) => each.charCodeAt(0));

/** Where the text that begins at `start` ends. */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === backslash) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
}

/**
 * Whether a JSON text has more values than this: objects, lists and what they hold. Reads the text alone, because
 * parsing and judging it costs what its values cost. Counts an empty object or list as two.
 */
export function hasMoreValues(json: string, most: number): boolean {
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfText(json, at);
    else if (code === comma || code === brace || code === bracket) {
      values++;
      if (values > most) return true;
    }
  }
  return false;
}
