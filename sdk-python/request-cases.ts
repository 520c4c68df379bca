import { requestCases } from "../packages/sdk/test/request-cases.ts";

/** Prints the requests that both SDKs judge, for the tests in Python. */
console.log(JSON.stringify(requestCases()));
