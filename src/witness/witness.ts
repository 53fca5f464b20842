import { limits } from '../limits.ts';
import { sha256 } from '../sha256.ts';
import { type Checkpoint, parseCheckpoint } from '../tlog/checkpoint.ts';
import { writeForkEvidence } from '../tlog/evidence.ts';
import { TlogError } from '../tlog/fault.ts';
import {
  formatNote,
  type Note,
  type NoteSignature,
  noteSignatureBy,
  parseNote,
  type VerifierKey,
} from '../tlog/note.ts';
import { verifyConsistency } from '../tlog/proof.ts';
import { equalHashes, foldRoot } from '../tlog/tree.ts';
import { type AddCheckpoint, parseAddCheckpoint } from './add-checkpoint.ts';
import { findFork } from './find-fork.ts';
import { strictUtf8 } from './utf8.ts';
import { verifyNative } from './verify.ts';
import { type Kept, originHash, type WitnessState } from './witness-state.ts';

/** The answers of C2SP tlog-witness, and 503 where too many wait already. */
export type Answer =
  | { readonly status: 200; readonly line: string }
  | { readonly status: 409; readonly size: number }
  | { readonly status: 400 | 403 | 404 | 422 | 503; readonly reason: string };

/** A log that signed two trees of which neither extends the other. Both notes carry its signature. */
export interface Contradiction {
  readonly origin: string;
  readonly message: string;
  readonly kept: string;
  readonly refused: string;
  /** The file that `candor verify` accepts; undefined where as many are kept already, or it could not be written. */
  readonly evidence: string | undefined;
}

export interface WitnessOptions {
  readonly state: WitnessState;
  /** The keys of the logs that are known; a key's name is its log's origin. */
  readonly logs: readonly VerifierKey[];
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A log has contradicted itself. Called when the evidence is on disk, before the request is answered. */
  readonly onContradiction: (found: Contradiction) => void;
}

/**
 * A witness (C2SP tlog-witness): cosigns a checkpoint of a known log if it extends the one that it cosigned last, and
 * never anything that contradicts what it once cosigned.
 *
 * Order: of the checkpoints of one log, one at a time is compared with what is kept, kept and flushed, and only then
 * does its cosignature leave. Logs don't wait for each other.
 */
export class Witness {
  readonly #options: WitnessOptions;
  readonly #logs = new Map<string, VerifierKey[]>();
  readonly #queues = new Map<string, { last: Promise<unknown>; length: number }>();

  constructor(options: WitnessOptions) {
    this.#options = options;
    for (const key of options.logs) this.#logs.set(key.name, [...(this.#logs.get(key.name) ?? []), key]);
  }

  /** Answers the body of an `add-checkpoint`. Rejects only where the state can't be written; nothing was cosigned then. */
  async addCheckpoint(body: Uint8Array): Promise<Answer> {
    const read = readRequest(body);
    if ('status' in read) return read;
    const keys = this.#logs.get(read.checkpoint.origin);
    if (keys === undefined) return { status: 404, reason: 'this log is not known here' };
    const signatures = signaturesOf(read.note, keys);
    if (signatures.length === 0) return { status: 403, reason: 'not signed by a known key of this log' };
    if (read.request.oldSize > read.checkpoint.size) {
      return { status: 400, reason: 'the old size is larger than that of the checkpoint' };
    }
    const hash = originHash(read.checkpoint.origin);
    return this.#inTurn(hash, () => this.#compareAndKeep(hash, read, { keys, signatures }));
  }

  /** The checkpoint cosigned last of the log with this origin hash: what monitors fetch. */
  latest(hash: string): string | undefined {
    return this.#options.state.kept(hash)?.note;
  }

  async #compareAndKeep(hash: string, read: Read, { keys, signatures }: SignedBy): Promise<Answer> {
    const { state, now } = this.#options;
    const { note, checkpoint } = read;
    const kept = state.kept(hash);
    const refusal = compare(kept, read);
    if (refusal !== undefined) {
      const refused = formatNote({ text: note.text, signatures });
      const isConvicted = kept !== undefined && (await this.#convict(hash, kept, read, { keys, refused }));
      // A log that forked may send no proof at all. Beside another checkpoint of this size, the note convicts it.
      const isCosigned = kept?.size === checkpoint.size && equalHashes(kept.root, checkpoint.root);
      if (!isConvicted && !isCosigned) await state.keepRefused(hash, refused, now());
      return refusal;
    }

    // A clock that was set back must not date this before what it extends.
    const timeS = Math.max(Math.floor(now() / 1000), kept?.timeS ?? 0);
    const own = state.key.cosign(timeS, note.text);
    const cosigned = formatNote({ text: note.text, signatures: [...signatures, own] });
    await state.keep(hash, { size: checkpoint.size, root: checkpoint.root, timeS, note: cosigned });
    return { status: 200, line: signatureLine(note.text, own) };
  }

