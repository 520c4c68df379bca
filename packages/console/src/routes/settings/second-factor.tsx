import { useQueryClient } from "@tanstack/react-query";
import { removeSecondFactor } from "../../api/second-factor-queries.ts";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Section } from "../../parts/section.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { meQuery, useMe } from "../../session/session.ts";
import { CodeForm } from "./second-factor/code-form.tsx";
import { Enrolment } from "./second-factor/enrolment.tsx";

const ForPeople = () => (
  <Section title="Second factor">
    <p className="text-table">
      A second factor belongs to an API key, and you are signed in as a person: you have none here. Your issuer may ask
      you for one when you sign in. For a change that needs a second factor, sign in with an API key that has one.
    </p>
  </Section>
);

/** The second factor of the key that is signed in. */
export function SecondFactor() {
  const { key, session } = useMe();
  const queryClient = useQueryClient();
  const changed = () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
  if (session?.person)
    return (
      <div className="mx-auto max-w-[1280px] px-4 pb-8">
        <ForPeople />
      </div>
    );
  return (
    <div className="mx-auto max-w-[1280px] px-4 pb-8">
      <Section title="Second factor">
        <p role="status" className="flex flex-wrap items-center gap-x-2 text-table">
          <StatusMark
            status={key.second_factor ? "active" : "cancelled"}
            word={key.second_factor ? "enrolled" : "not enrolled"}
          />
          <span>
            The key <OutsideText text={key.name} className="font-medium" />{" "}
            {key.second_factor ? "has a second factor." : "has no second factor."}
          </span>
        </p>
      </Section>
      {key.second_factor ? (
        <Section title="Remove">
          <p className="text-table">
            Without it, the key alone is enough again for changes to API keys, and agents that ask for a second factor
            refuse its changes.
          </p>
          <CodeForm
            label="Code"
            hint="Six digits from the app, or a recovery code. After five wrong codes none counts for 15 minutes."
            action="Remove second factor"
            kind="danger"
            onSubmit={async (code) => {
              await removeSecondFactor(code);
              await changed();
            }}
          />
        </Section>
      ) : (
        <Enrolment onConfirmed={changed} />
      )}
    </div>
  );
}
