import { sha256 } from '../crypto/sha256.ts';
import { ServiceError } from '../errors.ts';
import type { Table } from '../events/records.ts';
import type { EventProof } from '../store/store.ts';
import { TlogError } from '../tlog/fault.ts';
import { hexToBytes } from '../tlog/hex.ts';
import { verifyInclusion } from '../tlog/proof.ts';
import { leafHash } from '../tlog/tree.ts';
import { eventTypes, notStored } from './event-reads.ts';
import { bufferOf } from './log-entries.ts';
import { type LogRead, logView } from './log-view.ts';
import { type Reply, resource } from './reply.ts';
import { runOptions } from './run-options.ts';
import type { Services } from './services.ts';
import { loggedProof, writeProofBundle } from './write-bundle.ts';

interface ProofContext extends LogRead {
  readonly services: Services;
  readonly params: { readonly event_id: string };
  readonly signal: AbortSignal;
}

/**
 * Returns an event with the proof that the log covers it. Throws UNAVAILABLE until the log has the entry, and
 * INTERNAL (`events_altered`) if the log does not cover the content of siem.mdb.
 */
export async function getEventProof(table: Table, context: ProofContext): Promise<Reply> {
  const { services, params } = context;
  const id = params.event_id.toLowerCase();
  const proven = await services.queries.run('proveEvent', { table, id }, runOptions(context));
  if (proven === undefined) throw notStored(table, id, services);
  const { attributes, seal, entry_waits } = proven;
  const proof = await loggedProof(services, seal.entry_id, await logView(context));
  const why =
    proof !== undefined
      ? differenceTo(proof.leaf.canonical, seal)
      : !entry_waits && (await isMissing(seal.entry_id, services))
        ? `names entry ${seal.entry_id}, which the log does not have`
        : undefined;
  if (why !== undefined) {
    const error = altered(seal, why);
    await services.damage.report(error);
    throw error;
  }
  if (proof === undefined)
    throw new ServiceError(
      'UNAVAILABLE',
      `event ${id} is sealed, but entry ${seal.entry_id} is not in the log yet; retry in a minute`,
      { reason: 'seal_not_logged' },
    );
  const parts = JSON.stringify({ event: { id, type: eventTypes[table], attributes }, seal });
  return resource('event_proof', id, `${parts.slice(0, -1)},"proof":${writeProofBundle(proof)}}`);
}

/** Describes how the range in siem.mdb differs from the range in the log entry; undefined if they match. */
function differenceTo(canonical: Uint8Array, seal: EventProof['seal']): string | undefined {
  const { data } = JSON.parse(bufferOf(canonical).toString('utf8'));
  const range = (data.ranges as LoggedRange[] | undefined)?.find(
    ({ table, first_seq, rows }) => table === seal.table && first_seq === seal.first_seq && rows === seal.rows,
  );
  if (range === undefined) return `names entry ${seal.entry_id} of the log, but the entry does not cover this range`;
  try {
    verifyInclusion(sha256, {
      leafIndex: seal.leaf_index,
      treeSize: seal.tree_size,
      leafHash: leafHash(sha256, Buffer.from(seal.piece, 'base64')),
      path: seal.audit_path.map((hash) => hexToBytes(hash, 32)),
      root: hexToBytes(range.events_root, 32),
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    return `differs from the events or roots that entry ${seal.entry_id} of the log covers`;
  }
}

interface LoggedRange {
  readonly table: Table;
  readonly first_seq: number;
  readonly rows: number;
  readonly events_root: string;
}

/**
 * Returns whether the log lacks an entry that has left the outbox. Returns false while the log is not healthy and,
 * after a loss of the log, until the replacements of lost entries are written.
 */
async function isMissing(
  entryId: string,
  { proofBundles, store, logStatus }: Pick<Services, 'proofBundles' | 'store' | 'logStatus'>,
): Promise<boolean> {
  try {
    await proofBundles.get('current', { entry_id: entryId });
    return false;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') return false;
  }
  const { health, life } = await logStatus();
  return health.state === 'ok' && (life === undefined || (await store.logLife())?.id === life.id);
}

function altered({ table, first_seq, rows, entry_id }: EventProof['seal'], why: string): ServiceError {
  return new ServiceError(
    'INTERNAL',
    `siem.mdb was altered: its range of ${table} events ${first_seq} to ${first_seq + rows - 1} ${why}; see /health`,
    { reason: 'events_altered', table, first_seq, rows, entry_id },
  );
}