  /** Keeps evidence where what is refused contradicts what was cosigned, and both are signed by a known key. */
  async #convict(hash: string, kept: Kept, read: Read, { keys, refused }: Refused): Promise<boolean> {
    const { state, now, onContradiction } = this.#options;
    const fork = findFork(kept, read.checkpoint, read.request.proof);
    const cosigned = parseNote(kept.note);
    if (fork === undefined || signaturesOf(cosigned, keys).length === 0) return false;
    const { origin } = read.checkpoint;
    const foundAt = new Date(now()).toISOString();
    const checkpoints = [kept.note, refused] as const;
    const text = writeForkEvidence({ ...fork, origin, foundAt, checkpoints, keys });
    let evidence: string | undefined;
    try {
      evidence = await state.keepEvidence(hash, [cosigned.text, read.note.text], text);
    } finally {
      onContradiction({ origin, message: fork.message, kept: kept.note, refused, evidence });
    }
    return true;
  }

  async #inTurn(hash: string, work: () => Promise<Answer>): Promise<Answer> {
    const queue = this.#queues.get(hash) ?? { last: Promise.resolve(), length: 0 };
    this.#queues.set(hash, queue);
    if (queue.length >= limits.maxWitnessQueue) return { status: 503, reason: 'too many wait for this log' };
    queue.length += 1;
    const mine = queue.last.then(work);
    queue.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      queue.length -= 1;
    }
  }
}

/** The known keys of a log, and those of their signatures that a note carries. */
interface SignedBy {
  readonly keys: readonly VerifierKey[];
  readonly signatures: readonly NoteSignature[];
}

/** A note that is not cosigned, with the signatures of the log. */
interface Refused {
  readonly keys: readonly VerifierKey[];
  readonly refused: string;
}

/** A request that is well-formed. */
interface Read {
  readonly request: AddCheckpoint;
  readonly note: Note;
  readonly checkpoint: Checkpoint;
}

function readRequest(body: Uint8Array): Read | Answer {
  const text = strictUtf8(body);
  if (text === undefined) return { status: 400, reason: 'not in UTF-8' };
  try {
    const request = parseAddCheckpoint(text);
    const note = parseNote(request.note);
    return { request, note, checkpoint: parseCheckpoint(note.text) };
  } catch (error) {
    if (error instanceof TlogError) return { status: 400, reason: error.message };
    throw error;
  }
}

/** Those of the known keys; none where one of them is wrong, which spoils the whole note (C2SP signed-note). */
function signaturesOf(note: Note, keys: readonly VerifierKey[]): NoteSignature[] {
  try {
    return keys
      .map((key) => noteSignatureBy(note, key, verifyNative))
      .filter((signature) => signature !== undefined);
  } catch (error) {
    if (error instanceof TlogError) return [];
    throw error;
  }
}

/** Why this may not be cosigned after what is kept; undefined where it may. */
function compare(kept: Kept | undefined, { request, checkpoint }: Read): Answer | undefined {
  const keptSize = kept?.size ?? 0;
  if (request.oldSize !== keptSize) return { status: 409, size: keptSize };
  if (checkpoint.size === 0 && !equalHashes(checkpoint.root, foldRoot(sha256, 0, []))) {
    return { status: 422, reason: 'size 0 with another root than the empty tree’s' };
  }
  if (kept === undefined || keptSize === 0) {
    return request.proof.length === 0 ? undefined : { status: 422, reason: 'a proof from size 0' };
  }
  try {
    verifyConsistency(sha256, {
      firstSize: keptSize,
      firstRoot: kept.root,
      secondSize: checkpoint.size,
      secondRoot: checkpoint.root,
      path: request.proof,
    });
    return undefined;
  } catch (error) {
    if (error instanceof TlogError) return { status: 422, reason: error.message };
    throw error;
  }
}

/** The signature as a line of its own, which is how an answer carries it. */
export function signatureLine(text: string, signature: NoteSignature): string {
  return formatNote({ text, signatures: [signature] }).slice(text.length + 1);
}
