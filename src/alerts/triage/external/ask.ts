import { limits } from '../../../limits.ts';
import { type Answer, answerIn } from './answer.ts';
import type { Message } from './question.ts';

/**
 * Kinds of failed requests, with texts that follow "the triage endpoint". The texts never include text from the
 * endpoint, which may repeat the key.
 */
export const endpointFailures = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  /** Status 429 or 5xx. */
  unavailable: 'is temporarily unavailable',
  /** Status 401 or 403. */
  unauthorised: 'does not accept the key',
  /** Status 3xx. The target is not the endpoint to which the operator allowed alerts to be sent. */
  redirected: 'sent a redirect, which is not followed',
  /** Any other status. */
  refused: 'rejected the request',
  too_long: `sent a response of more than ${limits.maxTriageAnswerBytes} bytes`,
  malformed: 'sent a response that is not a valid verdict',
} as const;

export type EndpointFailure = keyof typeof endpointFailures;

export type TriageReply =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failure: EndpointFailure; readonly status?: number };

export interface Endpoint {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
}

/**
 * Sends one request to the chat completions API of OpenAI, which other products also implement. The promise
 * never rejects.
 */
export async function askEndpoint(
  { url, model, apiKey, timeoutMs }: Endpoint,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<TriageReply> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, messages, response_format: { type: 'json_object' }, stream: false }),
      redirect: 'manual',
      signal: AbortSignal.any([timeout, signal]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return { kind: 'failed', failure: failureOf(response.status), status: response.status };
    }
    const body = await readBounded(response);
    if (body === undefined) return { kind: 'failed', failure: 'too_long' };
    const answer = answerIn(body);
    return answer === undefined ? { kind: 'failed', failure: 'malformed' } : { kind: 'answered', answer };
  } catch {
    return { kind: 'failed', failure: timeout.aborted ? 'timeout' : 'unreachable' };
  }
}

function failureOf(status: number): EndpointFailure {
  if (status >= 300 && status < 400) return 'redirected';
  if (status === 401 || status === 403) return 'unauthorised';
  return status === 429 || status >= 500 ? 'unavailable' : 'refused';
}

/**
 * Reads the body. Returns undefined, without reading the rest, if the body exceeds limits.maxTriageAnswerBytes.
 */
async function readBounded(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > limits.maxTriageAnswerBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
