import { type OpenTables, table } from '../../database/rows.ts';
import type { Principal, Token } from '../../store/store.ts';
import type { StoredPolicy } from './policy.ts';

/**
 * An audit record as stored: actor, operation and outcome (which lists are filtered by), and its attributes as
 * JSON. With this form, a scan takes about 1 µs per record, and a page is assembled from texts.
 */
export type AuditRow = readonly [actor: string, operation: string, outcome: string, json: string];

export const identityTables = {
  /** principal id → principal */
  principals: table<Principal, string>('principals', { strict: true, original: true }),
  /** hash of a name's spelling, and of its skeleton → principal id */
  principalNames: table<string, string>('principal-names', { strict: true, original: true }),
  /** jti → token */
  tokens: table<Token, string>('tokens', { strict: true, original: true }),
  /** [expires_at in epoch ms, jti] → true; sessions only */
  tokenTimes: table<true, [number, string]>('token-times', { strict: true, original: true }),
  /** [principal id, kind of the token or `ended` if it was revoked, jti] → true */
  principalTokens: table<true, [string, Token['kind'] | 'ended', string]>('principal-tokens', {
    strict: true,
  }),
  /** principal id → true; active administrators only */
  administrators: table<true, string>('administrators', { strict: true }),
  /** 'current' → the access policy in effect */
  accessPolicy: table<StoredPolicy, 'current'>('access-policy', { strict: true }),
  /** [time in epoch ms, id] → record */
  audit: table<AuditRow, [number, string]>('audit', { strict: true }),
  /** [call, sequence in the outbox] → id of the entry; until the audit record of the call is written */
  callEntries: table<string, [string, number]>('call-entries', { strict: true }),
};

export type IdentityTables = OpenTables<typeof identityTables>;
