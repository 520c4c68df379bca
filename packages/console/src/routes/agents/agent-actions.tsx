import type { Agent } from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { perch } from "../../api/perch.ts";
import { Button } from "../../parts/button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Menu, MenuItem } from "../../parts/menu.tsx";
import { useCan } from "../../session/session.ts";
import { DeployDialog } from "./deploy/deploy-dialog.tsx";
import { useAgentChanged } from "./use-agent-changed.ts";

type OpenDialog = "deploy" | "pause" | "delete" | undefined;

interface AgentDialogProps {
  readonly agent: Agent;
  readonly open: boolean;
  readonly onClose: () => void;
}

function PauseDialog({ agent, ...dialog }: AgentDialogProps) {
  const changed = useAgentChanged();
  return (
    <ConfirmDialog
      {...dialog}
      title={`Pause ${agent.name}`}
      description="New messages are refused with an error in every environment until the agent is resumed. Runs that are under way go on."
      action="Pause agent"
      onConfirm={async () => {
        await perch.agents.pause(agent.id);
        await changed();
      }}
    />
  );
}

function DeleteDialog({ agent, ...dialog }: AgentDialogProps) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      {...dialog}
      title={`Delete ${agent.name}`}
      description="The agent is deleted at once, with its versions, deployments and memories. Keys that are limited to it are revoked. This cannot be undone."
      action="Delete agent"
      kind="danger"
      typed={agent.name}
      onConfirm={async () => {
        await perch.agents.delete(agent.id);
        await navigate({ to: "/agents" });
        queryClient.removeQueries({ queryKey: ["agents", "one"] });
        await queryClient.invalidateQueries({ queryKey: ["agents", "list"] });
      }}
    />
  );
}

/** The actions that the signed-in user may take on this agent. */
export function AgentActions({ agent }: { readonly agent: Agent }) {
  const [open, setOpen] = useState<OpenDialog>();
  const close = () => setOpen(undefined);
  const [canWrite, canDelete] = [useCan("write"), useCan("delete")];
  const changed = useAgentChanged();
  const resume = useMutation({ mutationFn: () => perch.agents.resume(agent.id), onSuccess: changed });
  // Pages with their own primary action, such as saving or sending.
  const isPrimary = !useLocation({ select: ({ pathname }) => /\/(definition|playground|security)$/.test(pathname) });
  const isPaused = agent.status === "paused";
  return (
    <>
      {canWrite && isPaused && (
        <Button onClick={() => resume.mutate()} working={resume.isPending}>
          Resume agent
        </Button>
      )}
      {isPaused && resume.error && <ErrorNote error={resume.error} />}
      {canWrite && (
        <Button kind={isPrimary ? "primary" : "plain"} onClick={() => setOpen("deploy")}>
          Deploy agent
        </Button>
      )}
      {((canWrite && !isPaused) || canDelete) && (
        <Menu
          trigger={
            <Button kind="plain" aria-label="More actions" className="px-2">
              <Icon name="down" />
            </Button>
          }
        >
          {canWrite && !isPaused && <MenuItem onSelect={() => setOpen("pause")}>Pause agent</MenuItem>}
          {canDelete && (
            <MenuItem onSelect={() => setOpen("delete")}>
              <span className="text-danger">Delete agent</span>
            </MenuItem>
          )}
        </Menu>
      )}
      <DeployDialog agent={agent} open={open === "deploy"} onClose={close} />
      <PauseDialog agent={agent} open={open === "pause"} onClose={close} />
      <DeleteDialog agent={agent} open={open === "delete"} onClose={close} />
    </>
  );
}
