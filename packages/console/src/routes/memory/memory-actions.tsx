import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { useCan } from "../../session/session.ts";
import { AddDialog } from "./add-dialog.tsx";
import { ClearDialog } from "./clear/clear-dialog.tsx";
import type { MemorySearchParams } from "./memory-search.ts";

interface MemoryActionsProps {
  readonly agent: string;
  readonly search: MemorySearchParams;
}

/** The actions that the signed-in user may take on an agent's memory. */
export function MemoryActions({ agent, search }: MemoryActionsProps) {
  const [open, setOpen] = useState<"add" | "clear">();
  const [canAdd, canClear] = [useCan("write"), useCan("delete")];
  const close = () => setOpen(undefined);
  return (
    <>
      {canClear && <Button onClick={() => setOpen("clear")}>Clear memory</Button>}
      {canAdd && (
        <Button kind="primary" onClick={() => setOpen("add")}>
          Add memory
        </Button>
      )}
      <AddDialog agent={agent} user={search.user} open={open === "add"} onClose={close} />
      <ClearDialog agent={agent} search={search} open={open === "clear"} onClose={close} />
    </>
  );
}
