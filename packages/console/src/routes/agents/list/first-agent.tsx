import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { buttonClass } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { useCan } from "../../../session/session.ts";

const Command = ({ text, what }: { readonly text: string; readonly what: string }) => (
  <div className="flex items-start gap-2 rounded border border-line bg-sunken p-2">
    <pre className="min-w-0 flex-1 whitespace-pre-wrap font-mono text-small leading-5 [overflow-wrap:anywhere]">
      {text}
    </pre>
    <CopyButton text={text} what={what} />
  </div>
);

const Way = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <li className="flex flex-col gap-2 border-line border-t pt-4">
    <h3 className="text-body">{title}</h3>
    {children}
  </li>
);

const cli = `npm install perch
npx perch login my-server --url ${location.origin}
npx perch init
npx perch apply`;

const curl = `curl ${location.origin}/v1/agents \\
  -H "Authorization: Bearer $PERCH_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"name": "my-agent", "model": "perch/echo"}'`;

/** The first visit: three ways to begin. The list polls for agents meanwhile, and replaces this page when one appears. */
export function FirstAgent() {
  const canWrite = useCan("write");
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-4 px-4 py-10">
      <div className="flex flex-col gap-1">
        <h2 className="text-title">No agents yet</h2>
        <p className="text-muted">
          An agent is a model with instructions, tools and limits. Create the first one in one of three ways; this page
          shows it as soon as it exists.
        </p>
      </div>
      <ol className="flex flex-col gap-4">
        {canWrite && (
          <Way title="Here">
            <div>
              <Link to="/agents/new" className={buttonClass("primary")}>
                Create an agent here
              </Link>
            </div>
          </Way>
        )}
        <Way title="With the command line, from a file in your repository">
          <Command text={cli} what="the commands" />
        </Way>
        <Way title="With an HTTP request">
          <Command text={curl} what="the request" />
        </Way>
      </ol>
      <p role="status" className="flex items-center gap-2 text-muted text-table">
        <span className="pulse size-2 rounded-full bg-accent" /> Waiting for the first agent
      </p>
    </div>
  );
}
