import { limits } from '../limits.ts';
import { type Answer, answerIn } from './answer.ts';
import type { Message } from './question.ts';

/** How asking can fail. Texts of the endpoint are in none of it: they may repeat the key. */
export const endpointFailures = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  /** 429 and 5xx. */
  unavailable: 'cannot answer now',
  /** 401 and 403. */
  unauthorised: 'does not accept the key',
  /** 3xx: where it points is not where the operator said that alerts may go. */
  redirected: 'points elsewhere, which is not followed',
  /** Any other status. */
  refused: 'refused the question',
  too_long: 'answered more than a verdict can be',
  malformed: 'answered something else than a verdict',
} as const;

export type EndpointFailure = keyof typeof endpointFailures;

export type Asked =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly failure: EndpointFailure; readonly status?: number };

export interface Endpoint {
  /** Base URL, without a final slash. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
}

/** One question, by the chat completions of OpenAI's interface, which others have too. Never rejects. */
export async function askEndpoint(
  { url, model, apiKey, timeoutMs }: Endpoint,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<Asked> {
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

/** Undefined for what is longer than any answer; the rest is then not read. */
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
