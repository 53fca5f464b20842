import { type Binding, bindsElsewhere, firstRootOf, type SizedRoot } from '../tlog/binding.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';
import { members, parseExact, safeInteger } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import type { LogSource } from './log-source.ts';
import { sha256 } from './sha256.ts';
import { proofFromTiles } from './tiles.ts';
import { readPath, verifyConsistency } from './verify.ts';

/** Two trees of one log that appear inconsistent, with the available proof. */
export interface Contradiction {
  readonly fault: AuditFault;
  /** Proof that the later tree extends a tree with a different root than the earlier signed one. */
  readonly binding?: Binding;
  /** The log's response to the request for a consistency proof. */
  readonly answer?: string;
}

/**
 * Checks that the tree of `later` extends that of `earlier`, which has the same or a smaller size; returns undefined if
 * so. Without a usable proof, the tiles decide. They show that the log is append-only (WRONG_PROOF, PROOF_WITHHELD), or
 * that the later root extends a different tree (a contradiction), or neither. Only a contradiction with a `binding`, or
 * of equal sizes, is misbehaviour: a proxy may cause all other faults.
 */
export async function checkExtension(
  log: LogSource,
  earlier: SizedRoot,
  later: SizedRoot,
): Promise<AuditFault | Contradiction | undefined> {
  if (earlier.size === later.size) {
    if (equalHashes(earlier.root, later.root)) return undefined;
    return { fault: new AuditFault('FORK', `two roots are signed for size ${later.size}`) };
  }
  const proof = await fetchConsistency(log, earlier.size, later.size);
  if (proof instanceof AuditFault) return fromTiles(log, earlier, later, proof);
  const { text: answer, path } = proof;
  const fault = verifyConsistency(earlier, later, path);
  if (fault === undefined) return undefined;
  const earlierRoot = firstRootOf(sha256, path, earlier.size, later.size);
  if (earlierRoot !== undefined) {
    const binding = { firstSize: earlier.size, secondSize: later.size, firstRoot: earlierRoot, path };
    if (bindsElsewhere(sha256, binding, earlier, later)) return { fault, binding, answer };
  }
  return fromTiles(log, earlier, later, fault, answer);
}

/** Checks that the larger tree extends the smaller one. */
export function checkEither(log: LogSource, one: SizedRoot, other: SizedRoot) {
  return one.size <= other.size ? checkExtension(log, one, other) : checkExtension(log, other, one);
}

/**
 * Performs the check with tiles. `failed` is the fault of the proof: INCONSISTENT if the proof results in other roots.
 */
async function fromTiles(
  log: LogSource,
  earlier: SizedRoot,
  later: SizedRoot,
  failed: AuditFault,
  answer?: string,
): Promise<AuditFault | Contradiction> {
  const tiles = await proofFromTiles(log, earlier.size, later.size);
  const withAnswer = answer === undefined ? {} : { answer };
  if (!(tiles instanceof AuditFault)) {
    const binding = { firstSize: earlier.size, secondSize: later.size, ...tiles };
    if (bindsElsewhere(sha256, binding, earlier, later))
      return { fault: new AuditFault('INCONSISTENT', failed.message), binding, ...withAnswer };
    if (verifyConsistency(earlier, later, tiles.path) === undefined) {
      if (failed.code === 'INCONSISTENT')
        return new AuditFault('WRONG_PROOF', `${failed.message}; the tiles show that the log is append-only`);
      const code = failed.code === 'HTTP_REFUSED' ? 'PROOF_WITHHELD' : failed.code;
      return new AuditFault(code, `${failed.message}; the tiles show that the log is append-only`);
    }
  }
  if (failed.kind === 'unavailable') return failed;
  if (tiles instanceof AuditFault && tiles.kind === 'unavailable') return tiles;
  const sizes = `from size ${earlier.size} to size ${later.size}`;
  const message = `neither the proof nor the tiles connect the trees ${sizes}: ${failed.message}`;
  return { fault: new AuditFault('PROOF_WITHHELD', message), ...withAnswer };
}

/** Fetches a consistency proof: the text of the response, and its hashes. A malformed response is a fault. */
export async function fetchConsistency(
  log: LogSource,
  first: number,
  second: number,
): Promise<{ text: string; path: Hash[] } | AuditFault> {
  const text = await log.get(`/api/transparency/consistency?first=${first}&second=${second}`);
  if (text instanceof AuditFault) return text;
  const fields = members(parseExact(text));
  const sizes = [fields?.first_size, fields?.second_size, fields?.tree_size].map(safeInteger);
  if (sizes[0] !== first || sizes[1] !== second || sizes[2] !== second) {
    return new AuditFault(
      'MALFORMED_PROOF',
      `expected a proof from ${first} to ${second}, got ${sizes[0]} to ${sizes[1]}`,
    );
  }
  const path = readPath(fields?.audit_path);
  return path instanceof AuditFault ? path : { text, path };
}
