import { sha256 } from '../../crypto/sha256.ts';
import { caught, invalidField, ServiceError } from '../../errors.ts';
import { formatCheckpoint, parseCheckpoint } from '../../tlog/checkpoint.ts';
import { TlogError } from '../../tlog/fault.ts';
import { formatNote, noteKeyId, parseNote, signatureTypes } from '../../tlog/note.ts';
import type { LedgerStorage, SignedHead } from '../storage/storage.ts';
import { logEmpty } from './prover.ts';
import type { VerifiedNodes } from './verified-nodes.ts';

/** The key with purpose `checkpoint`, and the name under which it signs: the log's origin. */
export interface CheckpointSigner {
  readonly origin: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

export interface CheckpointParts {
  readonly storage: LedgerStorage;
  readonly nodes: VerifiedNodes;
  /** Returns the latest head visible to the reader; undefined if no head is visible. */
  head(): SignedHead | undefined;
  /** Returns the active signing key. @throws UNAVAILABLE if no key is active */
  signer(): CheckpointSigner;
  /** Returns the log's name in notes. @throws UNAVAILABLE if the log has no name */
  origin(): string;
}

/** Formats tree heads as C2SP tlog-checkpoints. Owns the most recently signed checkpoint. */
export class Checkpoints {
  readonly #parts: CheckpointParts;
  #signed: { readonly text: string; readonly keyId: number; readonly note: string } | undefined;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  /** Returns the latest head as a note. Signs only if the tree, the origin or the key changed. Throws LOG_EMPTY. */
  latest(): string {
    const head = this.#parts.head();
    if (head === undefined) throw logEmpty();
    const { origin, publicKey, sign } = this.#parts.signer();
    const text = checkpointText(origin, head.size, head.root);
    const keyId = noteKeyId(sha256, origin, signatureTypes.ed25519, publicKey);
    if (this.#signed?.text !== text || this.#signed.keyId !== keyId) {
      const signature = sign(new TextEncoder().encode(text));
      const note = formatNote({ text, signatures: [{ name: origin, keyId, signature }] });
      this.#signed = { text, keyId, note };
    }
    return this.#signed.note;
  }

  /**
   * Stores a note with cosignatures, unless a note of a larger tree is stored. Throws INVALID_REQUEST unless this log
   * signs the same text for that size. The signatures are not checked.
   */
  keep(note: string): void {
    const size = this.sizeOf(note);
    const kept = this.kept();
    if (kept === undefined || size >= this.sizeOf(kept)) this.#parts.storage.keepCheckpoint(note);
  }

  /** Returns the stored note; undefined without a note, or if `sizeOf` rejects it. */
  kept(): string | undefined {
    const note = this.#parts.storage.keptCheckpoint();
    return caught(ServiceError, undefined, () => {
      if (note !== undefined) this.sizeOf(note);
      return note;
    });
  }

  /** Returns the size of a note. Throws INVALID_REQUEST unless this log signs the same text for that size. */
  sizeOf(note: string): number {
    const { nodes, head, origin } = this.#parts;
    const current = head()?.size ?? 0;
    try {
      const { text } = parseNote(note);
      const { size } = parseCheckpoint(text);
      if (size < 1 || size > current) throw wrongNote(`has ${size} leaves, but the log has ${current}`);
      if (text !== checkpointText(origin(), size, nodes.rootAt(size)))
        throw wrongNote(`is not the checkpoint of this log for ${size} leaves`);
      return size;
    } catch (error) {
      if (error instanceof TlogError) throw wrongNote(`is not a checkpoint: ${error.message}`);
      throw error;
    }
  }
}

function checkpointText(origin: string, size: number, root: Uint8Array): string {
  return formatCheckpoint({ origin, size, root, extensions: [] });
}

function wrongNote(reason: string): ServiceError {
  return invalidField('note', reason);
}
