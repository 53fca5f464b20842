import { principalAttributes, tokenAttributes } from '../contract/list-attributes.ts';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import { isExpired } from '../contract/token-life.ts';
import { auditOutcomes, roles, tokenStatuses } from '../contract/vocabulary.ts';
import { wildcardParts } from '../contract/wildcards.ts';
import { attributeList } from '../database/lists/attributes.ts';
import { address, members, oneOf, someOf, type TermCompiler, text } from '../database/lists/filter.ts';
import type { ListSpec } from '../database/lists/list.ts';
import { errorCodes } from '../errors.ts';
import type { Principal, Token } from '../store/store.ts';

export const principalList: ListSpec<Principal> = attributeList(principalAttributes, {
  type: 'principal',
  terms: {
    role: someOf(roles, (principal) => principal.roles),
    roles: someOf(roles, (principal) => principal.roles),
  },
  time: (principal) => principal.created_at,
  names: (principal) => [principal.name],
});

/**
 * A record in the form that lists use. The fields by which most lists are filtered are available directly;
 * `attributes` is parsed on demand, because parsing takes three times as long as everything else.
 */
export interface ListedRecord {
  /** Time of the call, epoch milliseconds. */
  readonly time: number;
  readonly actor: string;
  readonly operation: string;
  readonly outcome: string;
  /** The JSON of `attributes`. */
  readonly json: string;
  readonly attributes: AuditRecord;
}

/** Returns a term that parses only records whose JSON contains all parts of one of the values. */
const said =
  (compile: TermCompiler<ListedRecord>): TermCompiler<ListedRecord> =>
  (field, values) => {
    const wanted = compile(field, values);
    const written = values.map((value) => {
      const parts = wildcardParts(String(value)).map((part) => JSON.stringify(part));
      return parts.length === 1 ? parts : parts.map((part) => part.slice(1, -1));
    });
    const isLikely = (json: string) => written.some((parts) => parts.every((part) => json.includes(part)));
    return (record) => isLikely(record.json) && wanted(record);
  };

/**
 * Returns the source address without parsing the JSON: addresses have no escapes, and `beforeAddress` cannot occur
 * within an earlier string, where its quotes would be escaped.
 */
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

/** Returns the specification of token lists as of `nowMs`, because tokens expire automatically. */
export const tokenListAt = (nowMs: number): ListSpec<Token> =>
  attributeList(tokenAttributes, {
    type: 'token',
    terms: {
      role: someOf(roles, (token) => token.roles),
      scopes: someOf(roles, (token) => token.roles),
      status: oneOf(tokenStatuses, (token) => statusOf(token, nowMs)),
    },
    time: (token) => token.issued_at,
    names: (token) => [token.name],
  });

function statusOf(token: Token, nowMs: number): (typeof tokenStatuses)[number] {
  if (token.revoked_at !== undefined) return 'revoked';
  return isExpired(token, nowMs) ? 'expired' : 'active';
}
