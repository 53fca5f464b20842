import { fetchFailure } from '../errors.ts';
import { limits } from '../limits.ts';
import { TimestampError } from './timestamp-error.ts';

export interface TimestampQuestion {
  readonly url: string;
  /** TimeStampReq in DER. */
  readonly request: Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends a request over HTTP (RFC 3161 section 3.4) and returns the bytes of the response, unverified.
 *
 * @throws TimestampError refused, too_large, timeout, unreachable
 */
export async function askAuthority({ url, request, timeoutMs, signal }: TimestampQuestion): Promise<Uint8Array> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
      body: Uint8Array.from(request),
      redirect: 'manual',
      signal: AbortSignal.any([timeout, signal]),
    });
    const type = response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
    if (response.status === 200 && type === 'application/timestamp-reply') return await readBounded(response);
    await response.body?.cancel();
    throw new TimestampError('refused', `HTTP status ${response.status}, content type ${type ?? 'none'}`);
  } catch (error) {
    if (error instanceof TimestampError) throw error;
    if (timeout.aborted) throw new TimestampError('timeout', `no response within ${timeoutMs} ms`);
    throw new TimestampError('unreachable', fetchFailure(error));
  }
}

async function readBounded(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > limits.maxTimestampAnswerBytes)
      throw new TimestampError('too_large', `the response exceeds ${limits.maxTimestampAnswerBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
