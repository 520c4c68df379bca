import type { Approval } from "@perch/sdk";
import { ContentView } from "../../../parts/content-view.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { visibleText } from "../../../parts/visible-text.ts";

type Contents = NonNullable<Approval["contents"]>;
type Step = Contents["history"][number];

/** An earlier call, folded into one line that the approver can open. */
const CallBefore = ({ call }: { readonly call: Step["calls"][number] }) => (
  <details className="rounded border border-line">
    <summary className="cursor-pointer px-3 py-1 text-table [overflow-wrap:anywhere]">
      {call.result === null ? "Called" : call.failed ? "Failed: called" : "Called"}{" "}
      <code className="font-mono text-small">{visibleText(call.tool)}</code>
    </summary>
    <div className="flex flex-col gap-2 border-line border-t px-3 py-2">
      <ContentView title={`Arguments of ${visibleText(call.tool)}`} what="the arguments" value={call.arguments} />
      {call.result !== null && (
        <ContentView title={`Result of ${visibleText(call.tool)}`} what="the result" value={call.result} />
      )}
    </div>
  </details>
);

/** The history of the run: the message that started it, and the model's texts and calls since. */
export const RunHistory = ({ contents }: { readonly contents: Contents }) => (
  <section className="flex flex-col gap-2">
    <h2 className="text-body">The conversation so far</h2>
    <ol className="flex flex-col gap-2">
      <li>
        <p className="text-muted text-small">Message</p>
        <OutsideText block text={contents.message} />
      </li>
      {contents.history.map((step) => (
        <li key={step.step} className="flex flex-col gap-1">
          <p className="text-muted text-small">Step {step.step}</p>
          {step.text !== "" && <OutsideText block text={step.text} />}
          {step.calls.map((call, index) => (
            <CallBefore key={index} call={call} />
          ))}
        </li>
      ))}
    </ol>
  </section>
);
