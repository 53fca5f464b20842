import type { Alert } from '../../../contract/resources/alert.ts';
import { type criticalities, severities } from '../../../contract/vocabulary.ts';
import { answeredOf, decadeOf, scoreOf } from './figures.ts';
import { logOdds, maxLogOdds, type Tally, verdictsIn } from './tally.ts';

/** An alert with its context. */
export interface Case {
  readonly alert: Alert;
  /** Whether the source is in the home networks; undefined without a source address. */
  readonly srcHome: boolean | undefined;
  /** Whether the destination is in the home networks; undefined without a destination address. */
  readonly dstHome: boolean | undefined;
  /** Whether the alert is a summary alert of a flood from its rule. */
  readonly flood: boolean;
  /** Criticality of the most critical asset among source and destination. */
  readonly criticality: (typeof criticalities)[number] | undefined;
  /** Analyst verdict on the alert that recurred: 1 for malicious, 0 for harmless. */
  readonly previous: number | undefined;
  /** Verdicts on all alerts of the rule. */
  readonly rule: Tally;
  /** Verdicts on the rule's alerts with the same source. */
  readonly source: Tally;
  readonly target: Tally;
}

interface Feature {
  readonly name: string;
  /** Description of the feature for users. */
  readonly what: string;
  /** Initial weight towards malicious, in log-odds for a value of 1. */
  readonly wrong: number;
  /**
   * Initial weight, for alerts that are not malicious, towards a false positive of the rule rather than benign
   * activity, in log-odds for a value of 1.
   */
  readonly mistaken: number;
  /** Value from −1 to 1; 0 means unknown or not applicable. */
  readonly value: (about: Case) => number;
  /**
   * Whether the weights are learned. Other weights are fixed, because otherwise verdicts on one rule would
   * influence other rules.
   */
  readonly learns?: true;
  /** Returns the reason in one sentence, without text from sensors. */
  readonly says: (about: Case) => string;
}

const when = (holds: boolean): number => (holds ? 1 : 0);

/**
 * The features of the model. Verdict features use only verdicts on the same rule. New features must be
 * appended, because learned weights are stored by position.
 *
 * Choice of the weights: severity and confidence are the estimate of the rule's author, and can together decide
 * the verdict (±2.4). Analyst verdicts on the same rule outweigh everything else (±3.2), because they are the
 * best predictor of the next verdict. The other features are hints of about half a point, which matter only
 * when the odds are close to even. External scans are background noise that every public address receives.
 */
