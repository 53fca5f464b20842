import { members, parseExact, string } from './exact-json.ts';
import { Fault } from './fault.ts';

/** Where a log's answers come from. `get` gives the text of a 200 answer, or what went wrong. */
export interface LogSource {
  /** Origin of the service, without a slash at the end. */
  readonly url: string;
  get(path: string): Promise<string | Fault>;
}

/** The log has no entry yet (503 LOG_EMPTY): normal on a fresh deployment, so no fault by itself. */
export class EmptyLog extends Fault {}

export interface HttpLogOptions {
  /** Sent as a bearer token. Proofs and heads are public; entries may need it. */
  readonly token?: string;
  /** For one request with its answer. Default 15 s. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

/** Heads and proofs have a few kB; a key set grows by some 300 bytes a key, ten years of daily keys are 1 MB. */
const maxAnswerBytes = 8 * 2 ** 20;

/** A log behind HTTP. Redirects are not followed: another origin is another log. */
export function httpLog(base: string, options: HttpLogOptions = {}): LogSource {
  const url = base.replace(/\/+$/, '');
  const { timeoutMs = 15_000, token } = options;
  const request = options.fetch ?? fetch;
  const headers: Record<string, string> = { accept: 'application/json' };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;

  async function get(path: string): Promise<string | Fault> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await request(url + path, { headers, signal, redirect: 'error' });
      const text = await boundedText(response);
      if (text === undefined)
        return new Fault('HTTP_REFUSED', `${path}: the answer is longer than ${maxAnswerBytes} bytes`);
      return response.status === 200 ? text : refusal(path, response.status, text);
    } catch (error) {
      return new Fault('UNREACHABLE', `${url}${path}: ${reasonOf(error)}`);
    }
  }
  return { url, get };
}

async function boundedText(response: Response): Promise<string | undefined> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxAnswerBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function refusal(path: string, status: number, text: string): Fault {
  const error = members(members(parseExact(text))?.error);
  const code = string(error?.code);
  const what = `${path}: ${status} ${code ?? ''} ${string(error?.message) ?? ''}`.trim();
  if (status === 503 && code === 'LOG_EMPTY') return new EmptyLog('UNAVAILABLE', what);
  return new Fault(status === 429 || status >= 500 ? 'UNAVAILABLE' : 'HTTP_REFUSED', what);
}

/** fetch wraps the reason (`ECONNREFUSED` …) in a cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
