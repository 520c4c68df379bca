import { openAiEmbeddings } from "./embeddings.ts";
import {
  type AnswerCall,
  type ModelServer,
  type ProviderCall,
  type ProviderProtocol,
  startModelServer,
} from "./model-server.ts";
import { chatCompletion, chatDone, chatFrames } from "./openai-chat.ts";
import { responsesError, responsesFrames } from "./openai-responses.ts";

const isResponses = ({ path }: ProviderCall) => path === "/v1/responses";

const protocol: ProviderProtocol = {
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
  completion: chatCompletion,
  embeddings: openAiEmbeddings,
};

/** OpenAI's API: `POST /v1/chat/completions`, streamed or whole, `POST /v1/responses`, streamed, and `POST /v1/embeddings`. */
export const startOpenAiServer = (answer: AnswerCall): Promise<ModelServer> => startModelServer(protocol, answer);

/** The last user message of a chat completion, by which tests distinguish their runs. */
export function lastUserMessage({ body }: ProviderCall): string {
  const messages = (body.messages ?? []) as readonly { readonly role: string; readonly content: unknown }[];
  return String(messages.findLast(({ role }) => role === "user")?.content ?? "");
}