export const features: readonly Feature[] = [
  {
    name: 'start',
    what: 'base value of every alert',
    wrong: 0,
    mistaken: -0.2,
    value: () => 1,
    says: () => 'Base value of every alert',
  },
  {
    name: 'severity',
    what: 'severity, from informational (−1) to critical (1)',
    wrong: 1.6,
    mistaken: 0,
    value: ({ alert }) => severities.indexOf(alert.severity) / 2 - 1,
    says: ({ alert }) => `Severity is ${alert.severity}`,
  },
  {
    name: 'confidence',
    what: 'confidence of the rule, from none (−1) to certain (1)',
    wrong: 0.8,
    mistaken: -0.8,
    value: ({ alert }) => (alert.confidence === undefined ? 0 : 2 * alert.confidence - 1),
    says: ({ alert }) => `Confidence of the rule is ${percent(alert.confidence ?? 0)}`,
  },
  source('sigma', 0, 0.2, 'A Sigma rule matched'),
  source('behaviour', 0.2, -0.2, 'Found by a behaviour detector'),
  source('suricata', -0.3, 0.3, 'Suricata signature, which often raises false positives'),
  source('zeek', -0.3, -0.2, 'Zeek notice'),
  source('intel', 1, 0.3, 'Involves an address or domain from a threat intelligence list'),
  // This feature is no longer used, but must stay in its position, because learned weights are stored by
  // position.
  source('manual', 1, -0.5, 'Raised by a user'),
  {
    name: 'late_tactics',
    what: 'post-compromise ATT&CK tactics: one (0.5), two or more (1)',
    wrong: 0.8,
    mistaken: 0,
    value: ({ alert }) => Math.min(2, lateTactics(alert)) / 2,
    says: ({ alert }) => `Post-compromise ATT&CK tactics (${lateTactics(alert)})`,
  },
  {
    name: 'background',
    what: 'external scan',
    wrong: -1,
    mistaken: -0.6,
    value: (about) => when(about.srcHome === false && isScan(about.alert)),
    says: () => 'External scan, which every public address receives',
  },
  {
    name: 'informational_category',
    what: 'informational category',
    wrong: -0.6,
    mistaken: -0.3,
    value: ({ alert }) => when(isInformational(alert)),
    says: () => 'The category is informational',
  },
  {
    name: 'occurrences',
    what: 'number of occurrences: a sixth for each power of ten',
    wrong: -0.4,
    mistaken: 0.3,
    value: ({ alert }) => Math.min(6, decadeOf(alert.count)) / 6,
    says: ({ alert }) => `Frequent: ${10 ** decadeOf(alert.count)} or more occurrences`,
  },
  {
    name: 'outgoing',
    what: 'outbound: from an internal host to the Internet',
    wrong: 0.4,
    mistaken: 0,
    value: ({ srcHome, dstHome }) => when(srcHome === true && dstHome === false),
    says: () => 'Outbound activity of an internal host',
  },
  {
    name: 'internal',
    what: 'between internal hosts',
    wrong: 0.3,
    mistaken: -0.2,
    value: ({ srcHome, dstHome }) => when(srcHome === true && dstHome === true),
    says: () => 'Activity between internal hosts',
  },
  {
    name: 'incoming',
    what: 'inbound: from the Internet to an internal host',
    wrong: -0.3,
    mistaken: 0,
    value: ({ srcHome, dstHome }) => when(srcHome === false && dstHome === true),
    says: () => 'Inbound activity from the Internet',
  },
  {
    name: 'answered',
    what: 'whether a destination answered: yes (1), no (−1)',
    wrong: 0.6,
    mistaken: 0,
    value: ({ alert }) => answeredOf(alert.evidence) ?? 0,
    says: ({ alert }) => (answeredOf(alert.evidence) === 1 ? 'A destination answered' : 'No destination answered'),
  },
  {
    name: 'score',
    what: 'score of the detector, from 0% (−1) to 100% (1)',
    wrong: 0.8,
    mistaken: -0.4,
    value: ({ alert }) => 2 * (scoreOf(alert.evidence) ?? 0.5) - 1,
    says: ({ alert }) => `Detector score is ${percent(scoreOf(alert.evidence) ?? 0)}`,
  },
  {
    name: 'administration_port',
    what: 'remote administration port',
    wrong: 0.2,
    mistaken: 0,
    value: ({ alert }) => when(administrationPorts.has(alert.dst_port ?? -1)),
    says: ({ alert }) => `Port ${alert.dst_port} is used for remote administration`,
  },
  {
    name: 'previous_verdict',
    what: 'analyst verdict on the alert that recurred: malicious (1), harmless (−1)',
    wrong: 1,
    mistaken: 0,
    value: ({ previous }) => (previous === undefined ? 0 : 2 * previous - 1),
    says: ({ previous }) =>
      (previous ?? 0) > 0.5 ? 'Recurrence of an alert that was malicious' : 'Recurrence of an alert that was harmless',
  },
  {
    name: 'criticality',
    what: 'criticality of the asset: low (−0.5), medium (0), high (0.5), critical (1)',
    wrong: 0.5,
    mistaken: 0,
    value: ({ criticality }) => (criticality === undefined ? 0 : worth[criticality]),
    says: ({ criticality }) => `Criticality of the asset is ${criticality}`,
  },
  {
    name: 'flood',
    what: 'summary alert of a flood from one rule',
    wrong: -0.4,
    mistaken: 0.3,
    value: ({ flood }) => when(flood),
    says: () => 'Summary of a flood of alerts from one rule',
  },
  history('rule', 'alerts of this rule', 3.2),
  history('source', 'alerts of this rule with this source', 1.6),
  history('target', 'alerts of this rule with this destination', 1),
  {
    name: 'rule_mistaken',
    what: 'share of false positives among harmless alerts of the rule, as bounded log-odds (1: 33 to 1)',
    wrong: 0,
    mistaken: 3,
    learns: true,
    value: ({ rule }) => logOdds(rule.mistaken, rule.harmless - rule.mistaken) / maxLogOdds,
    says: ({ rule }) =>
      `${Math.round(rule.mistaken)} of ${Math.round(rule.harmless)} harmless alerts of this rule were false positives`,
  },
];

