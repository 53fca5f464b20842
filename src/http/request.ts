import { anyMediaType } from '../contract/routes/route.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';

/** Request headers that the service reads. A repeated header is an error, except for the headers in `lists`. */
const headerNames = [
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'authorization',
  'candor-receipt',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'origin',
  'transfer-encoding',
  'x-request-id',
  'x-splunk-request-channel',
] as const;
export type HeaderName = (typeof headerNames)[number];

const wanted: ReadonlySet<string> = new Set(headerNames);
/** Headers that may be repeated: their values form a list (RFC 9110, section 5.3). */
const lists: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'connection',
  'if-none-match',
]);

/** The part of a uWebSockets.js request that is read. Valid only inside the handler. */
export interface RequestSource {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  /** Returns the query; undefined without a question mark, contrary to the types of uWebSockets.js. */
  getQuery(): string | undefined;
  forEach(visit: (name: string, value: string) => void): void;
}

/** The parts of a request that are needed later, copied while the request is valid. */
export interface RequestHead {
  /** Method as sent: methods are case-sensitive. */
  readonly method: string;
  /** Path as sent, not decoded, without the query. */
  readonly path: string;
  /** Query as sent, not decoded, without the question mark. */
  readonly query: string;
  readonly headers: ReadonlyMap<HeaderName, string>;
  /** The first repeated header, among the headers that must not be repeated. */
  readonly repeated: HeaderName | undefined;
}

export function copyHead(source: RequestSource): RequestHead {
  const headers = new Map<HeaderName, string>();
  let repeated: HeaderName | undefined;
  source.forEach((key, value) => {
    if (!wanted.has(key)) return;
    const name = key as HeaderName;
    const before = headers.get(name);
    if (before === undefined) headers.set(name, value);
    else if (lists.has(name)) headers.set(name, `${before}, ${value}`);
    else repeated ??= name;
  });
  return {
    method: source.getCaseSensitiveMethod(),
    path: source.getUrl(),
    query: source.getQuery() ?? '',
    headers,
    repeated,
  };
}

/** The framing of the body. `length` is undefined if the body is chunked. */
export type Framing = { readonly body: false } | { readonly body: true; readonly length: number | undefined };

/**
 * Returns the framing (RFC 9112, section 6). uWebSockets.js has already refused malformed requests, and
 * requests with both framing headers. Throws INVALID_REQUEST for a repeated header, a transfer coding other
 * than `chunked`, an invalid length, and a missing `Host`.
 */
export function framing(head: RequestHead): Framing {
  if (head.repeated !== undefined) throw invalidField(head.repeated, 'must not be repeated');
  if (!head.headers.has('host')) throw invalidField('host', 'is missing');
  const coding = head.headers.get('transfer-encoding');
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') throw invalidField('transfer-encoding', 'must be chunked');
    return { body: true, length: undefined };
  }
  const length = head.headers.get('content-length');
  if (length === undefined || length === '0') return { body: false };
  if (!/^[0-9]{1,15}$/.test(length)) throw invalidField('content-length', 'must be a whole number');
  return Number(length) === 0 ? { body: false } : { body: true, length: Number(length) };
}

const sane = new RegExp(`^[A-Za-z0-9._:/+=@-]{1,${limits.maxRequestIdBytes}}$`);
const instance = crypto.randomUUID().slice(0, 8);
let requests = 0;

/**
 * Returns the client's X-Request-Id if it is safe to log, otherwise generates an id that is unique in this
 * process.
 */
export function requestId(head: RequestHead): string {
  const given = head.headers.get('x-request-id');
  return given !== undefined && sane.test(given) ? given : `${instance}-${(requests++).toString(36)}`;
}

/**
 * Returns the media type of the body in lower case, without parameters. Throws UNSUPPORTED_MEDIA_TYPE for a
 * type that is not in `accepted`. A missing type is accepted where JSON lines are accepted: the format is
 * then detected.
 */
export function mediaType(head: RequestHead, accepted: readonly string[]): string {
  const type = (head.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (accepted.includes(type) || accepted.includes(anyMediaType)) return type;
  if (type === '' && accepted.includes('application/x-ndjson')) return type;
  throw new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Content-Type is ${type === '' ? 'missing' : type.slice(0, 100)}, expected ${accepted.join(' or ')}`,
    { field: 'content-type', reason: `must be ${accepted.join(' or ')}` },
  );
}
