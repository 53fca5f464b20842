import { operationIds } from '../../contract/routes.ts';
import { invalidField } from '../../errors.ts';
import { severalOperations } from '../audit-caps.ts';
import type { Handler } from '../context.ts';
import { pooledList } from '../list-reply.ts';

/** What records tell of. It is no enum of the schema, which is itself a part of the table of operations. */
const known: ReadonlySet<unknown> = new Set([...operationIds, severalOperations]);

export const listAuditRecords: Handler<'listAuditRecords'> = (context) => {
  const wanted = context.query.filter.terms.find(({ field }) => field === 'operation')?.values ?? [];
  if (!wanted.every((operation) => known.has(operation)))
    throw invalidField('operation', 'must be an operation id of the OpenAPI document');
  return pooledList(context, 'listAudit');
};
