import { type Checkpoint, parseCheckpoint } from '../tlog/checkpoint.ts';
import { decodeCosignature } from '../tlog/cosignature.ts';
import { TlogError } from '../tlog/fault.ts';
import {
  type Ed25519Verifier,
  formatNote,
  type NoteSignature,
  noteSignatureBy,
  parseNote,
  type VerifierKey,
} from '../tlog/note.ts';
import { isQuorum, type Policy, type PolicyWitness } from './policy.ts';

/** A verified cosignature. */
export interface Cosigned {
  readonly signature: NoteSignature;
  /** Time of the cosignature, by the witness's clock, in seconds since 1970. */
  readonly timeS: number;
}

/** A checkpoint of this log with the cosignatures collected so far. */
export class Candidate {
  readonly checkpoint: Checkpoint;
  /** The key that signed the checkpoint for the log. */
  readonly logKey: VerifierKey;
  /** The cosigned text. */
  readonly text: string;
  /** Time at which the candidate was created, or of its earliest stored cosignature, in epoch milliseconds. */
  #createdAt: number;
  /** Version, incremented with each cosignature. Shows whether a stored note is outdated. */
  #version = 0;
  readonly #logSignature: NoteSignature;
  readonly #cosigned = new Map<PolicyWitness, Cosigned>();

  /** @throws TlogError if the note is not a checkpoint signed by `logKey` */
  constructor(note: string, logKey: VerifierKey, since: number, verify: Ed25519Verifier) {
    const parsed = parseNote(note);
    const logSignature = noteSignatureBy(parsed, logKey, verify);
    if (logSignature === undefined) throw new TlogError('bad_note_signature', `not signed by ${logKey.name}`);
    this.checkpoint = parseCheckpoint(parsed.text);
    this.text = parsed.text;
    this.logKey = logKey;
    this.#createdAt = since;
    this.#logSignature = logSignature;
  }

  get size(): number {
    return this.checkpoint.size;
  }

  get since(): number {
    return this.#createdAt;
  }

  get version(): number {
    return this.#version;
  }

  add(witness: PolicyWitness, cosigned: Cosigned): void {
    this.#cosigned.set(witness, cosigned);
    this.#version += 1;
  }

  /** Adds the cosignatures of known witnesses from a stored note. Invalid cosignatures are ignored. */
  addFrom(note: string, policy: Policy, verify: Ed25519Verifier): void {
    const parsed = parseNote(note);
    for (const witness of policy.witnesses) {
      try {
        const signature = noteSignatureBy(parsed, witness.key, verify);
        if (signature === undefined) continue;
        const { timeS } = decodeCosignature(signature.signature);
        this.add(witness, { signature, timeS });
        this.#createdAt = Math.min(this.#createdAt, timeS * 1000);
      } catch (error) {
        if (!(error instanceof TlogError)) throw error;
      }
    }
  }

  by(witness: PolicyWitness): Cosigned | undefined {
    return this.#cosigned.get(witness);
  }

  hasQuorum(policy: Policy): boolean {
    return isQuorum(policy, new Set(this.#cosigned.keys()));
  }

  /** Returns the note with the log's signature, then the cosignatures in the policy's order. */
  note(policy: Policy): string {
    const cosignatures = policy.witnesses.flatMap((witness) => this.by(witness)?.signature ?? []);
    return formatNote({ text: this.text, signatures: [this.#logSignature, ...cosignatures] });
  }

  /** Returns the note with only the log's signature, as sent to witnesses. */
  bare(): string {
    return formatNote({ text: this.text, signatures: [this.#logSignature] });
  }
}
