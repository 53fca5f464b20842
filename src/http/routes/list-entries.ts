import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { entryOf, isPublicKind, writeLeaf } from '../log-entries.ts';
import { page } from '../reply.ts';

/** Without a role only of kinds that are public, which have to be named: a list never leaves out in silence. */
export const listEntries: Handler<'listEntries'> = async ({ services, query, refusal }) => {
  const { kind: kinds, page: number = 1, per_page = limits.defaultPerPage, ...range } = query;
  if (refusal !== undefined && !kinds?.every(isPublicKind)) throw refusal;
  const wanted = { ...range, ...(kinds === undefined ? {} : { kinds }), page: number, per_page };
  const { leaves, total } = await services.ledger.entries(wanted).catch((error: unknown) => {
    // By its schema the parameter is right: the entries of the page are too long.
    if (error instanceof ServiceError && error.details?.field === 'per_page')
      services.metrics.limitReached('maxEntriesPageBytes');
    throw error;
  });
  const items = leaves.map(
    (leaf) => `{"id":${JSON.stringify(entryOf(leaf).id)},"type":"log_entry","attributes":${writeLeaf(leaf)}}`,
  );
  return page({ json: new TextEncoder().encode(`[${items.join(',')}]`), total, page: number }, per_page);
};