const worth = { low: -0.5, medium: 0, high: 0.5, critical: 1 } as const;

function source(name: Alert['rule_source'] | 'manual', wrong: number, mistaken: number, says: string): Feature {
  return {
    name: `source_${name}`,
    what: `found by: ${name}`,
    wrong,
    mistaken,
    value: ({ alert }) => when(alert.rule_source === name),
    says: () => says,
  };
}

function history(of: 'rule' | 'source' | 'target', alerts: string, wrong: number): Feature {
  return {
    name: `${of}_history`,
    what: `analyst verdicts on ${alerts}, as bounded log-odds: always malicious (1, 33 to 1), never (−1)`,
    wrong,
    mistaken: 0,
    learns: true,
    value: (about) => logOdds(about[of].wrong, about[of].harmless) / maxLogOdds,
    says: (about) => {
      const [all, harmless] = [verdictsIn(about[of]), Math.round(about[of].harmless)];
      return `Analysts found ${harmless} of ${all} ${alerts} harmless`;
    },
  };
}

/** Ports of SSH, Telnet, RPC, NetBIOS, SMB, RDP, VNC and WinRM. */
const administrationPorts: ReadonlySet<number> = new Set([22, 23, 135, 139, 445, 3389, 5900, 5985, 5986]);

/** Post-compromise tactics of ATT&CK Enterprise, by id and by name. */
const late: ReadonlySet<string> = new Set([
  ...['ta0003', 'persistence', 'ta0004', 'privilege-escalation', 'ta0006', 'credential-access'],
  ...['ta0008', 'lateral-movement', 'ta0009', 'collection', 'ta0011', 'command-and-control'],
  ...['ta0010', 'exfiltration', 'ta0040', 'impact'],
]);

function lateTactics({ mitre }: Alert): number {
  const named = mitre?.tactics.map((tactic) => tactic.toLowerCase().replaceAll(/[ _]/g, '-')) ?? [];
  return new Set(named.filter((tactic) => late.has(tactic))).size;
}

/**
 * Maximum characters of categories and of rule names that are examined. Sensors supply these texts, so their
 * length must be bounded.
 */
const lookedAt = 200;
const isScan = ({ rule_id, rule_name, category = '' }: Alert): boolean =>
  [rule_id, rule_name, category].some((text) => /scan|sweep|probe|recon(?!nect)/i.test(text.slice(0, lookedAt)));
const isInformational = ({ category = '' }: Alert): boolean =>
  /\b(policy|info|informational|not.suspicious|misc.activity|protocol.command.decode|generic)\b/i.test(
    category.slice(0, lookedAt),
  );

export const percent = (share: number): string => `${Math.round(100 * share)}%`;

/** Returns the values of all features, in order. */
export function valuesOf(about: Case): Float64Array {
  const values = new Float64Array(features.length);
  for (let i = 0; i < values.length; i++) {
    const value = features[i]!.value(about);
    // Evidence and confidence are supplied by sensors, so values are clamped to −1 to 1, and NaN becomes 0.
    values[i] = value > -1 ? Math.min(value, 1) : value <= -1 ? -1 : 0;
  }
  return values;
}
