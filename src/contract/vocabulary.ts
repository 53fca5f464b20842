/**
 * The words of the interface and the bounds of its texts and lists, by subject. The schemas (`resources/`,
 * `parameters.ts`) are built from them; here, apart from schemas, threads that validate nothing can read them without
 * loading what schemas are made with. Words that one schema alone uses stand in that schema.
 */
import { limits } from '../limits.ts';

/** Ascending: the index of a severity is its rank. */
export const severities = ['informational', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

// Events

export const eventSources = ['zeek', 'suricata', 'ecs', 'native'] as const;
export const connectionStates = [
  'attempt',
  'open',
  'closed',
  'reset',
  'failed',
  'refused',
  'traffic',
] as const;
export type ConnectionState = (typeof connectionStates)[number];
export const directions = ['inbound', 'outbound', 'internal', 'external'] as const;
export const dnsKinds = ['query', 'response', 'transaction'] as const;

// Alerts

export const alertStatuses = ['new', 'in_progress', 'resolved', 'suppressed', 'archived'] as const;
export type AlertStatus = (typeof alertStatuses)[number];
/** Those of alerts that somebody is still to decide on. */
export const openAlertStatuses: readonly AlertStatus[] = ['new', 'in_progress'];

/** Where a status may go. Staying where it is, is always allowed and changes nothing. */
export const alertTransitions = {
  new: ['in_progress', 'resolved', 'suppressed'],
  in_progress: ['new', 'resolved', 'suppressed'],
  resolved: ['in_progress', 'archived'],
  suppressed: ['in_progress', 'archived'],
  archived: [],
} as const satisfies Record<AlertStatus, readonly AlertStatus[]>;

/** True where `PUT` may move an alert from one status to the other. */
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
/** How lists of known-bad addresses and domains are written, and what they name. */
export const intelFormats = ['lines', 'stix'] as const;
export const indicatorKinds = ['address', 'domain'] as const;

/** What can happen to an alert. */
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
/** What alerts may be grouped by. */
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

/** What recognises behaviour in events, each under the id that its alerts name as `behaviour.<id>`. */
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

// Assets and the services that they offer

export const assetKinds = [
  'server',
  'workstation',
  'network',
  'iot',
  'printer',
  'mobile',
  'unknown',
] as const;
export const criticalities = ['low', 'medium', 'high', 'critical'] as const;
export const assetStates = ['staged', 'managed', 'retired'] as const;
export const assetSources = ['passive', 'scan', 'manual'] as const;
export const riskLevels = ['low', 'moderate', 'high', 'critical'] as const;

/** Length of a line of text about an asset, and of the notes; how many tags. */
export const maxLineLength = 255;
export const maxNotesLength = 10_000;
export const maxTags = 100;

/** What can happen to an asset. */
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

/** What is kept of an edge's ports and protocols: the lowest, the first in order. So it is the same however added up. */
export const maxPorts = 16;
export const maxProtocols = 8;

// Analytics

/** How far figures look back. */
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
/** As of now; a token that was revoked is not looked at further. */
export const tokenStatuses = ['active', 'expired', 'revoked'] as const;

/**
 * Kinds of sensor data that is not stored: bad records; records of kinds that are not stored; requests that were refused as a
 * whole; requests whose credentials were missing, bad or not sufficient.
 */
export const notStoredKinds = ['rejected', 'ignored', 'refused', 'credentials'] as const;
export type NotStoredKind = (typeof notStoredKinds)[number];

// Transparency log

/** Reasons for which the log refuses appends. `half_written`: a commit was cut short in a way that LMDB cannot undo. */
export const ledgerFaults = [
  'rollback',
  'corrupt',
  'half_written',
  'lost',
  'copied',
  'clock',
  'anchor_unavailable',
] as const;
/** Conditions of the log, and of the stored events, that an operator must look at. Appends may go on. */
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
  'events_altered',
  'sealing_stopped',
] as const;

/** Reasons for which a log begins a new life: new keys and a new origin over the same entries, or over none. */
export const lifeReasons = ['restored', 'loss_accepted', 'begun_anew', 'copied'] as const;
export type LifeReason = (typeof lifeReasons)[number];
/** How status and health name the start of a life. */
export const regressionEvents = ['restored', 'rebuilt', 'begun_anew', 'copied'] as const;

// Keys

export const keyPurposes = [
  'transparency-sth',
  'event-signing',
  'access-token',
  'checkpoint',
  'witness',
] as const;
/** Where private keys of the log are. */
export const keySigners = ['file', 'ssh-agent'] as const;
/** Purposes whose keys change on demand. That of `checkpoint` is stable, and only replaced when it is revoked. */
export const rotatedPurposes = ['transparency-sth', 'event-signing', 'access-token'] as const;
export const keyStates = ['pending', 'active', 'retired', 'revoked'] as const;

// Administration

export const auditOutcomes = ['success', 'refused', 'failed'] as const;
/** As many entries as one call causes: a status, roles, and a revocation of each session that ends with a password. */
export const maxEntryIds = limits.maxTokensPerPrincipal + 2;

export const backupStates = ['running', 'completed', 'failed'] as const;
/** Whether a backup has the private keys of the log. */
export const privateKeyStates = ['none', 'encrypted', 'included'] as const;

// Entries of the transparency log

/** Every kind of entry that this service logs, and the type of its subject. */
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

/** The tables of events, as entries and figures name them. */
export const eventTables = ['network', 'dns'] as const;
/** Why retention takes events: they are too old, or all are too many. */
export const expiryReasons = ['age', 'bytes'] as const;
export type ExpiryReason = (typeof expiryReasons)[number];

/** Characters kept of one text in an entry: with JCS's escapes (6 bytes each) a dozen fit limits.maxEntryBytes. */
export const maxEntryText = 500;
/**
 * Items kept of one list in an entry. A diff that long is named by its hash in the log; the bound is there for the
 * outbox: at a few hundred bytes each, an entry waits there with about a megabyte.
 */
export const maxEntryItems = 5000;
/** Events named as the sample of an alert. */
export const maxEntryEventIds = 5;
