import type { ApiKey } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { successorQuery } from "../../../api/keys-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Menu, MenuItem } from "../../../parts/menu.tsx";
import { BeginMfaDialog } from "./begin-mfa-dialog.tsx";
import { ChangeKeyDialog } from "./change-key-dialog.tsx";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";
import { RotateKeyDialog } from "./rotate-key-dialog.tsx";

type OpenDialog = "change" | "rotate" | "mfa" | "revoke" | undefined;

/** The actions for a key in its state. A revoked key stays revoked, and a rotated one has a successor to rotate. */
export function KeyActions({ apiKey }: { readonly apiKey: ApiKey }) {
  const [open, setOpen] = useState<OpenDialog>();
  const { data: successor } = useQuery(successorQuery(apiKey.id));
  const dialog = { apiKey, onClose: () => setOpen(undefined) };
  const isActive = apiKey.status === "active";
  return (
    <>
      {isActive && !successor && <Button onClick={() => setOpen("rotate")}>Rotate key</Button>}
      {apiKey.status !== "revoked" && (
        <>
          <Button onClick={() => setOpen("change")}>Change key</Button>
          <Menu
            trigger={
              <Button aria-label="More actions" className="px-2">
                <Icon name="down" />
              </Button>
            }
          >
            {isActive && <MenuItem onSelect={() => setOpen("mfa")}>Begin second factor</MenuItem>}
            <MenuItem onSelect={() => setOpen("revoke")}>
              <span className="text-danger">Revoke key</span>
            </MenuItem>
          </Menu>
        </>
      )}
      <RotateKeyDialog {...dialog} open={open === "rotate"} />
      <ChangeKeyDialog {...dialog} open={open === "change"} />
      <BeginMfaDialog {...dialog} open={open === "mfa"} />
      <RevokeKeyDialog {...dialog} open={open === "revoke"} />
    </>
  );
}
