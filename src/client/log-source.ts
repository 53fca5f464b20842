import { members, parseExact, string } from './exact-json.ts';
import { Fault } from './fault.ts';

/** Access to the responses of a log: the content of a 200 response, or a fault. */
export interface LogSource {
  /** Base URL of the service, without a trailing slash. */
  readonly url: string;
  /** Once aborted, no more requests are sent. */
  readonly signal?: AbortSignal;
  get(path: string): Promise<string | Fault>;
  getBytes(path: string): Promise<Uint8Array | Fault>;
  /** The same log, bypassing all caches (RFC 9111 section 5.2.1.4). Absent if this one already does. */
  pastCaches?(): LogSource;
}

/** The log has no entries yet (503 LOG_EMPTY). This is normal for a new deployment and not a failure. */
export class EmptyLog extends Fault {}

/** 404: not found, or the service doesn't know the endpoint. */
export class NotFound extends Fault {}

/** 401 or 403: a token is required, or one with another role. */
export class Denied extends Fault {}

export interface HttpLogOptions {
  /** Sent as a bearer token, unless empty. Proofs, heads and tiles are public; entries may need a token. */
  readonly token?: string;
  /** Timeout of a request including its response. Default: 15 s. */
  readonly timeoutMs?: number;
  /** Aborts requests in progress, which end with UNREACHABLE. */
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
  /** `reload` bypasses all caches. Default: the platform's behaviour. */
  readonly cache?: 'default' | 'reload';
}

/**
 * Limit for a response. Heads and proofs have a few kB; a key set grows by about 300 bytes per key, 1 MB in
 * ten years of daily keys. The largest response is a bundle of 256 entries, each with a length prefix and up
 * to 65,535 bytes.
 */
const maxAnswerBytes = 256 * (2 + 65_535);

/** Creates a source for a log over HTTP. Redirects are not followed: another origin is another log. */
export function httpLog(base: string, options: HttpLogOptions = {}): LogSource {
  const url = base.replace(/\/+$/, '');
  const { timeoutMs = 15_000, token, cache = 'default' } = options;
  const request = options.fetch ?? fetch;
  const headers: Record<string, string> = {};
  if (token !== undefined && token !== '') headers.authorization = `Bearer ${token}`;

  async function getBytes(path: string, accept = '*/*'): Promise<Uint8Array | Fault> {
    const abort = new AbortController();
    const why = new Error(`no response within ${timeoutMs} ms`);
    const cancel = afterOr(timeoutMs, options.signal, () => abort.abort(why));
    try {
      const init: RequestInit & { readonly cache: 'default' | 'reload' } = {
        headers: { ...headers, accept },
        signal: abort.signal,
        redirect: 'error',
        cache,
      };
      const response = await request(url + path, init);
      const bytes = await boundedBytes(response);
      if (bytes === undefined)
        return new Fault('HTTP_REFUSED', `${path}: the response is longer than ${maxAnswerBytes} bytes`);
      return response.status === 200
        ? bytes
        : refusal(path, response.status, new TextDecoder().decode(bytes));
    } catch (error) {
      return new Fault('UNREACHABLE', `${url}${path}: ${reasonOf(error)}`);
    } finally {
      cancel();
    }
  }
  async function get(path: string): Promise<string | Fault> {
    const bytes = await getBytes(path, 'application/json');
    return bytes instanceof Fault ? bytes : new TextDecoder().decode(bytes);
  }
  const pastCaches = (): LogSource => httpLog(base, { ...options, cache: 'reload' });
  return {
    url,
    get,
    getBytes,
    ...(cache === 'default' && { pastCaches }),
    ...(options.signal && { signal: options.signal }),
  };
}

/**
 * Wraps a log with up to three retries after 1, 2 and 4 seconds if it is unreachable or overloaded, so that a
 * long series of requests does not fail because of one of them.
 */
export function patient(log: LogSource, firstPauseMs = 1000): LogSource {
  async function withRetries<T>(ask: () => Promise<T | Fault>): Promise<T | Fault> {
    for (let pauseMs = firstPauseMs, left = 3; ; pauseMs *= 2, left--) {
      const answer = await ask();
      const again = answer instanceof Fault && answer.kind === 'unavailable' && !(answer instanceof EmptyLog);
      if (!again || left === 0 || log.signal?.aborted) return answer;
      await new Promise<void>((resolve) => afterOr(pauseMs, log.signal, resolve));
    }
  }
  return {
    url: log.url,
    ...(log.signal && { signal: log.signal }),
    get: (path) => withRetries(() => log.get(path)),
    getBytes: (path) => withRetries(() => log.getBytes(path)),
  };
}

/**
 * Calls `then` once: after `ms` milliseconds, or when the signal is aborted. Returns a function that cancels
 * it.
 */
function afterOr(ms: number, signal: AbortSignal | undefined, then: () => void): () => void {
  const cancel = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', fire);
  };
  const fire = (): void => {
    cancel();
    then();
  };
  const timer = setTimeout(fire, ms);
  if (signal?.aborted) fire();
  else signal?.addEventListener('abort', fire);
  return cancel;
}

async function boundedBytes(response: Response): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxAnswerBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

function refusal(path: string, status: number, text: string): Fault {
  const error = members(members(parseExact(text))?.error);
  const code = string(error?.code);
  const message = `${path}: ${status} ${code ?? ''} ${string(error?.message) ?? ''}`.trim();
  if (status === 503 && code === 'LOG_EMPTY') return new EmptyLog('UNAVAILABLE', message);
  if (status === 404) return new NotFound('HTTP_REFUSED', message);
  if (status === 401 || status === 403) return new Denied('HTTP_REFUSED', message);
  return new Fault(status === 429 || status >= 500 ? 'UNAVAILABLE' : 'HTTP_REFUSED', message);
}

/** fetch wraps the reason (`ECONNREFUSED` …) in a cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Matched by message, because the error code differs between versions of Node.
  if (error.cause instanceof Error && /wrong version number|packet length too long/.test(error.cause.message))
    return 'the port does not speak TLS; use http:// instead of https://';
  if (error.cause instanceof Error && error.cause.message === 'other side closed')
    return 'the connection was closed without a response; if the port speaks TLS, use https://';
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
