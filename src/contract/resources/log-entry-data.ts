import { type TObject, type TProperties, Type } from 'typebox';
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

/** A text that somebody else wrote: cut and made well-formed by `eventOf` (critical-events.ts). */
const free = (description: string) => text(description, { maxLength: maxEntryText });
const purpose = oneOf(keyPurposes, { description: 'What the key signs.' });
const principalStatus = (description: string) => oneOf(principalStatuses, { description });
const items = <T extends TObject>(item: T, description: string) =>
  list(item, description, { maxItems: maxEntryItems });

const lifeId = (description: string) => Type.String({ pattern: '^[0-9a-f]{8}$', description });

/** The data of one kind of entry. Any entry may have had to wait (docs/transparency/time.md). */
const entryShape = <P extends TProperties>(title: string, properties: P) =>
  shape(title, {
    ...properties,
    delayed_from: optional(
      timestamp(
        'When it occurred, where the entry waited so long that occurred_at is the time of its append.',
      ),
    ),
  });

/** A head named within an entry. JCS prints a number as a double's shortest digits: so the time is a text here. */
const loggedHead = (description: string) =>
  part(
    {
      tree_size: ordinal('Leaves covered.'),
      root_hash: hex32('Merkle root over the leaves.'),
      timestamp_ns: text('Unix time in nanoseconds, in decimal digits.', { maxLength: 19 }),
      signature: hex64('Ed25519, as of the tree head.'),
      signer_key_id: uuid('Key that signed it.'),
    },
    description,
  );

const accessRule = part(
  {
    operation: free('Operation id.'),
    access: oneOf(['public', 'roles'], { description: 'Whether credentials are needed.' }),
    roles: list(role, 'Who may, where credentials are needed.'),
  },
  'Who may do one operation.',
);

const detectionRule = part(
  {
    id: free('Its identifier.'),
    title: free('What it detects.'),
    level: severity('Severity of its findings.'),
    enabled: flag('Whether it is applied.'),
    source_sha256: hex32(
      'SHA-256 of the rule as written, in UTF-8; of a list of indicators, of its content.',
    ),
    source: optional(free('Of a list of indicators: where it comes from.')),
    indicators: optional(count('Of a list of indicators: how many it has.')),
    confidence: optional(real('Of a list of indicators: how sure it is.', { minimum: 0, maximum: 1 })),
    expires_at: optional(timestamp('Of a list of indicators: until when it counts.')),
    default_valid_days: optional(
      ordinal('Of a list of indicators: how long those without an end of their own hold.'),
    ),
  },
  'A detection rule, or a list of known-bad addresses and domains.',
);

/** What a change of a set of rules did. The counts also tell what a list that was cut left out. */
const diff = <T extends TObject>(title: string, rule: T) =>
  entryShape(title, {
    version: ordinal('Version that came to be.'),
    added_count: count('Rules added.'),
    removed_count: count('Rules removed.'),
    changed_count: count('Rules changed.'),
    added: items(rule, 'Rules added.'),
    removed: items(rule, 'Rules removed.'),
    changed: items(part({ before: rule, after: rule }, 'A change of a rule.'), 'Rules changed.'),
  });

const TokenData = entryShape('TokenEntryData', {});

