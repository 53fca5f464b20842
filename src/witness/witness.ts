import { verifyNative } from '../crypto/ed25519.ts';
import { sha256 } from '../crypto/sha256.ts';
import { caught } from '../errors.ts';
import { limits } from '../limits.ts';
import { type Binding, bindsElsewhere, firstRootOf, type SizedRoot } from '../tlog/binding.ts';
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
import { consistencyPlan, omitsFirstRoot, verifyConsistency } from '../tlog/proof.ts';
import { equalHashes, foldRoot, type Hash } from '../tlog/tree.ts';
import { type AddCheckpoint, parseAddCheckpoint } from './add-checkpoint.ts';
import { strictUtf8 } from './utf8.ts';
import { type LastCosigned, originHash, type WitnessState } from './witness-state.ts';

/** Responses of C2SP tlog-witness, and 503 if too many requests are queued. */
export type Answer =
  | { readonly status: 200; readonly line: string }
  | { readonly status: 409; readonly size: number }
  | { readonly status: 400 | 403 | 404 | 422 | 503; readonly reason: string };

/**
 * A contradiction by a log: the log signed two trees, neither of which extends the other. Both notes have
 * the signature of the log.
 */
export interface Contradiction {
  readonly origin: string;
  readonly message: string;
  readonly kept: string;
  readonly refused: string;
  /**
   * Path of a file that `candor verify` accepts; undefined if the limit of files is reached or writing
   * failed.
   */
  readonly evidence: string | undefined;
}

export interface WitnessOptions {
  readonly state: WitnessState;
  /** Keys of the known logs; the name of a key is its log's origin. */
  readonly logs: readonly VerifierKey[];
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number;
  /** Called when a log contradicts itself: before the response, after the attempt to store the evidence. */
  readonly onContradiction: (found: Contradiction) => void;
}

/**
 * A witness (C2SP tlog-witness): cosigns a checkpoint of a known log if it extends the last cosigned checkpoint, and
 * never cosigns anything that contradicts an earlier cosignature.
 *
 * Checkpoints of one log are processed one at a time: each is compared with the stored checkpoint, then stored and
 * flushed, and only then is the cosignature returned. Logs are processed independently.
 */
export class Witness {
  readonly #options: WitnessOptions;
  readonly #logs = new Map<string, VerifierKey[]>();
  readonly #queues = new Map<string, { last: Promise<unknown>; length: number }>();

  constructor(options: WitnessOptions) {
    this.#options = options;
    for (const key of options.logs) this.#logs.set(key.name, [...(this.#logs.get(key.name) ?? []), key]);
  }

  /**
   * Handles the body of an `add-checkpoint` request. Rejects only if the state can't be written; then nothing
   * was cosigned.
   */
  async addCheckpoint(body: Uint8Array): Promise<Answer> {
    const parsed = readRequest(body);
    if ('status' in parsed) return parsed;
    const keys = this.#logs.get(parsed.checkpoint.origin);
    if (keys === undefined) return { status: 404, reason: 'unknown log' };
    const signatures = signaturesOf(parsed.note, keys);
    if (signatures.length === 0) return { status: 403, reason: 'not signed by a known key of this log' };
    if (parsed.request.oldSize > parsed.checkpoint.size) {
      return { status: 400, reason: 'the old size is larger than the size of the checkpoint' };
    }
    const hash = originHash(parsed.checkpoint.origin);
    return this.#inTurn(hash, () => this.#compareAndKeep(hash, parsed, { keys, signatures }));
  }

  /** Returns the last cosigned checkpoint of the log with this origin hash, for monitors; undefined without one. */
  latest(hash: string): string | undefined {
    return this.#options.state.latest(hash)?.note;
  }

  async #compareAndKeep(hash: string, parsed: Parsed, { keys, signatures }: SignedBy): Promise<Answer> {
    const { state, now } = this.#options;
    const { note, checkpoint } = parsed;
    const kept = state.latest(hash);
    const rejection = compare(kept, parsed);
    if (rejection !== undefined) {
      const refused = formatNote({ text: note.text, signatures });
      const isFork = kept !== undefined && (await this.#reportFork(hash, kept, parsed, { keys, refused }));
      // A forked log may omit the consistency proof. The note is stored anyway: with another signed checkpoint of the
      // same size and a different root, it proves the fork later.
      const isCosigned = kept?.size === checkpoint.size && equalHashes(kept.root, checkpoint.root);
      if (!isFork && !isCosigned) await state.storeRejected(hash, refused, now());
      return rejection;
    }

    // If the clock was set back, use the time of the previous cosignature instead of an earlier one.
    const timeS = Math.max(Math.floor(now() / 1000), kept?.timeS ?? 0);
    const own = state.key.cosign(timeS, note.text);
    const cosigned = formatNote({ text: note.text, signatures: [...signatures, own] });
    await state.store(hash, { size: checkpoint.size, root: checkpoint.root, timeS, note: cosigned });
    return { status: 200, line: signatureLine(note.text, own) };
  }

