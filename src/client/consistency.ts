import { type Binding, bindsElsewhere, firstRootOf, type SizedRoot } from '../tlog/binding.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';
import { members, parseExact, safeInteger } from './exact-json.ts';
import { Fault } from './fault.ts';
import type { LogSource } from './log-source.ts';
import { sha256 } from './sha256.ts';
import { proofFromTiles } from './tiles.ts';
import { readPath, verifyConsistency } from './verify.ts';

/** Two trees of one log that don't fit each other, and what shows it. */
export interface Contradiction {
  readonly fault: Fault;
  /** Binds the later root to another earlier root than the one that was signed. */
  readonly binding?: Binding;
  /** What the log answered when it was asked for a proof. */
  readonly answer?: string;
}

/**
 * Whether the tree of `later` begins with that of `earlier`, of one size or a smaller one: undefined if so. A proof
 * that leads to neither root may be a mistake of the service, so the tiles are asked: they either show that the log
 * only grew (WRONG_PROOF), or what its past is now, or nothing.
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
  const sizes = { firstSize: earlier.size, secondSize: later.size };
  const proof = await fetchConsistency(log, earlier.size, later.size);
  if (proof instanceof Fault) return proof;
  const { text: answer, path } = proof;
  const fault = verifyConsistency(earlier, later, path);
  if (fault === undefined) return undefined;

  const told = firstRootOf(sha256, path, earlier.size, later.size);
  if (told !== undefined) {
    const binding = { ...sizes, firstRoot: told, path };
    if (bindsElsewhere(sha256, binding, earlier, later)) return { fault, binding, answer };
  }
  const tiles = await proofFromTiles(log, earlier.size, later.size);
  if (tiles instanceof Fault) return { fault, answer };
  const binding = { ...sizes, ...tiles };
  if (bindsElsewhere(sha256, binding, earlier, later)) return { fault, binding, answer };
  if (verifyConsistency(earlier, later, tiles.path) !== undefined) return { fault, answer };
  return new Fault('WRONG_PROOF', `${fault.message}; the tiles show that the log only grew`);
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
