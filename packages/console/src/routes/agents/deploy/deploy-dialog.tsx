import type { Agent } from "@perch/sdk";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { activeDeploymentsQuery } from "../../../api/deployments-queries.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { versionsQuery } from "../../../api/versions-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogActions } from "../../../parts/dialog-actions.tsx";
import { servedEnvironments } from "../live-deployments.ts";
import { useHasUnsaved } from "../unsaved-changes.ts";
import { draft, EnvironmentField, LabelField, SourceField, TrafficField } from "./deploy-fields.tsx";
import { DeployProblem } from "./deploy-problem.tsx";
import { uncertainOutcome } from "./deploy-progress.ts";
import { DraftFindings } from "./draft-findings.tsx";
import { GuardFields } from "./guard-fields.tsx";
import { noGuards, toGuards } from "./guard-values.ts";
import { nextLabel } from "./next-label.ts";
import { outcomeSentence } from "./outcome-sentence.ts";
import { useDeploy } from "./use-deploy.ts";

interface DeployDialogProps {
  readonly agent: Agent;
  readonly open: boolean;
  readonly onClose: () => void;
  /** An existing version. If absent, the draft becomes a new version. */
  readonly version?: string | undefined;
}

function DeployForm({ agent, onClose, version }: Omit<DeployDialogProps, "open">) {
  const { env } = useSearch({ strict: false });
  const { data: active = [] } = useQuery(activeDeploymentsQuery(agent.name));
  const { data: versions } = useInfiniteQuery(versionsQuery(agent.name));
  const labels = versions?.pages.flatMap(({ data }) => data.map((each) => each.version)) ?? [];
  const [environment, setEnvironment] = useState(env ?? "production");
  const [source, setSource] = useState(version ?? draft);
  const [typedLabel, setLabel] = useState<string>();
  const [traffic, setTraffic] = useState("100");
  const [guardValues, setGuardValues] = useState(noGuards);
  const isCanary = Number(traffic) < 100;
  const hasUnsaved = useHasUnsaved();
  const label = source === draft ? (typedLabel ?? nextLabel(labels)) : source;
  const deploy = useDeploy(agent);
  const problems = problemsByField(deploy.error);
  const served = servedEnvironments(active);
  const uncertain = deploy.variables && uncertainOutcome(deploy.error, deploy.variables);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isRedeployed = source !== draft;
    const trafficPercent = Number(traffic);
    const guards = isCanary ? toGuards(guardValues) : undefined;
    const deploying = { environment, version: label, trafficPercent, guards, isRedeployed };
    // Passed to `mutate`, so that it is not called after this form is gone, when it would close the next one.
    deploy.mutate(deploying, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <EnvironmentField
        value={environment}
        onChange={setEnvironment}
        known={served.map((one) => one.environment)}
        problem={problems.get("environment")}
      />
      <SourceField value={source} onChange={setSource} labels={labels} first={version} />
      {source === draft && <LabelField value={label} onChange={setLabel} problem={problems.get("version")} />}
      <TrafficField value={traffic} onChange={setTraffic} problem={problems.get("traffic_percent")} />
      {isCanary && <GuardFields values={guardValues} onChange={setGuardValues} problems={problems} />}
      {source === draft && <DraftFindings agent={agent} />}
      {source === draft && hasUnsaved && (
        <p className="text-table text-warning">
          Your unsaved changes to the definition are not part of it: save the draft first to deploy them.
        </p>
      )}
      <p role="status" className="text-table">
        {deploy.isPending
          ? "Checking the model, the tools and the limits; this takes up to 20 seconds."
          : (uncertain ?? outcomeSentence(environment, label, Number(traffic), served))}
      </p>
      {deploy.error && <DeployProblem error={deploy.error} />}
      <DialogActions>
        <Button kind="quiet" onClick={onClose}>
          {deploy.isPending ? "Close; the deployment goes on" : "Cancel"}
        </Button>
        <Button kind="primary" type="submit" working={deploy.isPending}>
          Deploy to {environment || "…"}
        </Button>
      </DialogActions>
    </form>
  );
}

/**
 * Deploys the draft or a version, and describes the result beforehand. It stays open until the outcome is known. If the user closes it, the
 * page shows the outcome.
 */
export const DeployDialog = ({ open, onClose, ...rest }: DeployDialogProps) => (
  <Dialog open={open} onClose={onClose} title={`Deploy ${rest.agent.name}`}>
    <DeployForm {...rest} onClose={onClose} />
  </Dialog>
);