  /**
   * Stores evidence if the rejected checkpoint contradicts the cosigned checkpoint and a known key signed both. Returns
   * whether the two checkpoints prove a fork.
   */
  async #reportFork(hash: string, kept: LastCosigned, parsed: Parsed, { keys, refused }: Rejected): Promise<boolean> {
    const { state, now, onContradiction } = this.#options;
    const fork = findFork(kept, parsed.checkpoint, parsed.request.proof);
    const cosigned = parseNote(kept.note);
    if (fork === undefined || signaturesOf(cosigned, keys).length === 0) return false;
    const { origin } = parsed.checkpoint;
    const foundAt = new Date(now()).toISOString();
    const checkpoints = [kept.note, refused] as const;
    const text = writeForkEvidence({ ...fork, origin, foundAt, checkpoints, keys });
    let evidence: string | undefined;
    try {
      evidence = await state.storeEvidence(hash, [cosigned.text, parsed.note.text], text);
    } finally {
      onContradiction({ origin, message: fork.message, kept: kept.note, refused, evidence });
    }
    return true;
  }

  async #inTurn(hash: string, work: () => Promise<Answer>): Promise<Answer> {
    const queue = this.#queues.get(hash) ?? { last: Promise.resolve(), length: 0 };
    this.#queues.set(hash, queue);
    if (queue.length >= limits.maxWitnessQueue) return { status: 503, reason: 'too many queued requests' };
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

/** Known keys of a log, and the signatures of a note by these keys. */
interface SignedBy {
  readonly keys: readonly VerifierKey[];
  readonly signatures: readonly NoteSignature[];
}

/** A rejected note, with the signatures of the log. */
interface Rejected {
  readonly keys: readonly VerifierKey[];
  readonly refused: string;
}

/** A well-formed request. */
interface Parsed {
  readonly request: AddCheckpoint;
  readonly note: Note;
  readonly checkpoint: Checkpoint;
}

function readRequest(body: Uint8Array): Parsed | Answer {
  const text = strictUtf8(body);
  if (text === undefined) return { status: 400, reason: 'not valid UTF-8' };
  try {
    const request = parseAddCheckpoint(text);
    const note = parseNote(request.note);
    return { request, note, checkpoint: parseCheckpoint(note.text) };
  } catch (error) {
    if (error instanceof TlogError) return { status: 400, reason: error.message };
    throw error;
  }
}

/** Returns signatures by the known keys; empty if any is invalid: the note is then invalid (C2SP signed-note). */
function signaturesOf(note: Note, keys: readonly VerifierKey[]): NoteSignature[] {
  return caught(TlogError, [], () =>
    keys.map((key) => noteSignatureBy(note, key, verifyNative)).filter((signature) => signature !== undefined),
  );
}

/** Returns the response that rejects this checkpoint; undefined if it may be cosigned after the stored checkpoint. */
function compare(kept: LastCosigned | undefined, { request, checkpoint }: Parsed): Answer | undefined {
  const keptSize = kept?.size ?? 0;
  if (request.oldSize !== keptSize) return { status: 409, size: keptSize };
  if (checkpoint.size === 0 && !equalHashes(checkpoint.root, foldRoot(sha256, 0, []))) {
    return { status: 422, reason: 'the checkpoint has size 0, but not the root of the empty tree' };
  }
  if (kept === undefined || keptSize === 0) {
    return request.proof.length === 0 ? undefined : { status: 422, reason: 'proof must be empty' };
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

/** Formats the signature as a line, as in a response. */
export function signatureLine(text: string, signature: NoteSignature): string {
  return formatNote({ text, signatures: [signature] }).slice(text.length + 1);
}

/** A contradiction between two roots signed by the same log. */
export interface Fork {
  readonly message: string;
  readonly binding?: Binding;
}

/**
 * Returns the fork that two signed checkpoints prove; undefined if they prove no fork. A fork is proven by two roots
 * for the same size, or by a consistency proof that derives the later root from a different earlier root. An invalid
 * proof alone proves nothing, since any client can send an invalid proof; a smaller checkpoint proves nothing either.
 *
 * A consistency proof from a power of two omits the first root (RFC 6962), because the verifier has it. After a
 * rejection, the log sends such a proof again with its own first root in front. That root reveals the different
 * earlier tree.
 */
export function findFork(cosigned: SizedRoot, later: SizedRoot, proof: readonly Hash[]): Fork | undefined {
  const [firstSize, secondSize] = [cosigned.size, later.size];
  if (firstSize === secondSize) {
    if (equalHashes(cosigned.root, later.root)) return undefined;
    return { message: `two roots are signed for size ${firstSize}` };
  }
  if (firstSize === 0 || firstSize > secondSize) return undefined;
  const hasFirstRoot = omitsFirstRoot(firstSize) && proof.length === consistencyPlan(firstSize, secondSize).length + 1;
  const firstRoot = hasFirstRoot ? proof[0] : firstRootOf(sha256, proof, firstSize, secondSize);
  if (firstRoot === undefined) return undefined;
  const binding = { firstSize, secondSize, firstRoot, path: hasFirstRoot ? proof.slice(1) : proof };
  if (!bindsElsewhere(sha256, binding, cosigned, later)) return undefined;
  return {
    message: `the tree of size ${secondSize} does not extend the tree signed for size ${firstSize}`,
    binding,
  };
}
