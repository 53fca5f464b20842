import { members, parseExact, safeInteger } from '../../../client/exact-json.ts';
import { fetchHead } from '../../../client/latest.ts';
import { Denied, NotFound } from '../../../client/log-source.ts';
import { fetchTile } from '../../../client/tiles.ts';
import { AuditFault, type Bundle, type KeySet, parseBundle, type SignedHead } from '../../../client/verifier.ts';
import { readPath } from '../../../client/verify.ts';
import { pageColumns, pageWidth } from '../../../tlog/page.ts';
import type { Hash } from '../../../tlog/tree.ts';
import { api, may } from '../../state/session.ts';
import { log } from './log.ts';

/**
 * The requested entry: its index, or a text that the user entered (the id of the entry, the id of its alert, or its
 * leaf hash).
 */
export type Asked = { readonly index: number } | { readonly id: string };

/** An inclusion proof with the entry's bytes. */
export interface Proof {
  readonly kind: 'entry';
  readonly bundle: Bundle;
  /** The bundle as sent by the service or read from a file. */
  readonly text: string;
}

/** An inclusion proof without the entry's bytes, for users without access to them. */
export interface HiddenProof {
  readonly kind: 'hidden';
  readonly leafIndex: number;
  readonly leafHash: Hash;
  readonly path: readonly Hash[];
  readonly head: SignedHead;
  readonly keys: KeySet;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const hash = /^[0-9a-f]{64}$/;

/** Parses the index or id; undefined if neither is valid. */
export function askedOf(index: string | null, id: string | null): Asked | undefined {
  if (index !== null && /^(0|[1-9][0-9]*)$/.test(index) && Number.isSafeInteger(Number(index)))
    return { index: Number(index) };
  const text = id?.trim().toLowerCase();
  return text !== undefined && (uuid.test(text) || hash.test(text)) ? { id: text } : undefined;
}

/** Fetches the proof. Nothing is verified yet. */
export async function findProof(asked: Asked): Promise<Proof | HiddenProof | AuditFault> {
  const found = await fetchBundle(parameterOf(asked));
  if (found instanceof Denied) return findHidden(asked);
  if (!(found instanceof NotFound) || !('id' in asked) || !uuid.test(asked.id)) return found;
  const index = await indexOfAlert(asked.id);
  if (index === undefined) return new NotFound('HTTP_REFUSED', `the log has no entry or alert with id ${asked.id}`);
  return index instanceof AuditFault ? index : fetchBundle(`leaf_index=${index}`);
}

function parameterOf(asked: Asked): string {
  if ('index' in asked) return `leaf_index=${asked.index}`;
  return hash.test(asked.id) ? `leaf_hash=${asked.id}` : `entry_id=${asked.id}`;
}

async function fetchBundle(which: string): Promise<Proof | AuditFault> {
  const text = await log.get(`/api/transparency/proof?${which}`);
  if (text instanceof AuditFault) return text;
  const bundle = parseBundle(text);
  return bundle instanceof AuditFault ? bundle : { kind: 'entry', bundle, text };
}

/**
 * Returns the index of an alert's entry; an AuditFault if the alert is not logged, or not logged yet; undefined if the
 * user cannot read the alert.
 */
async function indexOfAlert(id: string): Promise<number | AuditFault | undefined> {
  if (!may('getAlert')) return undefined;
  try {
    const { data } = await api.call('getAlert', { params: { alert_id: id } });
    const place = data.attributes.transparency;
    return (
      place?.leaf_index ??
      new NotFound(
        'HTTP_REFUSED',
        `alert ${id} is not in the log: only alerts of severity high and above are logged, after a short delay`,
      )
    );
  } catch {
    return undefined;
  }
}

/** Fetches an inclusion proof without the bytes: hashes and paths are public, and the leaf's hash is in the tiles. */
async function findHidden(asked: Asked): Promise<HiddenProof | AuditFault> {
  const signed = await fetchHead(log);
  if (signed instanceof AuditFault) return signed;
  const { head, keys } = signed;
  const text = await log.get(`/api/transparency/inclusion?${parameterOf(asked)}&tree_size=${head.size}`);
  if (text instanceof AuditFault) return text;
  const fields = members(parseExact(text));
  const leafIndex = safeInteger(fields?.leaf_index);
  const path = readPath(fields?.audit_path);
  if (path instanceof AuditFault) return path;
  if (leafIndex === undefined || leafIndex >= head.size)
    return new AuditFault('MALFORMED_PROOF', `the proof does not belong to a leaf of the tree of size ${head.size}`);
  const index = Math.floor(leafIndex / pageColumns);
  const width = pageWidth({ level: 0, index }, head.size);
  const hashes = await fetchTile(log, { level: 0, index, width });
  if (hashes instanceof AuditFault) return hashes;
  const leafHash = hashes[leafIndex - index * pageColumns]!;
  return { kind: 'hidden', leafIndex, leafHash, path, head, keys };
}
