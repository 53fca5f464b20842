import type { Alert } from '../contract/resources/alert.ts';

/** The schema version of findings: https://schema.ocsf.io/1.5.0/classes/detection_finding. */
export const ocsfVersion = '1.5.0';

/** A value of an enumeration and its caption. */
type Coded = readonly [id: number, caption: string];

const category = { category_uid: 2, category_name: 'Findings' } as const;
const detectionFindingClass = { class_uid: 2004, class_name: 'Detection Finding' } as const;

const activities = {
  create: [1, 'Create'],
  update: [2, 'Update'],
  close: [3, 'Close'],
} as const satisfies Record<string, Coded>;

const severityCodes = {
  informational: [1, 'Informational'],
  low: [2, 'Low'],
  medium: [3, 'Medium'],
  high: [4, 'High'],
  critical: [5, 'Critical'],
} as const satisfies Record<Alert['severity'], Coded>;

const statusCodes = {
  new: [1, 'New'],
  in_progress: [2, 'In Progress'],
  suppressed: [3, 'Suppressed'],
  resolved: [4, 'Resolved'],
  archived: [5, 'Archived'],
} as const satisfies Record<Alert['status'], Coded>;

const verdictCodes = {
  false_positive: [1, 'False Positive'],
  true_positive: [2, 'True Positive'],
  suspicious: [4, 'Suspicious'],
  benign: [5, 'Benign'],
  test: [6, 'Test'],
  insufficient_data: [7, 'Insufficient Data'],
  duplicate: [10, 'Duplicate'],
} as const satisfies Record<NonNullable<Alert['verdict']>, Coded>;

const priorityCodes = {
  low: [1, 'Low'],
  medium: [2, 'Medium'],
  high: [3, 'High'],
  critical: [4, 'Critical'],
} as const satisfies Record<NonNullable<Alert['priority']>, Coded>;

const analyticTypes = {
  sigma: [1, 'Rule'],
  suricata: [1, 'Rule'],
  zeek: [1, 'Rule'],
  behaviour: [2, 'Behavioral'],
  intel: [99, 'Threat Intelligence'],
} as const satisfies Record<Alert['rule_source'], Coded>;

/** Confidence levels, each of which is a third of the range from 0 to 1. */
const confidenceCodes = [
  [1, 'Low'],
  [2, 'Medium'],
  [3, 'High'],
] as const satisfies readonly Coded[];

/**
 * Ports of name resolution: DNS, NetBIOS, multicast DNS, LLMNR. On these ports, the name in an alert is a
 * query.
 */
const resolverPorts: ReadonlySet<number | undefined> = new Set([53, 137, 5353, 5355]);

/**
 * Converts an alert to an OCSF Detection Finding with the profile `incident`. Attributes without a place in the schema
 * are under `unmapped`, with the names of Candor's API.
 *
 * @param version - version of this program
 */
export function detectionFinding(id: string, alert: Alert, version: string): object {
  const activity = activityOf(alert);
  return {
    metadata: {
      version: ocsfVersion,
      product: { name: 'Candor', vendor_name: 'Candor', version },
      profiles: ['incident'],
      uid: id,
      ...(alert.tags.length === 0 ? {} : { labels: alert.tags }),
    },
    ...category,
    ...detectionFindingClass,
    activity_id: activity[0],
    activity_name: activity[1],
    type_uid: detectionFindingClass.class_uid * 100 + activity[0],
    type_name: `${detectionFindingClass.class_name}: ${activity[1]}`,
    time: Date.parse(alert.created_at),
    start_time: Date.parse(alert.first_seen),
    end_time: Date.parse(alert.last_seen),
    message: alert.title,
    count: alert.count,
    is_alert: activity[0] !== activities.close[0],
    ...coded('severity', severityCodes[alert.severity]),
    ...coded('status', statusCodes[alert.status]),
    ...coded('verdict', alert.verdict && verdictCodes[alert.verdict]),
    ...coded('priority', alert.priority && priorityCodes[alert.priority]),
    ...confidence(alert.confidence),
    ...(alert.risk_score === undefined ? {} : { risk_score: alert.risk_score }),
    ...(alert.assignee === undefined ? {} : { assignee: { name: alert.assignee } }),
    finding_info: findingInfo(id, alert),
    ...listed('evidences', evidences(alert)),
    ...listed(
      'vulnerabilities',
      (alert.signature?.cves ?? []).map((uid) => ({ cve: { uid } })),
    ),
    ...listed(
      'resources',
      alert.asset_ids.map((uid) => ({ uid, type: 'asset' })),
    ),
    unmapped: unmapped(alert),
  };
}

