import type { AuditRecord } from '../../contract/resources/audit-record.ts';
import { auditOutcomes } from '../../contract/vocabulary.ts';
import { errorCodes } from '../../errors.ts';
import { address, members, oneOf, type TermCompiler, text } from './filter.ts';
import type { ListSpec } from './list.ts';

/**
 * A record as its lists see it: what they are filtered by most is at hand, the rest is parsed when it is wanted, which
 * takes three times as long as all else.
 */
export interface ListedRecord {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly actor: string;
  readonly operation: string;
  readonly outcome: string;
  /** What `attributes` are parsed from. */
  readonly json: string;
  readonly attributes: AuditRecord;
}

/** The same term, which parses only records that have the value somewhere. */
const said =
  (compile: TermCompiler<ListedRecord>): TermCompiler<ListedRecord> =>
  (field, values) => {
    const wanted = compile(field, values);
    const written = values.map((value) => JSON.stringify(String(value)));
    return (record) => written.some((value) => record.json.includes(value)) && wanted(record);
  };

/** Read without parsing: nothing of an address is escaped, and in a text before it these quotes would be. */
function sourceAddress({ json }: ListedRecord): string {
  const start = json.indexOf(beforeAddress) + beforeAddress.length;
  return json.slice(start, json.indexOf('"', start));
}

const beforeAddress = '"source_address":"';

export const auditList: ListSpec<ListedRecord> = {
  type: 'audit_record',
  terms: {
    actor: text((record) => record.actor),
    actor_name: said(text((record) => record.attributes.actor_name)),
    operation: text((record) => record.operation),
    outcome: oneOf(auditOutcomes, (record) => record.outcome),
    code: said(oneOf(Object.keys(errorCodes), (record) => record.attributes.code)),
    resource_type: said(text((record) => record.attributes.resource?.type)),
    resource_id: said(text((record) => record.attributes.resource?.id)),
    request_id: said(text((record) => record.attributes.request_id)),
    source_address: address(sourceAddress),
    entry_id: said(members((record) => record.attributes.entry_ids)),
  },
  sorts: { time: (record) => record.time },
  time: (record) => record.time,
  names: ({ attributes: { actor_name, operation, resource, request_id } }) => [
    actor_name,
    operation,
    resource?.type,
    resource?.id,
    request_id,
  ],
};
