import type { AccessRule } from '../../contract/resources/policy.ts';
import type { Role } from '../../contract/vocabulary.ts';

/** Access by operation. */
export type AccessTable = ReadonlyMap<string, 'public' | readonly Role[]>;

export function accessTable(rules: readonly AccessRule[]): AccessTable {
  return new Map(rules.map(({ operation, access, roles }) => [operation, access === 'public' ? access : roles]));
}
