import type { WitnessFailure } from '../contract/witness-failures.ts';
import { verifyNative } from '../crypto/ed25519.ts';
import { fetchFailure } from '../errors.ts';
import { limits } from '../limits.ts';
import { decodeCosignature } from '../tlog/cosignature.ts';
import { TlogError } from '../tlog/fault.ts';
import { noteSignatureBy, parseNote, type VerifierKey } from '../tlog/note.ts';
import { type AddCheckpoint, formatAddCheckpoint, sizeContentType } from './add-checkpoint.ts';
import type { Cosigned } from './candidate.ts';
import { strictUtf8 } from './utf8.ts';

export type WitnessResponse =
  | { readonly kind: 'cosigned'; readonly cosigned: Cosigned }
  /** The witness reports another size as the last that it cosigned. */
  | { readonly kind: 'elsewhere'; readonly size: number }
  | { readonly kind: 'failed'; readonly failure: WitnessFailure; readonly detail: string };

export interface CosignatureRequest {
  /** The submission prefix. */
  readonly url: string;
  readonly key: VerifierKey;
  readonly request: AddCheckpoint;
  /** The text of the note in the request. */
  readonly text: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Sends one `add-checkpoint` request (C2SP tlog-witness). Responses are untrusted except for verified
 * signatures; a size is only a hint.
 */
export async function requestCosignature(question: CosignatureRequest): Promise<WitnessResponse> {
  const timeout = AbortSignal.timeout(question.timeoutMs);
  try {
    const response = await fetch(`${question.url}/add-checkpoint`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: formatAddCheckpoint(question.request),
      redirect: 'manual',
      signal: AbortSignal.any([timeout, question.signal]),
    });
    const body = await readBounded(response);
    return readResponse(question, response, body);
  } catch (error) {
    if (timeout.aborted) return failed('timeout', `no response within ${question.timeoutMs} ms`);
    return failed('unreachable', fetchFailure(error));
  }
}

function readResponse(question: CosignatureRequest, response: Response, body: string | undefined): WitnessResponse {
  const { status } = response;
  if (status === 200) return cosignatureOf(question, body);
  if (status === 409) return sizeOf(response, body);
  const detail = `${status} ${(body ?? '').slice(0, 200).trim()}`;
  if (status === 404) return failed('unknown_log', detail);
  if (status === 403) return failed('unknown_key', detail);
  if (status === 422) return failed('inconsistent', detail);
  return failed(status === 429 || status >= 500 ? 'unavailable' : 'refused', detail);
}

function cosignatureOf({ key, text, now }: CosignatureRequest, body: string | undefined): WitnessResponse {
  if (body === undefined) return failed('malformed', 'the response is too long or not valid UTF-8');
  try {
    const note = parseNote(`${text}\n${body}`);
    // An empty line in the response would extend the text, which would then differ from the requested text.
    if (note.text !== text) return failed('malformed', 'the response has other lines besides signature lines');
    const signature = noteSignatureBy(note, key, verifyNative);
    if (signature === undefined) return failed('bad_signature', `there is no signature by ${key.name}`);
    const { timeS } = decodeCosignature(signature.signature);
    const offS = timeS - now() / 1000;
    if (Math.abs(offS) > limits.maxWitnessSkewS)
      return failed('bad_time', `the time of the cosignature differs from the local clock by ${Math.round(offS)} s`);
    return { kind: 'cosigned', cosigned: { signature, timeS } };
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    const isSignature = error.fault === 'bad_note_signature' || error.fault === 'bad_cosignature';
    return failed(isSignature ? 'bad_signature' : 'malformed', error.message);
  }
}

/**
 * Reads the size from a 409 response. In tlog-witness v1.0.0, a 409 without a size means a different root for the same
 * size; later versions use 422.
 */
function sizeOf(response: Response, body: string | undefined): WitnessResponse {
  const type = response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== sizeContentType) return failed('inconsistent', `409 with content type ${type ?? 'none'}`);
  const digits = /^(0|[1-9][0-9]{0,15})\n$/.exec(body ?? '')?.[1];
  const size = Number(digits ?? Number.NaN);
  if (!Number.isSafeInteger(size)) return failed('malformed', '409 without a size');
  return { kind: 'elsewhere', size };
}

function failed(failure: WitnessFailure, detail: string): WitnessResponse {
  return { kind: 'failed', failure, detail };
}

/** Reads the response body, up to a limit. Returns undefined if the body exceeds the limit or is not valid UTF-8. */
async function readBounded(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > limits.maxWitnessAnswerBytes) return undefined;
    parts.push(part);
  }
  return strictUtf8(Buffer.concat(parts));
}
