/**
 * C2SP tlog-proof (https://c2sp.org/tlog-proof): a checkpoint and the inclusion proof of one entry in its tree.
 *
 *     c2sp.org/tlog-proof@v1
 *     extra <base64>                                     optional, not authenticated
 *     index 5
 *     <base64 of a hash>                                 zero or more, from the leaf's sibling up
 *
 *     example.com/log                                    the signed note of the checkpoint, verbatim
 *     …
 */
import { base64ToBytes, toBase64 } from './base64.ts';
import { TlogError } from './fault.ts';
import { maxNoteLength } from './note.ts';
import { checkHash, type Hash } from './tree.ts';

const header = 'c2sp.org/tlog-proof@v1';

/** Maximum hashes of a path. A tree of 2^53 leaves has paths of 53 hashes. */
const maxPathLength = 64;
const maxExtraLength = 100_000;

export interface TlogProof {
  readonly leafIndex: number;
  /** Path from the leaf's sibling to the root's child (RFC 6962 section 2.1.1). */
  readonly path: readonly Hash[];
  /** The checkpoint as signed; `parseNote` reads it. */
  readonly note: string;
  /** Data added by the log, which is not authenticated. */
  readonly extra?: Uint8Array;
}

export function formatTlogProof({ leafIndex, path, note, extra }: TlogProof): string {
  const lines = [
    header,
    ...(extra === undefined ? [] : [`extra ${toBase64(extra)}`]),
    `index ${leafIndex}`,
    ...path.map(toBase64),
  ];
  return `${lines.join('\n')}\n\n${note}`;
}

/** Parses a tlog-proof without verifying path or note. Faults: bad_tlog_proof, bad_base64, bad_hash. */
export function parseTlogProof(text: string): TlogProof {
  if (text.length > maxNoteLength + maxExtraLength) throw wrong(`it is too long: ${text.length} characters`);
  const end = text.indexOf('\n\n');
  if (end < 0) throw wrong('there is no empty line before the checkpoint');
  const lines = text.slice(0, end).split('\n');
  if (lines.shift() !== header) throw wrong(`the first line is not ${header}`);
  const extra = lines[0]?.startsWith('extra ')
    ? base64ToBytes(lines.shift()!.slice('extra '.length), 'the extra data')
    : undefined;
  const index = /^index (0|[1-9][0-9]{0,15})$/.exec(lines.shift() ?? '')?.[1];
  if (index === undefined || !Number.isSafeInteger(Number(index)))
    throw wrong('there is no line "index <n>" with a canonical decimal below 2^53');
  if (lines.length > maxPathLength) throw wrong(`the path is too long: ${lines.length} hashes`);
  const path = lines.map((line, i) => {
    const hash = base64ToBytes(line, `hash ${i} of the path`);
    checkHash(hash, `hash ${i} of the path`);
    return hash;
  });
  const proof = { leafIndex: Number(index), path, note: text.slice(end + 2) };
  return extra === undefined ? proof : { ...proof, extra };
}

function wrong(reason: string): TlogError {
  return new TlogError('bad_tlog_proof', `not a tlog-proof: ${reason}`);
}
