import type { Alert } from '../contract/resources/alert.ts';
import { type criticalities, severities } from '../contract/vocabulary.ts';
import { answeredOf, decadeOf, scoreOf } from './figures.ts';
import { logOdds, maxLogOdds, type Tally, verdictsIn } from './tally.ts';

/** An alert and what is known around it. */
export interface Case {
  readonly alert: Alert;
  /** Whether its ends are in the home networks; undefined where there is no such end. */
  readonly srcHome: boolean | undefined;
  readonly dstHome: boolean | undefined;
  /** It counts what is beyond the alerts that its rule may raise. */
  readonly flood: boolean;
  /** Of the most critical asset at its ends. */
  readonly criticality: (typeof criticalities)[number] | undefined;
  /** What analysts found of the alert of which it is the recurrence: 1 that something was wrong, 0 that nothing was. */
  readonly previous: number | undefined;
  /** Verdicts on its rule: on all alerts, and on those with its source and its target. */
  readonly rule: Tally;
  readonly source: Tally;
  readonly target: Tally;
}

interface Feature {
  readonly name: string;
  /** What it is, for people; its value is from −1 to 1, and 0 where it is not known or does not apply. */
  readonly what: string;
  /**
   * Weights before anything was learned, in log-odds for a value of 1: by how much it says that something is wrong; and,
   * where nothing is, that the rule was mistaken rather than that what it saw was harmless.
   */
  readonly wrong: number;
  readonly mistaken: number;
  readonly value: (about: Case) => number;
  /** Its weights are learned; others stay as they are, or verdicts on one rule would say something of others. */
  readonly learns?: true;
  /** The reason in a sentence. No text of sensors is in it. */
  readonly says: (about: Case) => string;
}

const when = (holds: boolean): number => (holds ? 1 : 0);

/**
 * All that the model looks at: the verdicts in it are those on the alert's rule. New features are added at the end: what was learned is kept by place.
 *
 * Where the weights come from: severity and confidence are the rule's own opinion and together can carry an alert from one
 * end to the other (±2.4); what analysts said of the same rule outweighs all else (±3.2), for it is the best predictor
 * there is of what they will say next; the rest are hints of half a point that decide only between even odds. Scans from
 * outside are the internet's background: every address gets them all day.
 */
export const features: readonly Feature[] = [
  {
    name: 'start',
    what: 'where every alert starts',
    wrong: 0,
    mistaken: -0.2,
    value: () => 1,
    says: () => 'Every alert starts here',
  },
  {
    name: 'severity',
    what: 'how grave it would be, from informational (−1) to critical (1)',
    wrong: 1.6,
    mistaken: 0,
    value: ({ alert }) => severities.indexOf(alert.severity) / 2 - 1,
    says: ({ alert }) => `The severity is ${alert.severity}`,
  },
  {
    name: 'confidence',
    what: 'how sure the rule is, from not at all (−1) to certain (1)',
    wrong: 0.8,
    mistaken: -0.8,
    value: ({ alert }) => (alert.confidence === undefined ? 0 : 2 * alert.confidence - 1),
    says: ({ alert }) => `The rule is ${percent(alert.confidence ?? 0)} sure`,
  },
  source('sigma', 0, 0.2, 'A Sigma rule matched'),
  source('behaviour', 0.2, -0.2, 'Found by a behaviour detector'),
  source('suricata', -0.3, 0.3, 'A signature of Suricata matched, as they often do'),
  source('zeek', -0.3, -0.2, 'It is a notice of Zeek'),
  source('intel', 1, 0.3, 'It has to do with an address or name that is known to be bad'),
  // No alert has this source any more; its place stays, because what was learned is kept by place.
  source('manual', 1, -0.5, 'A person raised it'),
  {
    name: 'late_tactics',
    what: 'ATT&CK tactics of an intruder who is inside: one (0.5), two or more (1)',
    wrong: 0.8,
    mistaken: 0,
    value: ({ alert }) => Math.min(2, lateTactics(alert)) / 2,
    says: ({ alert }) => `Its tactics are those of an intruder who is inside (${lateTactics(alert)})`,
  },
  {
    name: 'background',
    what: 'a scan from outside',
    wrong: -1,
    mistaken: -0.6,
    value: (about) => when(about.srcHome === false && isScan(about.alert)),
    says: () => 'Scans from outside are what every address gets',
  },
  {
    name: 'informational_category',
    what: 'a category that says no more than that something happened',
    wrong: -0.6,
    mistaken: -0.3,
    value: ({ alert }) => when(isInformational(alert)),
    says: () => 'Its category says no more than that something happened',
  },
  {
    name: 'occurrences',
    what: 'how often it occurred: a sixth for each power of ten',
    wrong: -0.4,
    mistaken: 0.3,
    value: ({ alert }) => Math.min(6, decadeOf(alert.count)) / 6,
    says: ({ alert }) => `It goes on and on: ${10 ** decadeOf(alert.count)} times or more`,
  },
  {
    name: 'outgoing',
    what: 'from one of our own machines to the outside',
    wrong: 0.4,
    mistaken: 0,
    value: ({ srcHome, dstHome }) => when(srcHome === true && dstHome === false),
    says: () => 'It goes from a machine of ours to the outside',
  },
  {
    name: 'internal',
    what: 'between our own machines',
    wrong: 0.3,
    mistaken: -0.2,
    value: ({ srcHome, dstHome }) => when(srcHome === true && dstHome === true),
    says: () => 'It is between machines of ours',
  },
  {
    name: 'incoming',
    what: 'from the outside to one of our own machines',
    wrong: -0.3,
    mistaken: 0,
    value: ({ srcHome, dstHome }) => when(srcHome === false && dstHome === true),
    says: () => 'It comes from outside',
  },
  {
    name: 'answered',
    what: 'whether any target answered: yes (1), no (−1)',
    wrong: 0.6,
    mistaken: 0,
    value: ({ alert }) => answeredOf(alert.evidence) ?? 0,
    says: ({ alert }) => (answeredOf(alert.evidence) === 1 ? 'A target answered' : 'No target answered'),
  },
  {
    name: 'score',
    what: "the detector's own score, from none (−1) to full (1)",
    wrong: 0.8,
    mistaken: -0.4,
    value: ({ alert }) => 2 * (scoreOf(alert.evidence) ?? 0.5) - 1,
    says: ({ alert }) => `The detector gives it a score of ${percent(scoreOf(alert.evidence) ?? 0)}`,
  },
  {
    name: 'administration_port',
    what: 'a port by which machines are administered',
    wrong: 0.2,
    mistaken: 0,
    value: ({ alert }) => when(administrationPorts.has(alert.dst_port ?? -1)),
    says: ({ alert }) => `Port ${alert.dst_port} administers machines`,
  },
  {
    name: 'previous_verdict',
    what: 'what was found of the alert of which it is the recurrence: something (1), nothing (−1)',
    wrong: 1,
    mistaken: 0,
    value: ({ previous }) => (previous === undefined ? 0 : 2 * previous - 1),
    says: ({ previous }) =>
      (previous ?? 0) > 0.5
        ? 'It came back, and something was wrong before'
        : 'It came back, and nothing was wrong before',
  },
  {
    name: 'criticality',
    what: 'how much the asset matters: low (−0.5), medium (0), high (0.5), critical (1)',
    wrong: 0.5,
    mistaken: 0,
    value: ({ criticality }) => (criticality === undefined ? 0 : worth[criticality]),
    says: ({ criticality }) => `It concerns an asset of ${criticality} criticality`,
  },
  {
    name: 'flood',
    what: 'the flood of alerts of a rule',
    wrong: -0.4,
    mistaken: 0.3,
    value: ({ flood }) => when(flood),
    says: () => 'It is a flood of its rule',
  },
  history('rule', 'alerts of this rule', 3.2),
  history('source', 'alerts of this rule with this source', 1.6),
  history('target', 'alerts of this rule with this target', 1),
  {
    name: 'rule_mistaken',
    what: 'how often the rule was mistaken where nothing was wrong, as bounded log-odds (1: 33 to 1)',
    wrong: 0,
    mistaken: 3,
    learns: true,
    value: ({ rule }) => logOdds(rule.mistaken, rule.harmless - rule.mistaken) / maxLogOdds,
    says: ({ rule }) =>
      `The rule was mistaken in ${Math.round(rule.mistaken)} of ${Math.round(rule.harmless)} alerts without harm`,
  },
];

