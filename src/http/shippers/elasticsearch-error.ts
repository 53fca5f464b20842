import { type ErrorCode, errorCodes } from '../../errors.ts';
import { retryHeader, shownError } from '../error-reply.ts';
import type { Header } from '../reply.ts';
import type { RequestHead } from '../request.ts';
import { elasticsearchHeaders, isVersioned } from './elasticsearch-reply.ts';
import type { ErrorReply } from './error-replies.ts';

/** How Elasticsearch calls what went wrong; what is not here, it has no better name for. */
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
 * A request of which nothing was kept and that may be sent again, for whatever reason: 429 is what shippers try again (some
 * nothing else: OpenTelemetry's exporter by default). The official clients, which name the version of the interface, do so
 * with 503, and not with 429.
 */
function whileFull(head: RequestHead): { readonly status: 429 | 503; readonly type: string } {
  return { status: isVersioned(head) ? 503 : 429, type: 'es_rejected_execution_exception' };
}

/** An error of the service as Elasticsearch would tell it: `{error: {root_cause, type, reason}, status}`. */
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

/** RFC 9110, section 11.6.1: clients that send a password only when they are asked for it must be asked. */
const challenge = 'Basic realm="candor", charset="UTF-8", Bearer realm="candor", ApiKey';