/** Returns the latest activity: closed, changed by a user or the service, or created. */
function activityOf({ status, version }: Alert): Coded {
  if (status === 'resolved' || status === 'archived') return activities.close;
  return version === 1 ? activities.create : activities.update;
}

/** Returns the caption under the name, and the number under the name with `_id`. */
function coded(name: string, code: Coded | undefined): object {
  return code === undefined ? {} : { [`${name}_id`]: code[0], [name]: code[1] };
}

const listed = (name: string, items: readonly object[]): object => (items.length === 0 ? {} : { [name]: items });

function confidence(value: number | undefined): object {
  if (value === undefined) return {};
  const third = Math.min(Math.floor(value * confidenceCodes.length), confidenceCodes.length - 1);
  return { ...coded('confidence', confidenceCodes[third]), confidence_score: Math.round(value * 100) };
}

function findingInfo(id: string, alert: Alert): object {
  const { rule_id, rule_name, rule_source, category: ofRule, description } = alert;
  const [type_id, type] = analyticTypes[rule_source];
  return {
    uid: id,
    title: alert.title,
    ...(description === undefined ? {} : { desc: description }),
    analytic: {
      uid: rule_id,
      name: rule_name,
      type_id,
      type,
      ...(ofRule === undefined ? {} : { category: ofRule }),
    },
    ...listed('attacks', attacks(alert.mitre)),
    created_time: Date.parse(alert.created_at),
    modified_time: Date.parse(alert.updated_at),
    first_seen_time: Date.parse(alert.first_seen),
    last_seen_time: Date.parse(alert.last_seen),
    data_sources: [rule_source],
    related_events_count: alert.count,
    ...listed(
      'related_events',
      alert.event_ids.map((uid) => ({ uid })),
    ),
  };
}

/**
 * Returns a separate item for each tactic and each technique, because alerts do not relate techniques to
 * tactics.
 */
function attacks(mitre: Alert['mitre']): object[] {
  const { tactics = [], techniques = [] } = mitre ?? {};
  return [
    ...tactics.map((tactic) => ({ tactic: named(/^TA\d{4}$/, tactic) })),
    ...techniques.map((technique) => {
      const [, parent] = /^(T\d{4})\.\d{3}$/.exec(technique) ?? [];
      if (parent === undefined) return { technique: named(/^T\d{4}$/, technique) };
      return { technique: { uid: parent }, sub_technique: { uid: technique } };
    }),
  ];
}

/** Returns a tactic or technique by its identifier or its name, because rules use either. */
const named = (identifier: RegExp, text: string): object => (identifier.test(text) ? { uid: text } : { name: text });

function evidences(alert: Alert): object[] {
  const { src_ip, src_port, dst_ip, dst_port, transport, domain, evidence, payload } = alert;
  const isQuery = domain !== undefined && resolverPorts.has(dst_port);
  const src = endpoint(src_ip, src_port, undefined);
  const dst = endpoint(dst_ip, dst_port, isQuery ? undefined : domain);
  const shown = {
    ...(src === undefined ? {} : { src_endpoint: src }),
    ...(dst === undefined ? {} : { dst_endpoint: dst }),
    ...(transport === undefined
      ? {}
      : { connection_info: { protocol_name: transport, direction_id: 0, direction: 'Unknown' } }),
    ...(isQuery ? { query: { hostname: domain } } : {}),
    ...((evidence ?? payload) ? { data: { ...evidence, ...(payload && { payload }) } } : {}),
  };
  return Object.keys(shown).length === 0 ? [] : [shown];
}

/** Returns an endpoint; undefined with only a port, which does not identify an endpoint. */
function endpoint(ip: string | undefined, port: number | undefined, hostname: string | undefined) {
  if (ip === undefined && hostname === undefined) return undefined;
  return {
    ...(ip === undefined ? {} : { ip }),
    ...(port === undefined ? {} : { port }),
    ...(hostname === undefined ? {} : { hostname }),
  };
}

const unmappedNames = [
  'dedup_key',
  'previous_alert_id',
  'silence_id',
  'folded_into',
  'note_count',
  'sensors',
  'signature',
  'version',
  'ai_verdict',
  'override',
  'transparency',
] as const;

function unmapped(alert: Alert): object {
  const attributes: Readonly<Record<string, unknown>> = alert;
  return Object.fromEntries(
    unmappedNames.filter((name) => attributes[name] !== undefined).map((name) => [name, attributes[name]]),
  );
}
