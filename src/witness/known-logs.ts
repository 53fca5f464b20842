import { importPublicKey } from '../crypto/ed25519.ts';
import { sha256 } from '../crypto/sha256.ts';
import { TlogError } from '../tlog/fault.ts';
import { parseVerifierKey, signatureTypes, type VerifierKey } from '../tlog/note.ts';

/** The text is not the verifier key of a log. The message has the actual and the expected value. */
export class UnknownLogError extends Error {
  override readonly name = 'UnknownLogError';
}

/**
 * Parses the verifier key of a log (C2SP signed-note, type 1); its name is the log's origin.
 *
 * @throws UnknownLogError
 */
export function parseLogKey(text: string): VerifierKey {
  let key: VerifierKey;
  try {
    key = parseVerifierKey(sha256, text);
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new UnknownLogError(`${quoted(text)} is not a valid verifier key: ${error.message}`);
  }
  if (key.type !== signatureTypes.ed25519) {
    throw new UnknownLogError(`${quoted(text)} is a key of type ${key.type}; checkpoints are signed by keys of type 1`);
  }
  if (importPublicKey(key.publicKey) === undefined) {
    throw new UnknownLogError(`${quoted(text)} is not a valid Ed25519 key`);
  }
  return key;
}

/**
 * Parses a list with one key per line; empty lines and lines beginning with # are ignored.
 *
 * @throws UnknownLogError with the line number
 */
export function parseLogList(text: string): VerifierKey[] {
  return text.split('\n').flatMap((line, i) => {
    const item = line.trim();
    if (item === '' || item.startsWith('#')) return [];
    try {
      return [parseLogKey(item)];
    } catch (error) {
      if (!(error instanceof UnknownLogError)) throw error;
      throw new UnknownLogError(`line ${i + 1}: ${error.message}`);
    }
  });
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}
