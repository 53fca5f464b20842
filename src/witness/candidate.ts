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
  /** When the witness says that it signed, seconds since 1970. */
  readonly timeS: number;
}

/** A checkpoint of our log and the cosignatures gathered for it so far. */
export class Candidate {
  readonly checkpoint: Checkpoint;
  /** What the log signed it with. */
  readonly logKey: VerifierKey;
  /** The text that is cosigned. */
  readonly text: string;
  /** When it came up, epoch milliseconds. */
  #since: number;
  /** Grows with each cosignature: what was written of an earlier one is to be written again. */
  #version = 0;
  readonly #own: NoteSignature;
  readonly #cosigned = new Map<PolicyWitness, Cosigned>();

  /** Throws a `TlogError` for what is no checkpoint that `logKey` signed. */
  constructor(note: string, logKey: VerifierKey, since: number, verify: Ed25519Verifier) {
    const parsed = parseNote(note);
    const own = noteSignatureBy(parsed, logKey, verify);
    if (own === undefined) throw new TlogError('bad_note_signature', `not signed by ${logKey.name}`);
    this.checkpoint = parseCheckpoint(parsed.text);
    this.text = parsed.text;
    this.logKey = logKey;
    this.#since = since;
    this.#own = own;
  }

  get size(): number {
    return this.checkpoint.size;
  }

  get since(): number {
    return this.#since;
  }

  get version(): number {
    return this.#version;
  }

  add(witness: PolicyWitness, cosigned: Cosigned): void {
    this.#cosigned.set(witness, cosigned);
    this.#version += 1;
  }

  /** Takes over what a kept note holds of known witnesses; what is wrong there is left out. */
  addFrom(note: string, policy: Policy, verify: Ed25519Verifier): void {
    const parsed = parseNote(note);
    for (const witness of policy.witnesses) {
      try {
        const signature = noteSignatureBy(parsed, witness.key, verify);
        if (signature === undefined) continue;
        const { timeS } = decodeCosignature(signature.signature);
        this.add(witness, { signature, timeS });
        this.#since = Math.min(this.#since, timeS * 1000);
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

  /** The log's signature, then the cosignatures in the policy's order. */
  note(policy: Policy): string {
    const cosignatures = policy.witnesses.flatMap((witness) => this.by(witness)?.signature ?? []);
    return formatNote({ text: this.text, signatures: [this.#own, ...cosignatures] });
  }

  /** The log's signature alone, which is what witnesses are sent. */
  bare(): string {
    return formatNote({ text: this.text, signatures: [this.#own] });
  }
}
