import { useState } from "react";
import type { LogLine } from "../../../api/logs-queries.ts";
import { Button } from "../../../parts/button.tsx";
import type { LogLines } from "../tail/log-lines.ts";

const toText = ({ timestamp, level, message }: LogLine): string => `${timestamp} ${level} ${message}`;

/** All lines that the page has, oldest first, with their times in UTC. */
export function CopyLines({ lines }: { readonly lines: LogLines }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(lines.all().map(toText).join("\n"));
      setSaid("Copied");
    } catch {
      setSaid("This browser does not let the page copy");
    }
    setTimeout(() => setSaid(""), 2000);
  };
  if (lines.count() === 0) return null;
  return (
    <>
      <span role="status" className="text-muted text-small">
        {said}
      </span>
      <Button onClick={() => void copy()}>Copy lines</Button>
    </>
  );
}
