import { openAiEmbeddings } from "./embeddings.ts";
import {
  type AnswerCall,
  type Dialect,
  type ModelServer,
  type ProviderCall,
  startModelServer,
} from "./model-server.ts";
import { chatDone, chatFrames, chatWhole } from "./openai-chat.ts";
import { responsesError, responsesFrames } from "./openai-responses.ts";

const isResponses = ({ path }: ProviderCall) => path === "/v1/responses";

const dialect: Dialect = {
  basePath: "/v1",
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  wrongKey: {
    status: 401,
    body: {
      error: {
        message: "Incorrect API key provided.",
        type: "invalid_request_error",
        param: null,
        code: "invalid_api_key",
      },
    },
  },
  frames: (call, answer) => {
    if (isResponses(call)) return responsesFrames(call, answer);
    return call.path === "/v1/chat/completions" ? [...chatFrames(call, answer), chatDone] : null;
  },
  errorFrame: (call) =>
    isResponses(call)
      ? responsesError
      : { data: { error: { message: "The server had an error.", type: "server_error", param: null, code: null } } },
  whole: chatWhole,
  embeddings: openAiEmbeddings,
};

/** OpenAI's API: `POST /v1/chat/completions`, streamed or whole, `POST /v1/responses`, streamed, and `POST /v1/embeddings`. */
export const startOpenAiServer = (answer: AnswerCall): Promise<ModelServer> => startModelServer(dialect, answer);

/** The last thing the user said in a chat completion: tests tell their runs apart by it. */
export function lastSaid({ body }: ProviderCall): string {
  const messages = (body.messages ?? []) as readonly { readonly role: string; readonly content: unknown }[];
  return String(messages.findLast(({ role }) => role === "user")?.content ?? "");
}
