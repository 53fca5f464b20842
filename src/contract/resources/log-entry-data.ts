import { type TObject, type TProperties, Type } from 'typebox';
import { limits } from '../../limits.ts';
import {
  type EntryKind,
  eventTables,
  expiryReasons,
  keyPurposes,
  lifeReasons,
  maxEntryEventIds,
  maxEntryItems,
  maxEntryText,
  principalKinds,
  principalStatuses,
  ruleSources,
  verdicts,
} from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import {
  anyObject,
  between,
  count,
  flag,
  hex32,
  hex64,
  list,
  optional,
  ordinal,
  part,
  real,
  severity,
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';
import { role } from './principal.ts';

/**
 * Returns the schema of a text from outside the service, which `criticalEvent` (critical-events.ts) truncates and makes
 * well-formed.
 */
const free = (description: string) => text(description, { maxLength: maxEntryText });
const purpose = oneOf(keyPurposes, 'Purpose of the key.');
const principalStatus = (description: string) => oneOf(principalStatuses, description);
const items = <T extends TObject>(item: T, description: string) => list(item, description, { maxItems: maxEntryItems });

const lifeId = (description: string) => Type.String({ pattern: '^[0-9a-f]{8}$', description });

/**
 * Returns the schema of the data in one kind of entry. Any entry may be delayed (docs/transparency/time.md).
 */
const entryShape = <P extends TProperties>(title: string, properties: P) =>
  shape(title, {
    ...properties,
    delayed_from: optional(
      timestamp(
        'Original time of the event, if the entry was delayed so long that occurred_at is the time of its append.',
      ),
    ),
  });

/**
 * Returns the schema of a tree head inside an entry. The time is a string because JCS would print it as the shortest
 * digits of a double.
 */
const loggedHead = (description: string) =>
  part(description, {
    tree_size: ordinal('Number of leaves in the tree.'),
    root_hash: hex32('Merkle root over the leaves.'),
    timestamp_ns: text('Unix time in nanoseconds, in decimal digits.', { maxLength: 19 }),
    signature: hex64('Ed25519 signature of the tree head.'),
    signer_key_id: uuid('Identifier of the key that signed the head.'),
  });

const accessRule = part('Access rule of one operation.', {
  operation: free('Operation id.'),
  access: oneOf(['public', 'roles'], 'Whether the operation is public or restricted to roles.'),
  roles: list(role, 'Roles that may call the operation; empty for public access.'),
});

const detectionRule = part('A detection rule or a threat intelligence list.', {
  id: free('Identifier of the rule.'),
  title: free('Title of the rule.'),
  level: severity('Severity of its findings.'),
  enabled: flag('Whether the rule is enabled.'),
  source_sha256: hex32(
    'SHA-256 of the source text of the rule in UTF-8, or of the content of a threat intelligence list.',
  ),
  source: optional(free('Source of a threat intelligence list.')),
  indicators: optional(count('Number of indicators of a threat intelligence list.')),
  confidence: optional(real('Confidence of a threat intelligence list.', { minimum: 0, maximum: 1 })),
  expires_at: optional(timestamp('Time at which a threat intelligence list expires.')),
  default_valid_days: optional(
    ordinal('Days for which indicators without an expiry are valid in a threat intelligence list.'),
  ),
});

/** Returns the schema of a change to a set of rules. The counts are complete even if the lists are truncated. */
const diff = <T extends TObject>(title: string, rule: T) =>
  entryShape(title, {
    version: ordinal('New version of the rules.'),
    added_count: count('Number of rules added.'),
    removed_count: count('Number of rules removed.'),
    changed_count: count('Number of rules changed.'),
    added: items(rule, 'Rules added.'),
    removed: items(rule, 'Rules removed.'),
    changed: items(part('A change of a rule.', { before: rule, after: rule }), 'Rules changed.'),
  });

const TokenData = entryShape('TokenEntryData', {});

/** Schemas of the recorded data by kind of entry. */
export const entryData = {
  'alert.raised': entryShape('AlertRaisedData', {
    rule: part('The rule that raised the alert.', {
      source: oneOf(ruleSources, 'Source of the rule.'),
      id: free('Identifier of the rule.'),
      name: free('Name of the rule.'),
    }),
    title: free('Title of the alert.'),
    severity: severity('Severity when the alert was logged: high or critical.'),
    category: optional(free('Category of the rule.')),
    src_ip: optional(free('Source address of the activity.')),
    src_port: optional(between(0, 65535, 'Source port.')),
    dst_ip: optional(free('Destination address of the activity.')),
    dst_port: optional(between(0, 65535, 'Destination port.')),
    transport: optional(free('Transport protocol.')),
    domain: optional(free('Domain name concerned.')),
    count: ordinal('Number of occurrences of the alert when it was logged.'),
    first_seen: timestamp('Time of the first occurrence.'),
    last_seen: timestamp('Time of the last occurrence.'),
    event_ids: list(uuid('Identifier of an event.'), 'Some of the events that caused the alert.', {
      maxItems: maxEntryEventIds,
    }),
    events: optional(
      list(
        part('The hash of one event.', {
          id: uuid('Identifier of the event.'),
          sha256: hex32(
            'SHA-256 of the JCS form of the event as the API serves it, without end_time, registered_domain, src_asset_id and dst_asset_id.',
          ),
        }),
        'Events of the alert that were stored when it was logged, ordered by id. Entries of earlier versions have only those of event_ids, or none.',
        { maxItems: limits.maxAlertEventIds },
      ),
    ),
    events_digest: optional(hex32('SHA-256 over the raw hashes of events, in order.')),
    events_count: optional(count('Number of events that events_digest covers.')),
    dedup_key: free('Deduplication key of the alert.'),
  }),
  'principal.provisioned': entryShape('PrincipalProvisionedData', {
    name: free('Name of the principal.'),
    kind: oneOf(principalKinds, 'Kind of principal.'),
    roles: list(role, 'Roles of the principal.'),
  }),
  'principal.status_changed': entryShape('PrincipalStatusChangedData', {
    from: principalStatus('Previous status.'),
    to: principalStatus('New status.'),
  }),
  'principal.role_changed': entryShape('PrincipalRoleChangedData', {
    from: list(role, 'Previous roles.'),
    to: list(role, 'New roles.'),
  }),
  'principal.password_reset': entryShape('PrincipalPasswordResetData', {
    name: free('Name of the principal.'),
  }),
  // Only the identifier of a token may be logged. It is the subject of the entry.
  'token.issued': TokenData,
  'token.revoked': TokenData,
  'policy.reloaded': diff('PolicyReloadedData', accessRule),
  'policy.rule_edited': diff('PolicyRuleEditedData', accessRule),
  'detection.reloaded': diff('DetectionReloadedData', detectionRule),
  'key.rotated': entryShape('KeyRotatedData', {
    purpose,
    old_kid: uuid('Identifier of the previous key.'),
    new_kid: uuid('Identifier of the new key.'),
    new_fingerprint: hex32('SHA-256 of the raw new public key.'),
  }),
  'key.revoked': entryShape('KeyRevokedData', {
    purpose,
    reason: free('Reason for the revocation.'),
    replaced_by: optional(uuid('Identifier of the key that replaced it.')),
  }),
  'key.retired': entryShape('KeyRetiredData', {
    purpose,
    to_size: optional(count('Last tree size that the key signed.')),
  }),
  'backup.created': entryShape('BackupCreatedData', {
    size: count('Size of the backup in bytes.'),
    files: count('Number of files in the backup.'),
    manifest_sha256: hex32('SHA-256 of the manifest, which lists every file with its hash.'),
    sth: optional(loggedHead('Last tree head of the log in the backup; absent for an empty log.')),
  }),
  'backup.restored': entryShape('BackupRestoredData', {
    backup_id: free('Identifier of the backup.'),
    sth: optional(loggedHead('Last tree head of the restored log; absent for an empty log.')),
    replaced: optional(loggedHead('Last tree head of the replaced log, if it could be read.')),
  }),
  'verdict.overridden': entryShape('VerdictOverriddenData', {
    verdict: oneOf(verdicts, 'Verdict of the user.'),
    reason: free('Reason for the override.'),
    ai_verdict: optional(oneOf(verdicts, 'Verdict of the model.')),
    model: optional(free('Name and version of the model.')),
  }),
  'events.expired': entryShape('EventsExpiredData', {
    table: oneOf(eventTables, 'Table of the events.'),
    reason: oneOf(expiryReasons, 'Why the events expired: their age, or the total size of all events.'),
    from_seq: ordinal('Commit sequence of the first expired event.'),
    to_seq: ordinal(
      'Commit sequence after the last expired event. Events in between that expired for the other reason have their own entry.',
    ),
    count: ordinal('Number of events that expired for this reason.'),
    bytes: count('Size of their blocks in bytes.'),
    oldest: timestamp('Time at which the oldest expired event was received.'),
    newest: timestamp('Time at which the newest expired event was received.'),
  }),
  'ingest.receipted': entryShape('IngestReceiptedData', {
    count: ordinal('Number of receipts that this entry covers.'),
    receipts_root: hex32('Merkle root over the bytes of the receipts in order of issue (RFC 6962, section 2.1).'),
    first_received: timestamp('Time at which the body of the first receipt was received.'),
    last_received: timestamp('Time at which the body of the last receipt was received.'),
  }),
  'events.sealed': entryShape('EventsSealedData', {
    ranges: list(
      part('A range of stored events.', {
        table: oneOf(eventTables, 'Table of the events.'),
        first_seq: ordinal('Commit sequence of the first event.'),
        rows: ordinal('Number of events; their sequences are consecutive.'),
        events_root: hex32('Merkle root over the pieces of 64 events (RFC 6962, section 2.1).'),
        first_received: timestamp('Time at which the first event was received.'),
        last_received: timestamp('Time at which the last event was received.'),
      }),
      'One range for each table with new events.',
      { maxItems: eventTables.length },
    ),
  }),
  'checkpoint.timestamped': entryShape('CheckpointTimestampedData', {
    authority: text('URL of the timestamping authority.'),
    gen_time: timestamp('The time that the authority signed (genTime of RFC 3161).'),
    checkpoint: text('The published checkpoint: the whole note in UTF-8, cosignatures included.'),
    checkpoint_sha256: hex32('SHA-256 of the note in checkpoint, which the token timestamps.'),
    token: text('TimeStampToken of RFC 3161 in DER, as base64.'),
  }),
  'log.life_started': entryShape('LifeStartedData', {
    reason: oneOf(
      lifeReasons,
      'Why the log started a new life: a restored backup, an accepted loss of entries, a new log in place of a lost ' +
        'one, or a copy of the data folder.',
    ),
    life: lifeId('First 8 hex digits of the fingerprint of the new checkpoint key.'),
    origin: free('New name of the log in checkpoints.'),
    previous: optional(
      part('The previous life.', {
        origin: free('Previous name of the log in checkpoints.'),
        head: optional(loggedHead('Largest known head of the previous life; absent if unknown.')),
      }),
    ),
    events_life: optional(lifeId('Previous life of the database of events; absent if that was the first life.')),
    continues_from: optional(
      part('The tree that this life continues; absent for an empty log.', {
        tree_size: ordinal('Number of leaves that this life keeps from the previous one.'),
        root_hash: hex32('Merkle root over these leaves.'),
      }),
    ),
    keys: list(
      part('A key of this life.', {
        purpose,
        kid: uuid('Identifier of the key.'),
        fingerprint: hex32('SHA-256 of the raw public key.'),
      }),
      'The new keys, one for each purpose. No earlier key signs in this life.',
      { maxItems: keyPurposes.length },
    ),
  }),
} as const satisfies Record<EntryKind, TObject>;

export type EntryData<K extends EntryKind> = Static<(typeof entryData)[K]>;

/** Replaces data that is too long for one entry. */
export const LongEntryData = shape('LongEntryData', {
  data_bytes: ordinal('Length of the JCS form of the data.'),
  data_sha256: hex32('SHA-256 of the JCS form of the data.'),
  summary: anyObject('The short members of the data.'),
});
