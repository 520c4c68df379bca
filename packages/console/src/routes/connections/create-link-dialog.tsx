import type { ConnectionWithLink } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { agentQuery } from "../../api/agents-queries.ts";
import { connectionsChanged } from "../../api/connections-queries.ts";
import { perch } from "../../api/perch.ts";
import { problemsByField } from "../../api/problems-by-field.ts";
import { exactTime } from "../../parts/ago.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Select, TextInput } from "../../parts/field.tsx";
import { SuggestedInput } from "../../parts/suggested-input.tsx";
import { textLinkClass } from "../../parts/text-link.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { MakeOnceForm } from "../../session/make-once-form.tsx";
import { ShownValue } from "../../session/shown-value.tsx";
import { type MadeOnce, useShownOnce } from "../../session/use-shown-once.ts";
import { userTools } from "./user-tools.ts";

interface CreateLinkDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly agent: string;
  /** The user of a connection that needs a new consent. */
  readonly user?: string;
  readonly tool?: string;
}

interface FormProps extends Omit<CreateLinkDialogProps, "open" | "onClose"> {
  readonly link: MadeOnce<ConnectionWithLink>;
}

function CreateLinkForm({ agent, user: givenUser = "", tool: givenTool, link }: FormProps) {
  const { env } = useSearch({ strict: false });
  const { data } = useQuery(agentQuery(agent));
  const tools = userTools(data?.tools ?? []);
  const [user, setUser] = useState(givenUser);
  const [typedTool, setTool] = useState(givenTool);
  const [environment, setEnvironment] = useState(env ?? "production");
  const [returnUrl, setReturnUrl] = useState("");
  const tool = typedTool ?? tools[0]?.name ?? "";
  const returnUrls = tools.find(({ name }) => name === tool)?.returnUrls ?? [];
  const problems = problemsByField(link.error);
  const create = async () => {
    const body = { user_id: user, tool, environment, return_url: returnUrl || undefined };
    const created = await perch.connections.create(agent, body);
    void connectionsChanged();
    return created;
  };
  return (
    <MakeOnceForm action="Create link" made={link} make={create}>
      <Field
        label="User"
        hint="Your application's id for the user, as in context.user_id of a message."
        problem={problems.get("user_id")}
      >
        {(ids) => (
          <TextInput {...ids} required maxLength={256} value={user} onChange={({ target }) => setUser(target.value)} />
        )}
      </Field>
      <Field label="Tool" hint="A tool that is called with the user's account." problem={problems.get("tool")}>
        {(ids) => (
          <SuggestedInput
            {...ids}
            required
            maxLength={64}
            value={tool}
            onChange={setTool}
            suggestions={tools.map(({ name }) => name)}
          />
        )}
      </Field>
      <Field
        label="Environment"
        hint="The tool is taken from the version that is live there, or from the draft if nothing is deployed."
        problem={problems.get("environment")}
      >
        {(ids) => (
          <TextInput
            {...ids}
            required
            maxLength={63}
            value={environment}
            onChange={({ target }) => setEnvironment(target.value)}
          />
        )}
      </Field>
      {returnUrls.length > 1 && (
        <Field label="The user returns to" problem={problems.get("return_url")}>
          {(ids) => (
            <Select
              {...ids}
              value={returnUrl}
              onChange={({ target }) => setReturnUrl(target.value)}
              className="max-w-full"
            >
              {returnUrls.map((url, index) => (
                <option key={url} value={index === 0 ? "" : url}>
                  {visibleText(url)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
    </MakeOnceForm>
  );
}

/** A link for one user. Only that user's application can complete the connection. */
export function CreateLinkDialog({ open, onClose, ...rest }: CreateLinkDialogProps) {
  const link = useShownOnce<ConnectionWithLink>(onClose);
  const { value: created, close } = link;
  return (
    <Dialog
      open={open}
      onClose={close}
      isFirm={link.isFirm}
      title="Create link"
      description="With this link, one user allows the agent to use their account with one tool. Earlier links of the same user and tool no longer work."
    >
      {created ? (
        <ShownValue what="the link" value={created.link} onClose={close}>
          <p className="text-muted text-table">
            Hand it to the user: it works once, until {exactTime(new Date(created.link_expires_at))}. The user consents
            and returns to your application, which confirms who came back; runs use the account only after that.{" "}
            <a href="/docs#tag/connections" target="_blank" rel="noreferrer" className={textLinkClass}>
              How an application confirms
            </a>
          </p>
        </ShownValue>
      ) : (
        <CreateLinkForm {...rest} link={link} />
      )}
    </Dialog>
  );
}
