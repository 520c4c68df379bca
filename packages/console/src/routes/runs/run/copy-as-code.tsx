import type { Invocation } from "@perch/sdk";
import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Menu, MenuItem } from "../../../parts/menu.tsx";
import { toCurl, toPython, toTypeScript } from "./run-as-code.ts";

const forms = [
  ["curl", toCurl],
  ["TypeScript SDK", toTypeScript],
  ["Python SDK", toPython],
] as const;

interface CopyAsCodeProps {
  readonly agent: string;
  readonly run: Invocation;
}

/** The request of the run, to send from elsewhere. The key is named, never written. */
export function CopyAsCode({ agent, run }: CopyAsCodeProps) {
  const [copied, setCopied] = useState<string>();
  const copy = async (name: string, code: string) => {
    await navigator.clipboard.writeText(code);
    setCopied(name);
    setTimeout(() => setCopied(undefined), 1500);
  };
  return (
    <>
      <Menu
        trigger={
          <Button>
            {copied === undefined ? "Copy as" : "Copied"}
            <Icon name={copied === undefined ? "down" : "check"} className="size-3.5" />
          </Button>
        }
      >
        {forms.map(([name, toCode]) => (
          <MenuItem key={name} onSelect={() => void copy(name, toCode(location.origin, agent, run))}>
            {name}
          </MenuItem>
        ))}
      </Menu>
      <span role="status" className="sr-only">
        {copied !== undefined && `Copied as ${copied}`}
      </span>
    </>
  );
}
