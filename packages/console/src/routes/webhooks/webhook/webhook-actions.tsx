import type { Webhook } from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Menu, MenuItem } from "../../../parts/menu.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { useCan } from "../../../session/session.ts";
import { EditDialog } from "../form/edit-dialog.tsx";
import { RedeliverDialog } from "./redeliver-dialog.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";

type OpenDialog = "edit" | "disable" | "rotate" | "redeliver" | "delete" | undefined;

interface WebhookDialogProps {
  readonly webhook: Webhook;
  readonly open: boolean;
  readonly onClose: () => void;
}

function useChanged(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ["webhooks"] });
}

function DisableDialog({ webhook, ...dialog }: WebhookDialogProps) {
  const changed = useChanged();
  return (
    <ConfirmDialog
      {...dialog}
      title="Disable webhook"
      description="Nothing more is delivered until it is enabled again: pending deliveries are cancelled when they are due, and events meanwhile are not delivered later."
      action="Disable webhook"
      onConfirm={async () => {
        await perch.webhooks.update(webhook.id, { enabled: false });
        await changed();
      }}
    />
  );
}

function DeleteDialog({ webhook, ...dialog }: WebhookDialogProps) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      {...dialog}
      title="Delete webhook"
      description={`The webhook to ${visibleText(webhook.url)} is deleted with its log of deliveries, and its pending deliveries are cancelled. This cannot be undone.`}
      action="Delete webhook"
      kind="danger"
      onConfirm={async () => {
        await perch.webhooks.delete(webhook.id);
        await navigate({ to: "/webhooks" });
        queryClient.removeQueries({ queryKey: ["webhooks", "one", webhook.id] });
        await queryClient.invalidateQueries({ queryKey: ["webhooks", "list"] });
      }}
    />
  );
}

/** A test is delivered like any event, so it leads to its delivery. */
function SendTest({ webhook, setError }: { readonly webhook: Webhook; readonly setError: (error: unknown) => void }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const test = useMutation({
    onMutate: () => setError(undefined),
    mutationFn: () => perch.webhooks.test(webhook.id),
    onSuccess: async (delivery) => {
      void queryClient.invalidateQueries({ queryKey: ["webhooks", "deliveries"] });
      await navigate({
        to: "/webhooks/$webhook/deliveries/$delivery",
        params: { webhook: webhook.id, delivery: delivery.id },
      });
    },
    onError: setError,
  });
  return (
    <Button kind="primary" working={test.isPending} onClick={() => test.mutate()}>
      Send test event
    </Button>
  );
}

/**
 * The actions that the signed-in user may take on this webhook. A webhook with approval links can only be changed by users with `manage`.
 */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const [open, setOpen] = useState<OpenDialog>();
  const [error, setError] = useState<unknown>();
  const changed = useChanged();
  const enable = useMutation({
    onMutate: () => setError(undefined),
    mutationFn: () => perch.webhooks.update(webhook.id, { enabled: true }),
    onSuccess: changed,
    onError: setError,
  });
  const [canWrite, canDelete, canManage] = [useCan("write"), useCan("delete"), useCan("manage")];
  const canChange = canWrite && (canManage || !webhook.approval_links);
  const isEnabled = webhook.status === "enabled";
  const dialog = (name: OpenDialog) => ({ webhook, open: open === name, onClose: () => setOpen(undefined) });
  return (
    <>
      {canChange && !isEnabled && (
        <Button working={enable.isPending} onClick={() => enable.mutate()}>
          Enable webhook
        </Button>
      )}
      {canChange && <Button onClick={() => setOpen("edit")}>Edit webhook</Button>}
      {canWrite && <SendTest webhook={webhook} setError={setError} />}
      {(canWrite || canDelete) && (
        <Menu
          trigger={
            <Button aria-label="More actions" className="px-2">
              <Icon name="down" />
            </Button>
          }
        >
          {canWrite && <MenuItem onSelect={() => setOpen("redeliver")}>Redeliver failed events</MenuItem>}
          {canChange && <MenuItem onSelect={() => setOpen("rotate")}>Rotate signing secret</MenuItem>}
          {canChange && isEnabled && <MenuItem onSelect={() => setOpen("disable")}>Disable webhook</MenuItem>}
          {canDelete && (
            <MenuItem onSelect={() => setOpen("delete")}>
              <span className="text-danger">Delete webhook</span>
            </MenuItem>
          )}
        </Menu>
      )}
      {error !== undefined && (
        <div className="basis-full">
          <ErrorNote error={error} />
        </div>
      )}
      <EditDialog {...dialog("edit")} />
      <DisableDialog {...dialog("disable")} />
      <RotateDialog {...dialog("rotate")} />
      <RedeliverDialog {...dialog("redeliver")} />
      <DeleteDialog {...dialog("delete")} />
    </>
  );
}