const worth = { low: -0.5, medium: 0, high: 0.5, critical: 1 } as const;

function source(
  name: Alert['rule_source'] | 'manual',
  wrong: number,
  mistaken: number,
  says: string,
): Feature {
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
    what: `what analysts found of ${alerts}, as bounded log-odds: always something (1, 33 to 1), never (−1)`,
    wrong,
    mistaken: 0,
    learns: true,
    value: (about) => logOdds(about[of].wrong, about[of].harmless) / maxLogOdds,
    says: (about) => {
      const [all, harmless] = [verdictsIn(about[of]), Math.round(about[of].harmless)];
      return `Of ${all} ${alerts}, analysts found ${harmless} to be nothing`;
    },
  };
}

/** SSH, Telnet, RPC, NetBIOS, SMB, RDP, VNC, WinRM. */
const administrationPorts: ReadonlySet<number> = new Set([22, 23, 135, 139, 445, 3389, 5900, 5985, 5986]);

/** ATT&CK Enterprise: tactics that follow once someone is inside, by id and by name. */
const late: ReadonlySet<string> = new Set([
  ...['ta0003', 'persistence', 'ta0004', 'privilege-escalation', 'ta0006', 'credential-access'],
  ...['ta0008', 'lateral-movement', 'ta0009', 'collection', 'ta0011', 'command-and-control'],
  ...['ta0010', 'exfiltration', 'ta0040', 'impact'],
]);

function lateTactics({ mitre }: Alert): number {
  const named = mitre?.tactics.map((tactic) => tactic.toLowerCase().replaceAll(/[ _]/g, '-')) ?? [];
  return new Set(named.filter((tactic) => late.has(tactic))).size;
}

/** Words of categories, rules and notices. Texts come from sensors: no more of them than this is looked at. */
const lookedAt = 200;
const isScan = ({ rule_id, rule_name, category = '' }: Alert): boolean =>
  [rule_id, rule_name, category].some((text) =>
    /scan|sweep|probe|recon(?!nect)/i.test(text.slice(0, lookedAt)),
  );
const isInformational = ({ category = '' }: Alert): boolean =>
  /\b(policy|info|informational|not.suspicious|misc.activity|protocol.command.decode|generic)\b/i.test(
    category.slice(0, lookedAt),
  );

export const percent = (share: number): string => `${Math.round(100 * share)}%`;

/** The values of all features, in their order. */
export function valuesOf(about: Case): Float64Array {
  const values = new Float64Array(features.length);
  for (let i = 0; i < values.length; i++) {
    const value = features[i]!.value(about);
    // Whatever came in as evidence or confidence: a value is between −1 and 1.
    values[i] = value > -1 ? Math.min(value, 1) : value <= -1 ? -1 : 0;
  }
  return values;
}
