/**
 * Enumerations of the API and limits of its texts and lists, by subject. The schemas (`resources/`, `parameters.ts`)
 * use them. This file is separate, so that threads without validation need not load the schema library. An enumeration
 * that only one schema uses is defined beside that schema.
 */
import { limits } from '../limits.ts';

/** Severities in ascending order: the index of a severity is its rank. */
export const severities = ['informational', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

// Events

export const eventSources = ['zeek', 'suricata', 'ecs', 'native'] as const;
export const connectionStates = ['attempt', 'open', 'closed', 'reset', 'failed', 'refused', 'traffic'] as const;
export type ConnectionState = (typeof connectionStates)[number];
export const directions = ['inbound', 'outbound', 'internal', 'external'] as const;
export const dnsKinds = ['query', 'response', 'transaction'] as const;

// Alerts

export const alertStatuses = ['new', 'in_progress', 'resolved', 'suppressed', 'archived'] as const;
export type AlertStatus = (typeof alertStatuses)[number];
/** Statuses of alerts that still need a decision. */
export const openAlertStatuses: readonly AlertStatus[] = ['new', 'in_progress'];

/** Allowed transitions between statuses. Setting the current status is always allowed and changes nothing. */
export const alertTransitions = {
  new: ['in_progress', 'resolved', 'suppressed'],
  in_progress: ['new', 'resolved', 'suppressed'],
  resolved: ['in_progress', 'archived'],
  suppressed: ['in_progress', 'archived'],
  archived: [],
} as const satisfies Record<AlertStatus, readonly AlertStatus[]>;

/** Returns whether `PUT` can change the status of an alert from `from` to `to`. */
export function mayBecome(from: AlertStatus, to: AlertStatus): boolean {
  const allowed: readonly AlertStatus[] = alertTransitions[from];
  return from === to || allowed.includes(to);
}

export const verdicts = [
  'true_positive',
  'false_positive',
  'benign',
  'suspicious',
  'duplicate',
  'test',
  'insufficient_data',
] as const;
export const priorities = ['low', 'medium', 'high', 'critical'] as const;
export const ruleSources = ['sigma', 'behaviour', 'suricata', 'zeek', 'intel'] as const;
export const ruleStatuses = ['stable', 'test', 'experimental', 'deprecated', 'unsupported'] as const;
export const ruleKinds = ['rule', 'correlation', 'filter'] as const;
export const ruleOrigins = ['shipped', 'folder', 'api'] as const;
/** Formats of threat intelligence lists. */
export const intelFormats = ['lines', 'stix'] as const;
export const indicatorKinds = ['address', 'domain'] as const;

/** Kinds of changes of an alert. */
export const alertActions = [
  'raised',
  'recurred',
  'status_changed',
  'verdict_set',
  'assigned',
  'severity_changed',
  'priority_changed',
  'tags_changed',
  'noted',
  'overridden',
  'silenced',
  'unsilenced',
  'folded',
  'unfolded',
  'triaged',
] as const;
/** Attributes by which alerts can be grouped. */
export const alertGroupings = [
  'rule_id',
  'rule_source',
  'category',
  'severity',
  'src_ip',
  'dst_ip',
  'asset_id',
  'status',
] as const;
export type AlertGrouping = (typeof alertGroupings)[number];
export const alertExports = ['ndjson', 'ocsf'] as const;
export type AlertExport = (typeof alertExports)[number];

export const silenceStates = ['active', 'expired'] as const;

// Detection

/** Behaviour detectors; the rule id of their alerts is `behaviour.<id>`. */
export const detectorIds = [
  'port-scan',
  'network-scan',
  'internet-background',
  'brute-force',
  'beaconing',
  'long-connection',
  'exfiltration',
  'dns-tunnel',
  'generated-names',
  'nxdomain-storm',
  'rare-destination',
  'new-service',
  'lateral-movement',
] as const;
export type DetectorId = (typeof detectorIds)[number];

// Assets and services

export const assetKinds = ['server', 'workstation', 'network', 'iot', 'printer', 'mobile', 'unknown'] as const;
export const criticalities = ['low', 'medium', 'high', 'critical'] as const;
export const assetStates = ['staged', 'managed', 'retired'] as const;
export const assetSources = ['passive', 'scan', 'manual'] as const;
export const riskLevels = ['low', 'moderate', 'high', 'critical'] as const;

/** Maximum length of one-line texts of an asset. */
export const maxLineLength = 255;
/** Maximum length of the notes of an asset. */
export const maxNotesLength = 10_000;
/** Maximum number of tags of an asset. */
export const maxTags = 100;

/** Kinds of changes of an asset. */
export const assetActions = [
  'created',
  'address_bound',
  'address_left',
  'mac_bound',
  'mac_released',
  'hostname_added',
  'state_changed',
  'edited',
  'merged',
  'split',
  'seen_again',
] as const;

export const serviceStates = ['open', 'closed'] as const;
export const serviceSources = ['passive', 'scan'] as const;

// Topology

export const groupings = ['host', 'subnet'] as const;

/**
 * Maximum number of ports stored per edge. The lowest ports are kept, so the result does not depend on the order of
 * merging.
 */
export const maxPorts = 16;
/** Maximum number of protocols stored per edge. The first protocols are kept. */
export const maxProtocols = 8;

// Analytics

/** Lengths of time windows of statistics. */
export const windows = ['15m', '1h', '24h', '7d', '30d'] as const;
export type Window = (typeof windows)[number];
export const defaultWindow = '24h' satisfies Window;

// Scans

export const scanStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export const scanEngines = ['connect', 'nmap'] as const;

// Identities

export const roles = ['viewer', 'analyst', 'admin', 'sensor', 'auditor'] as const;
export type Role = (typeof roles)[number];

export const principalKinds = ['user', 'sensor', 'auditor_client'] as const;
export const principalStatuses = ['active', 'suspended'] as const;

export const tokenKinds = ['session', 'long_lived'] as const;
/** Current status of a token; a revoked token is never reported as expired. */
export const tokenStatuses = ['active', 'expired', 'revoked'] as const;

/**
 * Kinds of sensor data that is not stored: invalid records; records of kinds that are not stored; requests
 * rejected as a whole; requests with missing, invalid or insufficient credentials.
 */
export const notStoredKinds = ['rejected', 'ignored', 'refused', 'credentials'] as const;
export type NotStoredKind = (typeof notStoredKinds)[number];

// Transparency log

/**
 * Reasons why the log rejects appends. `half_written`: a commit was interrupted in a way that LMDB cannot undo.
 */
export const ledgerFaults = [
  'rollback',
  'corrupt',
  'half_written',
  'lost',
  'copied',
  'clock',
  'anchor_unavailable',
] as const;
/** Conditions of the log and of stored events that an operator must check. Appends may continue. */
export const ledgerFindings = [
  'anchor_missing',
  'anchor_unavailable',
  'journal_missing',
  'journal_unavailable',
  'journal_unsigned',
  'places_unreadable',
  'store_older',
  'checkpoint_key_replaced',
  'head_missing',
  'data_damaged',
  'key_rotation_failed',
  'signer_unavailable',
  'clock_jumped',
  'witness_rollback',
  'timestamp_unavailable',
  'store_damaged',
  'events_skipped',
  'events_altered',
  'sealing_stopped',
] as const;

/**
 * Reasons why a log starts a new life: new keys and a new origin over the same entries, or over an
 * empty log.
 */
export const lifeReasons = ['restored', 'loss_accepted', 'begun_anew', 'copied'] as const;
export type LifeReason = (typeof lifeReasons)[number];
/** Names of the start of a life in status and health. */
export const regressionEvents = ['restored', 'rebuilt', 'begun_anew', 'copied'] as const;

// Keys

export const keyPurposes = ['transparency-sth', 'event-signing', 'access-token', 'checkpoint', 'witness'] as const;
/** Holders of the private keys of the log. */
export const keySigners = ['file', 'ssh-agent'] as const;
/**
 * Purposes whose keys can be rotated. The `checkpoint` key is stable and only replaced when it is revoked.
 */
export const rotatedPurposes = ['transparency-sth', 'event-signing', 'access-token'] as const;
export const keyStates = ['pending', 'active', 'retired', 'revoked'] as const;

// Administration

export const auditOutcomes = ['success', 'refused', 'failed'] as const;
/**
 * Maximum number of entries that one call causes: one for a status, one for roles, and one for the revocation of each
 * session that a password change ends.
 */
export const maxEntryIds = limits.maxTokensPerPrincipal + 2;

export const backupStates = ['running', 'completed', 'failed'] as const;
/** Whether and how a backup includes the private keys of the log. */
export const privateKeyStates = ['none', 'encrypted', 'included'] as const;

// Entries of the transparency log

/** Kinds of log entries with the type of their subject. */
export const entrySubjects = {
  'alert.raised': 'alert',
  'principal.provisioned': 'principal',
  'principal.status_changed': 'principal',
  'principal.role_changed': 'principal',
  'principal.password_reset': 'principal',
  'token.issued': 'token',
  'token.revoked': 'token',
  'policy.reloaded': 'policy',
  'policy.rule_edited': 'policy',
  'detection.reloaded': 'ruleset',
  'key.rotated': 'key',
  'key.revoked': 'key',
  'key.retired': 'key',
  'backup.created': 'backup',
  'backup.restored': 'backup',
  'verdict.overridden': 'alert',
  'events.expired': 'event_table',
  'ingest.receipted': 'receipts',
  'events.sealed': 'event_tables',
  'checkpoint.timestamped': 'checkpoint',
  'log.life_started': 'log',
} as const;
export type EntryKind = keyof typeof entrySubjects;
export const entryKinds = Object.keys(entrySubjects) as readonly EntryKind[];

/** Names of the event tables in log entries and statistics. */
export const eventTables = ['network', 'dns'] as const;
/** Reasons why retention removes events: their age, or the total size. */
export const expiryReasons = ['age', 'bytes'] as const;
export type ExpiryReason = (typeof expiryReasons)[number];

/**
 * Maximum characters of a text in an entry. A dozen such texts fit into limits.maxEntryBytes even if JCS
 * escapes every character (6 bytes each).
 */
export const maxEntryText = 500;
/**
 * Maximum items of a list in an entry. The log stores a diff of that length only as a hash; the limit protects the
 * outbox, where an entry takes about a megabyte at a few hundred bytes per item.
 */
export const maxEntryItems = 5000;
/** Maximum number of sample events of an alert in an entry. */
export const maxEntryEventIds = 5;
