/** Events of every kind, created with the functions that the service uses. */
import * as events from '../../src/contract/critical-events.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import type { EntryKind } from '../../src/contract/vocabulary.ts';

export const uuid = (n: number) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
const hex = (digit: string, bytes: number) => digit.repeat(2 * bytes);

const head: SignedTreeHead = {
  tree_size: 17,
  root_hash: hex('a', 32),
  timestamp_ns: Number(1_763_700_000_123_456_512n),
  signature: hex('b', 64),
  signer_key_id: uuid(1),
};

const alert = (text: string): Alert => ({
  title: text,
  category: text,
  rule_id: text,
  rule_name: text,
  rule_source: 'suricata',
  severity: 'critical',
  status: 'new',
  src_ip: text,
  src_port: 65_535,
  dst_ip: text,
  dst_port: 0,
  transport: text,
  domain: text,
  asset_ids: [],
  event_ids: Array.from({ length: 20 }, (_, n) => uuid(n)),
  count: 3,
  first_seen: '2025-11-21T04:00:00.000Z',
  last_seen: '2025-11-21T04:00:01.000Z',
  dedup_key: text,
  tags: [text],
  note_count: 0,
  created_at: '2025-11-21T04:00:00.000Z',
  updated_at: '2025-11-21T04:00:00.000Z',
  version: 1,
});

const accessRules = (text: string) => {
  const rule = { operation: text, access: 'roles', roles: ['admin', 'auditor'] } as const;
  return { version: 2, added: [rule], removed: [], changed: [{ before: rule, after: rule }] };
};

/** Example events by kind. `text` replaces every text that can come from outside the service. */
export const examples: Record<EntryKind, (text: string) => events.CriticalEvent> = {
  'alert.raised': (text) =>
    events.alertRaised(text, alert(text), text, {
      events: [{ id: uuid(0), sha256: hex('d', 32) }],
      events_digest: hex('e', 32),
      events_count: 1,
    }),
  'principal.provisioned': (text) =>
    events.principalProvisioned(text, { name: text, kind: 'user', roles: ['viewer'] }, text),
  'principal.status_changed': (text) =>
    events.criticalEvent('principal.status_changed', text, { from: 'active', to: 'suspended' }, text),
  'principal.role_changed': (text) =>
    events.criticalEvent('principal.role_changed', text, { from: ['viewer'], to: ['admin', 'analyst'] }, text),
  'principal.password_reset': (text) => events.criticalEvent('principal.password_reset', text, { name: text }, text),
  'token.issued': (text) => events.criticalEvent('token.issued', text, {}, text),
  'token.revoked': (text) => events.criticalEvent('token.revoked', text, {}, text),
  'policy.reloaded': (text) => events.policyReloaded(accessRules(text), text),
  'policy.rule_edited': (text) => events.policyRuleEdited(accessRules(text), text),
  'detection.reloaded': (text) => events.detectionReloaded(detectionRules(text, 1), text),
  'key.rotated': (text) =>
    events.keyRotated(
      {
        purpose: 'transparency-sth',
        old_kid: uuid(1),
        new_kid: uuid(2),
        new_fingerprint: hex('c', 32),
      },
      text,
    ),
  'key.revoked': (text) =>
    events.criticalEvent('key.revoked', uuid(1), { purpose: 'access-token', reason: text, replaced_by: uuid(2) }, text),
  'key.retired': (text) => events.criticalEvent('key.retired', uuid(1), { purpose: 'event-signing', to_size: 7 }, text),
  'backup.created': (text) =>
    events.backupCreated(text, { size: 4096, files: 5, manifest_sha256: hex('d', 32), sth: head }, text),
  'backup.restored': (text) => events.backupRestored({ backup_id: text, sth: head, replaced: undefined }, text),
  'verdict.overridden': (text) =>
    events.criticalEvent(
      'verdict.overridden',
      text,
      { verdict: 'benign', reason: text, ai_verdict: 'suspicious', model: text },
      text,
    ),
  'ingest.receipted': (text) =>
    events.criticalEvent(
      'ingest.receipted',
      text,
      {
        count: 3,
        receipts_root: hex('f', 32),
        first_received: '2025-11-21T04:00:00.000Z',
        last_received: '2025-11-21T04:00:01.000Z',
      },
      'system',
    ),
  'events.sealed': () =>
    events.eventsSealed({
      ranges: [
        {
          table: 'network',
          first_seq: 1,
          rows: 200,
          events_root: hex('f', 32),
          first_received: '2025-11-21T04:00:00.000Z',
          last_received: '2025-11-21T04:00:01.000Z',
        },
      ],
    }),
  'checkpoint.timestamped': () =>
    events.checkpointTimestamped({
      authority: 'https://tsa.example.org',
      gen_time: '2025-11-21T04:00:00.000Z',
      checkpoint: 'log.example.org\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n',
      checkpoint_sha256: hex('c', 32),
      token: 'MIIC',
    }),
  'events.expired': (text) =>
    events.eventsExpired(
      {
        table: 'dns',
        reason: 'bytes',
        from_seq: 1,
        to_seq: 8161,
        count: 8160,
        bytes: 400_000,
        oldest: '2025-11-21T04:00:00.000Z',
        newest: '2025-11-21T05:00:00.000Z',
      },
      text,
    ),
  'log.life_started': (text) =>
    events.lifeStarted({
      reason: 'restored',
      life: '0123abcd',
      origin: text,
      previous: { origin: text, head },
      events_life: '89abcdef',
      continues_from: { tree_size: 7, root_hash: hex('b', 32) },
      keys: [
        {
          purpose: 'transparency-sth',
          kid: '019aa4b6-4500-7000-8000-000000000001',
          fingerprint: hex('c', 32),
        },
      ],
    }),
};

export function detectionRules(text: string, added: number) {
  const rule = { id: text, title: text, level: 'high', enabled: true, source_sha256: hex('e', 32) } as const;
  const none = { ...rule, enabled: false };
  return {
    version: 2,
    added: Array.from({ length: added }, () => rule),
    removed: [none],
    changed: [{ before: none, after: rule }],
  };
}

export const hostileTexts: Record<string, string> = {
  empty: '',
  'a lone surrogate': 'a\ud800',
  'a surrogate pair at the limit': `${'x'.repeat(499)}\u{1f600}`,
  'a megabyte': 'm'.repeat(2 ** 20),
  'the longest in JCS': '\u0001'.repeat(2 ** 20),
  __proto__: '__proto__',
  'JSON and lines': '"}\r\n\u2028{"kind":"key.revoked"',
};
