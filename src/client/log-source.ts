import { members, parseExact, string } from './exact-json.ts';
import { Fault } from './fault.ts';

/** Where a log's answers come from: what a 200 answer holds, or what went wrong. */
export interface LogSource {
  /** Origin of the service, without a slash at the end. */
  readonly url: string;
  /** Once aborted, nothing is asked any more. */
  readonly signal?: AbortSignal;
  get(path: string): Promise<string | Fault>;
  getBytes(path: string): Promise<Uint8Array | Fault>;
  /** The same log, asked past every cache on the way (RFC 9111 section 5.2.1.4). Absent where it is so already. */
  pastCaches?(): LogSource;
}

/** The log has no entry yet (503 LOG_EMPTY): normal on a fresh deployment, so no fault by itself. */
export class EmptyLog extends Fault {}

/** 404: there is no such thing, or the service doesn't know the endpoint. */
export class NotFound extends Fault {}

/** 401 or 403: it takes a token, or one with another role. */
export class Denied extends Fault {}

export interface HttpLogOptions {
  /** Sent as a bearer token, unless empty. Proofs, heads and tiles of hashes are public; entries may need it. */
  readonly token?: string;
  /** For one request with its answer. Default 15 s. */
  readonly timeoutMs?: number;
  /** Ends what is under way, as UNREACHABLE. */
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
  /** `reload` asks past every cache. Default: as the platform does. */
  readonly cache?: 'default' | 'reload';
}

/**
 * Heads and proofs have a few kB; a key set grows by some 300 bytes a key, ten years of daily keys are 1 MB; the
 * largest answer is a bundle of 256 entries, each of up to 65,535 bytes behind its length.
 */
const maxAnswerBytes = 256 * (2 + 65_535);

/** A log behind HTTP. Redirects are not followed: another origin is another log. */
export function httpLog(base: string, options: HttpLogOptions = {}): LogSource {
  const url = base.replace(/\/+$/, '');
  const { timeoutMs = 15_000, token, cache = 'default' } = options;
  const request = options.fetch ?? fetch;
  const headers: Record<string, string> = {};
  if (token !== undefined && token !== '') headers.authorization = `Bearer ${token}`;

  async function getBytes(path: string, accept = '*/*'): Promise<Uint8Array | Fault> {
    const abort = new AbortController();
    const why = new Error(`no answer within ${timeoutMs} ms`);
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
        return new Fault('HTTP_REFUSED', `${path}: the answer is longer than ${maxAnswerBytes} bytes`);
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
 * The same log, asked again up to three times, after 1, 2 and 4 seconds, where it was not reached or too busy: a long
 * run of requests mustn't be lost to one of them.
 */
export function patient(log: LogSource, firstPauseMs = 1000): LogSource {
  async function insist<T>(ask: () => Promise<T | Fault>): Promise<T | Fault> {
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
    get: (path) => insist(() => log.get(path)),
    getBytes: (path) => insist(() => log.getBytes(path)),
  };
}

/** Calls `then` once: after so many milliseconds, or when the signal is aborted. The result takes it back. */
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
  const what = `${path}: ${status} ${code ?? ''} ${string(error?.message) ?? ''}`.trim();
  if (status === 503 && code === 'LOG_EMPTY') return new EmptyLog('UNAVAILABLE', what);
  if (status === 404) return new NotFound('HTTP_REFUSED', what);
  if (status === 401 || status === 403) return new Denied('HTTP_REFUSED', what);
  return new Fault(status === 429 || status >= 500 ? 'UNAVAILABLE' : 'HTTP_REFUSED', what);
}

/** fetch wraps the reason (`ECONNREFUSED` …) in a cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // By its text: which code says so differs between versions of Node.
  if (error.cause instanceof Error && /wrong version number|packet length too long/.test(error.cause.message))
    return 'the port does not speak TLS: use http:// instead of https://';
  if (error.cause instanceof Error && error.cause.message === 'other side closed')
    return 'the connection was closed without an answer: a port that speaks TLS needs https://';
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