/** What is recorded, for each kind of entry. */
export const entryData = {
  'alert.raised': entryShape('AlertRaisedData', {
    rule: part(
      {
        source: oneOf(ruleSources, { description: 'Where the rule comes from.' }),
        id: free('Its identifier.'),
        name: free('Its name.'),
      },
      'The rule that raised it.',
    ),
    title: free('What happened, in a line.'),
    severity: severity('High or above, as it was when the alert was logged.'),
    category: optional(free('Category of the rule.')),
    src_ip: optional(free('Source of the activity.')),
    src_port: optional(between(0, 65535, 'Its port.')),
    dst_ip: optional(free('Target of the activity.')),
    dst_port: optional(between(0, 65535, 'Its port.')),
    transport: optional(free('Transport protocol.')),
    domain: optional(free('Name concerned.')),
    count: ordinal('Findings that had been merged into the alert when it was logged.'),
    first_seen: timestamp('First occurrence.'),
    last_seen: timestamp('Last occurrence.'),
    event_ids: list(uuid('An event.'), 'Some events that show it.', { maxItems: maxEntryEventIds }),
    events: optional(
      list(
        part(
          {
            id: uuid('One of event_ids.'),
            sha256: hex32(
              'SHA-256 of the JCS form of the event as the API serves it, without end_time, registered_domain, src_asset_id and dst_asset_id.',
            ),
          },
          'The hash of one event.',
        ),
        'The events of event_ids that were stored when the alert was logged, by id. Entries of earlier versions lack it.',
        { maxItems: maxEntryEventIds },
      ),
    ),
    events_digest: optional(hex32('SHA-256 over the raw hashes of events, in their order.')),
    events_count: optional(count('Events that events_digest covers.')),
    dedup_key: free('What its occurrences share.'),
  }),
  'principal.provisioned': entryShape('PrincipalProvisionedData', {
    name: free('Its name.'),
    kind: oneOf(principalKinds, { description: 'What it is.' }),
    roles: list(role, 'What it may do.'),
  }),
  'principal.status_changed': entryShape('PrincipalStatusChangedData', {
    from: principalStatus('Before.'),
    to: principalStatus('From now on.'),
  }),
  'principal.role_changed': entryShape('PrincipalRoleChangedData', {
    from: list(role, 'Before.'),
    to: list(role, 'From now on.'),
  }),
  'principal.password_reset': entryShape('PrincipalPasswordResetData', { name: free('Its name.') }),
  // Of a token only its identifier is public, and that is the subject.
  'token.issued': TokenData,
  'token.revoked': TokenData,
  'policy.reloaded': diff('PolicyReloadedData', accessRule),
  'policy.rule_edited': diff('PolicyRuleEditedData', accessRule),
  'detection.reloaded': diff('DetectionReloadedData', detectionRule),
  'key.rotated': entryShape('KeyRotatedData', {
    purpose,
    old_kid: uuid('Key that goes.'),
    new_kid: uuid('Key that takes over.'),
    new_fingerprint: hex32('SHA-256 of the raw public key that takes over.'),
  }),
  'key.revoked': entryShape('KeyRevokedData', {
    purpose,
    reason: free('Why.'),
    replaced_by: optional(uuid('Key that took its place.')),
  }),
  'key.retired': entryShape('KeyRetiredData', {
    purpose,
    to_size: optional(count('Tree size up to which it signed.')),
  }),
  'backup.created': entryShape('BackupCreatedData', {
    size: count('In bytes.'),
    files: count('Files in it.'),
    manifest_sha256: hex32('SHA-256 of its manifest, which names every file with its hash.'),
    sth: optional(loggedHead('Head with which its log ends; absent for an empty log.')),
  }),
  'backup.restored': entryShape('BackupRestoredData', {
    backup_id: free('The backup.'),
    sth: optional(loggedHead('Head with which the restored log ended; absent for an empty log.')),
    replaced: optional(loggedHead('Head of the log that was replaced, where it could be read.')),
  }),
  'verdict.overridden': entryShape('VerdictOverriddenData', {
    verdict: oneOf(verdicts, { description: 'What the operator found.' }),
    reason: free('Why.'),
    ai_verdict: optional(oneOf(verdicts, { description: 'What the model had found.' })),
    model: optional(free('Which model.')),
  }),
  'events.expired': entryShape('EventsExpiredData', {
    table: oneOf(eventTables, { description: 'Which events.' }),
    reason: oneOf(expiryReasons, {
      description: 'They were received too long ago, or all events took up too many bytes.',
    }),
    from_seq: ordinal('Commit sequence of the first that went …'),
    to_seq: ordinal(
      '… and the one behind the last; what went between for the other reason has its own entry.',
    ),
    count: ordinal('Events that went for this reason.'),
    bytes: count('Bytes of their blocks.'),
    oldest: timestamp('When the first of them was received.'),
    newest: timestamp('When the last of them was received.'),
  }),
  'ingest.receipted': entryShape('IngestReceiptedData', {
    count: ordinal('Receipts given to sensors that this entry covers.'),
    receipts_root: hex32('Merkle root over their bytes in the order given (RFC 6962, section 2.1).'),
    first_received: timestamp('When the body of the first receipt was received.'),
    last_received: timestamp('When the body of the last receipt was received.'),
  }),
  'events.sealed': entryShape('EventsSealedData', {
    ranges: list(
      part(
        {
          table: oneOf(eventTables, { description: 'Which events.' }),
          first_seq: ordinal('Commit sequence of the first event.'),
          rows: ordinal('Events, with consecutive sequences.'),
          events_root: hex32('Merkle root over their pieces of 64 (RFC 6962, section 2.1).'),
          first_received: timestamp('When the first event was received.'),
          last_received: timestamp('When the last event was received.'),
        },
        'A range of stored events.',
      ),
      'One range for each table with new events.',
      { maxItems: eventTables.length },
    ),
  }),
  'checkpoint.timestamped': entryShape('CheckpointTimestampedData', {
    authority: text('URL of the timestamping authority.'),
    gen_time: timestamp('The time that the authority signed (genTime of RFC 3161).'),
    checkpoint: text('The published checkpoint: the whole note in UTF-8, cosignatures included.'),
    checkpoint_sha256: hex32('SHA-256 of these bytes, which the token is over.'),
    token: text('TimeStampToken of RFC 3161 in DER, as base64.'),
  }),
  'log.life_started': entryShape('LifeStartedData', {
    reason: oneOf(lifeReasons, {
      description:
        'Why the log began a new life: a restored backup, an accepted loss of entries, a new log in place of a lost ' +
        'one, or a copy of the data folder.',
    }),
    life: lifeId('First 8 hex digits of the fingerprint of the new checkpoint key.'),
    origin: free('Name of the log in checkpoints from now on.'),
    previous: optional(
      part(
        {
          origin: free('Name of the log in checkpoints before.'),
          head: optional(loggedHead('Largest known head of the previous life; absent where none is known.')),
        },
        'The life before.',
      ),
    ),
    events_life: optional(
      lifeId(
        'Life that the database of events had entered before this one; absent where it was the first life.',
      ),
    ),
    continues_from: optional(
      part(
        {
          tree_size: ordinal('Leaves that this life keeps from the previous one.'),
          root_hash: hex32('Merkle root over them.'),
        },
        'The tree that this life continues; absent for an empty log.',
      ),
    ),
    keys: list(
      part(
        { purpose, kid: uuid('The key.'), fingerprint: hex32('SHA-256 of the raw public key.') },
        'A key of this life.',
      ),
      'The new keys, one for each purpose. No earlier key signs in this life.',
      { maxItems: keyPurposes.length },
    ),
  }),
} as const satisfies Record<EntryKind, TObject>;

export type EntryData<K extends EntryKind> = Static<(typeof entryData)[K]>;

/** What stands for data that is too long for one entry. */
export const LongEntryData = shape('LongEntryData', {
  data_bytes: ordinal('Length of the JCS form of the data.'),
  data_sha256: hex32('SHA-256 of the JCS form of the data.'),
  summary: anyObject('Its short members.'),
});
