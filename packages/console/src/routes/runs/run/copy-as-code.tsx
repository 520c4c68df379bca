import type { Invocation } from "@perch/sdk";
import { Button } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Menu, MenuItem } from "../../../parts/menu.tsx";
import { useCopy } from "../../../parts/use-copy.ts";
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
  const { copy, isCopied, outcome } = useCopy();
  return (
    <>
      <Menu
        trigger={
          <Button>
            {outcome || "Copy as"}
            <Icon name={isCopied ? "check" : "down"} className="size-3.5" />
          </Button>
        }
      >
        {forms.map(([name, toCode]) => (
          <MenuItem key={name} onSelect={() => copy(toCode(location.origin, agent, run))}>
            {name}
          </MenuItem>
        ))}
      </Menu>
      <span role="status" className="sr-only">
        {outcome}
      </span>
    </>
  );
}
