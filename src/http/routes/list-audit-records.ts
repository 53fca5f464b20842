import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { page } from '../reply.ts';

/** Newest first. A filter may read all of the records, so that it is for the pool. */
export const listAuditRecords: Handler<'listAuditRecords'> = async ({ services, query, signal }) => {
  const { page: number = 1, per_page = limits.defaultPerPage, ...filter } = query;
  const list = services.queries.listAudit({ ...filter, page: number, per_page }, signal);
  return page(await countingRefusals(services.metrics, queryLimits, list), per_page);
};
