import { operationIds } from '../../contract/routes.ts';
import { invalidField } from '../../errors.ts';
import { severalOperations } from '../audit-caps.ts';
import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

/** What records tell of. It is no enum of the schema, which is itself a part of the table of operations. */
const known: ReadonlySet<unknown> = new Set([...operationIds, severalOperations]);

export const listAuditRecords: Handler<'listAuditRecords'> = (context) => {
  const { services, query } = context;
  const wanted = query.filter.terms.find(({ field }) => field === 'operation')?.values ?? [];
  if (!wanted.every((operation) => known.has(operation)))
    throw invalidField('operation', 'must be an operation id of the OpenAPI document');
  return listReply(context, services.queries.listAudit);
};
