import { type ErrorCode, errorCodes } from '../../errors.ts';
import { retryHeader, shownError } from '../error-reply.ts';
import type { ErrorReply } from '../exchange.ts';
import type { BareReply, Header } from '../reply.ts';
import type { RequestHead } from '../request.ts';

/** Elasticsearch's error types by error code. No type fits the other codes. */
const types: Partial<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'illegal_argument_exception',
  UNAUTHENTICATED: 'security_exception',
  FORBIDDEN: 'security_exception',
  NOT_FOUND: 'resource_not_found_exception',
  PAYLOAD_TOO_LARGE: 'content_too_long_exception',
  UNSUPPORTED_MEDIA_TYPE: 'media_type_header_exception',
  INTERNAL: 'internal_server_error',
};

/**
 * Returns the status and error type of a request that was not stored and may be retried. Shippers retry 429
 * (OpenTelemetry's exporter by default only 429). The official clients, which name the version of the
 * interface, retry 503 but not 429.
 */
function whileFull(head: RequestHead): { readonly status: 429 | 503; readonly type: string } {
  return { status: isVersioned(head) ? 503 : 429, type: 'es_rejected_execution_exception' };
}

/** Renders an error in Elasticsearch's form: `{error: {root_cause, type, reason}, status}`. */
export const elasticsearchError: ErrorReply = (error, head) => {
  const { code, message } = shownError(error);
  const { status: usual, retry } = errorCodes[code];
  const { status, type } = retry ? whileFull(head) : { status: usual, type: types[code] ?? 'exception' };
  const headers: Header[] = [...elasticsearchHeaders(head)];
  if (retry) headers.push(retryHeader(error));
  if (status === 401) headers.push(['WWW-Authenticate', challenge]);
  const cause = { type, reason: message };
  return { status, headers, body: JSON.stringify({ error: { root_cause: [cause], ...cause }, status }) };
};

/**
 * The challenge of a response with status 401 (RFC 9110, section 11.6.1). Some clients send a password only
 * after a challenge.
 */
const challenge = 'Basic realm="candor", charset="UTF-8", Bearer realm="candor", ApiKey';

/** Header that Elasticsearch clients require in every response, including errors. */
const product: Header = ['X-Elastic-Product', 'Elasticsearch'];

/**
 * Returns the media type that the client requested: the type of a version of Elasticsearch's interface, otherwise JSON.
 * A client that names a version in `Accept`, or only in `Content-Type`, refuses responses of another type.
 */
function mediaTypeFor(head: RequestHead): string {
  const version = versionOf(head);
  return version === undefined ? 'application/json' : `application/vnd.elasticsearch+json;compatible-with=${version}`;
}

function versionOf({ headers }: RequestHead): string | undefined {
  const asked = headers.get('accept') ?? '';
  const said = /application\//i.test(asked) ? asked : (headers.get('content-type') ?? '');
  return /application\/vnd\.elasticsearch\+(?:x-nd)?json *; *compatible-with *= *"?(\d{1,2})/i.exec(said)?.[1];
}

/**
 * Returns whether the client names a version of the interface, as the official clients do since version 8.
 */
const isVersioned = (head: RequestHead): boolean => versionOf(head) !== undefined;

function elasticsearchHeaders(head: RequestHead): Header[] {
  return [['Content-Type', mediaTypeFor(head)], product];
}

/** Returns a JSON response in Elasticsearch's form. */
export function elasticsearchReply(head: RequestHead, body: string | Uint8Array): BareReply {
  return { kind: 'bare', status: 200, mediaType: mediaTypeFor(head), body, headers: [product] };
}
