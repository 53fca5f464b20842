import { type CollectorAnswer, channelHeader, collectorAnswers, noData } from '../../contract/splunk.ts';
import { errorCodes, type ServiceError } from '../../errors.ts';
import { retryHeader, shownError } from '../error-reply.ts';
import type { ErrorReply } from '../exchange.ts';
import { type BareReply, bareJson, type Header, jsonHeader } from '../reply.ts';
import type { RequestHead } from '../request.ts';
import { isSecretName } from '../url-credentials.ts';

/**
 * Renders an error in the form of Splunk's collector, `{text, code}`, with the error message of the API as
 * `message`. Errors after which a retry can succeed are 503: shippers retry 503, but not 4xx.
 */
export const splunkError: ErrorReply = (error, head) => {
  const { message } = shownError(error);
  const { status, code, text } = answerOf(error, head);
  const headers: Header[] = [jsonHeader];
  if (errorCodes[error.code].retry) headers.push(retryHeader(error));
  if (status === 401) headers.push(['WWW-Authenticate', 'Splunk realm="candor", Bearer realm="candor"']);
  return { status, headers, body: JSON.stringify({ text, code, message }) };
};

function answerOf(error: ServiceError, { headers }: RequestHead): CollectorAnswer {
  const { status, retry } = errorCodes[error.code];
  if (retry) return collectorAnswers.busy;
  switch (error.code) {
    case 'UNAUTHENTICATED':
      return refusedCredentials(headers.get('authorization'));
    case 'FORBIDDEN':
      return collectorAnswers.invalidToken;
    case 'INVALID_REQUEST':
      return invalid(error);
    case 'INTERNAL':
      return collectorAnswers.internal;
    default:
      return { ...collectorAnswers.invalidData, status };
  }
}

/**
 * Returns the response for refused credentials: an invalid token for credentials in Splunk's format, and a
 * different code for other formats, as in Splunk.
 */
function refusedCredentials(authorization: string | undefined): CollectorAnswer {
  if (authorization === undefined) return collectorAnswers.tokenRequired;
  return /^(Splunk|Basic) +\S/i.test(authorization)
    ? collectorAnswers.invalidToken
    : collectorAnswers.invalidAuthorization;
}

function invalid({ details }: ServiceError): CollectorAnswer {
  const field = String(details?.field);
  if (field === 'channel' || field === channelHeader)
    return details?.reason === 'is required' ? collectorAnswers.channelMissing : collectorAnswers.invalidChannel;
  if (field === noData.field && details?.reason === noData.reason) return collectorAnswers.noData;
  return isSecretName(field) ? collectorAnswers.tokenInUrl : collectorAnswers.invalidData;
}

/** Returns a response in the form of Splunk's collector, with further members. */
export const splunkReply = ({ status, code, text }: CollectorAnswer, more: object = {}): BareReply =>
  bareJson({ text, code, ...more }, status);
