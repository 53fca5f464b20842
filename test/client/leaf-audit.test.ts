import { expect, test } from 'vitest';
import { AuditFault } from '../../src/client/fault.ts';
import { parseKeySet } from '../../src/client/key-set.ts';
import { emptyTree, LeafAudit } from '../../src/client/leaf-audit.ts';
import { jcs } from '../../src/contract/jcs.ts';

const x = 'IBUK6Y-idSttgIYjQ8oMnGZexoMtuQDXFuTzVxZzWjM';
const eventKey = { kty: 'OKP', crv: 'Ed25519', kid: 'k', x, svc_purpose: 'event-signing' };

function entry(id: string): Uint8Array {
  return new TextEncoder().encode(jcs({ id, key_id: 'k', kind: 'a.b', signature: '00'.repeat(64) }));
}

/** Adds entries with these ids. Returns the first fault code with its index, or the counts of entries. */
function auditOf(ids: readonly string[], remembered?: number, about: object = { svc_state: 'active' }): string {
  const keys = parseKeySet(JSON.stringify([{ ...eventKey, ...about }]));
  if (keys instanceof AuditFault) throw new Error(keys.message);
  const leaves = new LeafAudit(keys, emptyTree, () => true, remembered);
  for (const id of ids) {
    const added = leaves.add(entry(id));
    if (added instanceof AuditFault) return `${added.code} at ${leaves.size}`;
  }
  return `${leaves.size}, ${leaves.byRevokedKeys} by revoked keys`;
}

test('a duplicate id is found if its first occurrence is still remembered', () => {
  expect(auditOf(['a', 'b', 'a'])).toBe('DUPLICATE_ENTRY at 2');
  expect(auditOf(['a', 'b', 'c', 'a'], 2)).toBe('DUPLICATE_ENTRY at 3');
  expect(auditOf(['a', 'b', 'c', 'd', 'a'], 2)).toBe('DUPLICATE_ENTRY at 4');
  expect(auditOf(['a', 'b', 'c', 'd', 'e', 'a'], 2)).toBe('6, 0 by revoked keys');
});

test('an event key is valid for the indices that it covers: first inclusive, last exclusive', () => {
  const ids = ['a', 'b', 'c', 'd'];
  const range = (svc_state: string, svc_from_size?: number, svc_to_size?: number) =>
    auditOf(ids, undefined, { svc_state, svc_from_size, svc_to_size });
  expect(range('active')).toBe('4, 0 by revoked keys');
  expect(range('retired', 0, 4)).toBe('4, 0 by revoked keys');
  expect(range('retired', 0, 3)).toBe('KEY_OUT_OF_RANGE at 3');
  expect(range('active', 1)).toBe('KEY_OUT_OF_RANGE at 0');
  expect(range('pending')).toBe('KEY_PENDING at 0');
  expect(range('revoked', 0, 4)).toBe('4, 4 by revoked keys');
  expect(range('revoked', 0, 2)).toBe('KEY_REVOKED at 2');
  expect(range('revoked')).toBe('KEY_REVOKED at 0');
});
