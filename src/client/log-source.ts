import { fetchFailure } from '../errors.ts';
import { members, parseExact, string } from './exact-json.ts';
import { AuditFault } from './fault.ts';

/** Access to the responses of a log: the content of a 200 response, or a fault. */
export interface LogSource {
  /** Base URL of the service, without a trailing slash. */
  readonly url: string;
  /** Signal that prevents further requests once aborted. */
  readonly signal?: AbortSignal;
  get(path: string): Promise<string | AuditFault>;
  getBytes(path: string): Promise<Uint8Array | AuditFault>;
  /**
   * Returns the same log, bypassing all caches (RFC 9111 section 5.2.1.4). Absent if this source already bypasses them.
   */
  pastCaches?(): LogSource;
}

/** The log has no entries yet (503 LOG_EMPTY), which is normal for a new deployment and not a failure. */
export class EmptyLog extends AuditFault {}

/** The fault for 404: the resource does not exist, or the service does not know the endpoint. */
export class NotFound extends AuditFault {}

/** The fault for 401 or 403: a token is required, or a token with another role. */
export class Denied extends AuditFault {}

export interface HttpLogOptions {
  /** Bearer token, which is sent unless it is empty. Proofs, heads and tiles are public; entries may need a token. */
  readonly token?: string;
  /** Timeout of a request including its response. Default: 15 s. */
  readonly timeoutMs?: number;
  /** Aborts requests in progress, which end with UNREACHABLE. */
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
  /** Cache mode of requests: `reload` bypasses all caches. Default: the platform's behaviour. */
  readonly cache?: 'default' | 'reload';
}

/**
 * Maximum bytes of a response. Heads and proofs have a few kB; a key set grows by about 300 bytes per key, 1 MB in ten
 * years of daily keys. The largest response is a bundle of 256 entries, each with a length prefix and up to 65,535
 * bytes.
 */
const maxAnswerBytes = 256 * (2 + 65_535);

/** Creates a source for a log over HTTP. Redirects are not followed: another origin is another log. */
export function httpLog(base: string, options: HttpLogOptions = {}): LogSource {
  const url = base.replace(/\/+$/, '');
  const { timeoutMs = 15_000, token, cache = 'default' } = options;
  const request = options.fetch ?? fetch;
  const headers: Record<string, string> = {};
  if (token !== undefined && token !== '') headers.authorization = `Bearer ${token}`;

  async function getBytes(path: string, accept = '*/*'): Promise<Uint8Array | AuditFault> {
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
        return new AuditFault('HTTP_REFUSED', `${path}: the response is longer than ${maxAnswerBytes} bytes`);
      return response.status === 200 ? bytes : refusal(path, response.status, new TextDecoder().decode(bytes));
    } catch (error) {
      return new AuditFault('UNREACHABLE', `${url}${path}: ${fetchFailure(error)}`);
    } finally {
      cancel();
    }
  }
  async function get(path: string): Promise<string | AuditFault> {
    const bytes = await getBytes(path, 'application/json');
    return bytes instanceof AuditFault ? bytes : new TextDecoder().decode(bytes);
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
 * Wraps a log with up to three retries, after 1, 2 and 4 seconds, if the log is unreachable or overloaded. A long
 * series of requests then does not fail because of a single request.
 */
export function patient(log: LogSource, firstPauseMs = 1000): LogSource {
  async function withRetries<T>(ask: () => Promise<T | AuditFault>): Promise<T | AuditFault> {
    for (let pauseMs = firstPauseMs, left = 3; ; pauseMs *= 2, left--) {
      const answer = await ask();
      const again = answer instanceof AuditFault && answer.kind === 'unavailable' && !(answer instanceof EmptyLog);
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

function refusal(path: string, status: number, text: string): AuditFault {
  const error = members(members(parseExact(text))?.error);
  const code = string(error?.code);
  const message = `${path}: ${status} ${code ?? ''} ${string(error?.message) ?? ''}`.trim();
  if (status === 503 && code === 'LOG_EMPTY') return new EmptyLog('UNAVAILABLE', message);
  if (status === 404) return new NotFound('HTTP_REFUSED', message);
  if (status === 401 || status === 403) return new Denied('HTTP_REFUSED', message);
  return new AuditFault(status === 429 || status >= 500 ? 'UNAVAILABLE' : 'HTTP_REFUSED', message);
}
