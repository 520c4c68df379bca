import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { usePageKeys } from "../../../frame/page-keys.ts";
import { keepSearch } from "../../../parts/change-search.ts";
import type { Queue } from "../queue-context.ts";
import { idOfRow } from "./approval-row.tsx";
import { type ApprovalListRow, nextOpen } from "./merge-rows.ts";

const focusRow = (id: string): void => {
  const row = document.getElementById(idOfRow(id));
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
};

const afterDialogMs = 50;

/** Moves through the list: `j` and `k` open the next and the one before. */
export function useQueueKeys(rows: readonly ApprovalListRow[], selected: string | undefined): Queue {
  const navigate = useNavigate();
  const open = (id: string, ignoreBlocker = false) => {
    void navigate({
      to: "/approvals/$approval",
      params: { approval: id },
      search: keepSearch(),
      replace: selected !== undefined,
      resetScroll: false,
      ignoreBlocker,
    });
  };
  const close = () => void navigate({ to: "/approvals", search: keepSearch(), resetScroll: false });
  const move = (by: 1 | -1) => {
    const at = rows.findIndex(({ approval }) => approval.id === selected);
    const row = rows[at === -1 ? 0 : at + by];
    if (row) open(row.approval.id);
  };
  // A decision can take a while, and the approver can open another approval or leave meanwhile.
  const selectedNow = useRef(selected);
  useEffect(() => {
    selectedNow.current = selected;
    return () => {
      selectedNow.current = undefined;
    };
  }, [selected]);
  const openNext = (decided: string) => {
    const next = selectedNow.current === decided ? nextOpen(rows, decided) : undefined;
    // The typed text is part of the decision, so it is not lost.
    if (next !== undefined) open(next, true);
  };
  usePageKeys([
    { key: "j", what: "Open the next approval", run: () => move(1) },
    { key: "k", what: "Open the approval before", run: () => move(-1) },
  ]);
  // Closing an approval moves the focus to the list. After a decision, the dialog gives the focus back first.
  const before = useRef(selected);
  useEffect(() => {
    const row = selected ?? before.current;
    const hasMoved = selected !== before.current;
    before.current = selected;
    if (!hasMoved || row === undefined) return;
    const timer = setTimeout(() => focusRow(row), afterDialogMs);
    return () => clearTimeout(timer);
  }, [selected]);
  return { open: (id) => open(id), close, openNext };
}
