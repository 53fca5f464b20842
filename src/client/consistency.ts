import { type Binding, bindsElsewhere, firstRootOf, type SizedRoot } from '../tlog/binding.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';
import { members, parseExact, safeInteger } from './exact-json.ts';
import { Fault } from './fault.ts';
import type { LogSource } from './log-source.ts';
import { sha256 } from './sha256.ts';
import { proofFromTiles } from './tiles.ts';
import { readPath, verifyConsistency } from './verify.ts';

/** Two trees of one log that do not fit each other, as far as can be seen, and what shows it. */
export interface Contradiction {
  readonly fault: Fault;
  /** Binds the later root to another earlier root than the one that was signed. */
  readonly binding?: Binding;
  /** What the log answered when it was asked for a proof. */
  readonly answer?: string;
}

/**
 * Whether the tree of `later` begins with that of `earlier`, of one size or a smaller one: undefined if so. Without a
 * usable proof the tiles decide: they show that the log only grew (WRONG_PROOF, PROOF_WITHHELD), or another past of the
 * later root (a contradiction), or nothing. Only a contradiction with a `binding`, or of one size, is misbehaviour:
 * anything else can be the work of a proxy.
 */
export async function checkExtension(
  log: LogSource,
  earlier: SizedRoot,
  later: SizedRoot,
): Promise<Fault | Contradiction | undefined> {
  if (earlier.size === later.size) {
    if (equalHashes(earlier.root, later.root)) return undefined;
    return { fault: new Fault('FORK', `two roots are signed for size ${later.size}`) };
  }
  const proof = await fetchConsistency(log, earlier.size, later.size);
  if (proof instanceof Fault) return fromTiles(log, earlier, later, proof);
  const { text: answer, path } = proof;
  const fault = verifyConsistency(earlier, later, path);
  if (fault === undefined) return undefined;
  const told = firstRootOf(sha256, path, earlier.size, later.size);
  if (told !== undefined) {
    const binding = { firstSize: earlier.size, secondSize: later.size, firstRoot: told, path };
    if (bindsElsewhere(sha256, binding, earlier, later)) return { fault, binding, answer };
  }
  return fromTiles(log, earlier, later, fault, answer);
}

/** Whether the tree of the larger size begins with the other. */
export function checkEither(log: LogSource, one: SizedRoot, other: SizedRoot) {
  return one.size <= other.size ? checkExtension(log, one, other) : checkExtension(log, other, one);
}

/** The same from tiles. `failed` says why the proof did not decide: INCONSISTENT where it leads to other roots. */
async function fromTiles(
  log: LogSource,
  earlier: SizedRoot,
  later: SizedRoot,
  failed: Fault,
  answer?: string,
): Promise<Fault | Contradiction> {
  const tiles = await proofFromTiles(log, earlier.size, later.size);
  const told = answer === undefined ? {} : { answer };
  if (!(tiles instanceof Fault)) {
    const binding = { firstSize: earlier.size, secondSize: later.size, ...tiles };
    if (bindsElsewhere(sha256, binding, earlier, later))
      return { fault: new Fault('INCONSISTENT', failed.message), binding, ...told };
    if (verifyConsistency(earlier, later, tiles.path) === undefined) {
      if (failed.code === 'INCONSISTENT')
        return new Fault('WRONG_PROOF', `${failed.message}; the tiles show that the log only grew`);
      const code = failed.code === 'HTTP_REFUSED' ? 'PROOF_WITHHELD' : failed.code;
      return new Fault(code, `${failed.message}; the tiles show that the log only grew`);
    }
  }
  if (failed.kind === 'unavailable') return failed;
  if (tiles instanceof Fault && tiles.kind === 'unavailable') return tiles;
  const sizes = `from size ${earlier.size} to size ${later.size}`;
  const message = `neither the proof nor the tiles lead ${sizes}: ${failed.message}`;
  return { fault: new Fault('PROOF_WITHHELD', message), ...told };
}

/** Proof that one size extends the other, as the log tells it: the text, and its hashes where they are well-formed. */
export async function fetchConsistency(
  log: LogSource,
  first: number,
  second: number,
): Promise<{ text: string; path: Hash[] } | Fault> {
  const text = await log.get(`/api/transparency/consistency?first=${first}&second=${second}`);
  if (text instanceof Fault) return text;
  const fields = members(parseExact(text));
  const sizes = [fields?.first_size, fields?.second_size, fields?.tree_size].map(safeInteger);
  if (sizes[0] !== first || sizes[1] !== second || sizes[2] !== second) {
    return new Fault(
      'MALFORMED_PROOF',
      `wanted a proof from ${first} to ${second}, came ${sizes[0]} to ${sizes[1]}`,
    );
  }
  const path = readPath(fields?.audit_path);
  return path instanceof Fault ? path : { text, path };
}
