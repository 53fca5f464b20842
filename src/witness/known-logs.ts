import { importPublicKey } from '../ed25519.ts';
import { sha256 } from '../sha256.ts';
import { TlogError } from '../tlog/fault.ts';
import { parseVerifierKey, signatureTypes, type VerifierKey } from '../tlog/note.ts';

/** Text that names no log. The message says what came and what was wanted. */
export class UnknownLogError extends Error {
  override readonly name = 'UnknownLogError';
}

/** The verifier key of a log (C2SP signed-note, type 1); its name is the log's origin. Throws `UnknownLogError`. */
export function parseLogKey(text: string): VerifierKey {
  let key: VerifierKey;
  try {
    key = parseVerifierKey(sha256, text);
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw new UnknownLogError(`${shown(text)} is no verifier key: ${error.message}`);
  }
  if (key.type !== signatureTypes.ed25519) {
    throw new UnknownLogError(
      `${shown(text)} is a key of type ${key.type}, wanted type 1, which signs checkpoints`,
    );
  }
  if (importPublicKey(key.publicKey) === undefined) {
    throw new UnknownLogError(`${shown(text)} is no acceptable Ed25519 key`);
  }
  return key;
}

/** One key a line; empty lines and those that begin with # say nothing. Throws `UnknownLogError` with the line. */
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

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}
