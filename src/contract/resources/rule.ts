import { limits } from '../../limits.ts';
import { ruleKinds, ruleOrigins, ruleStatuses, severities } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import {
  address,
  anyObject,
  between,
  count,
  flag,
  list,
  optional,
  ordinal,
  part,
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';

const source = text(
  `Source text of the Sigma document, in YAML. Regular expressions, and wildcards with \`?\`, match only the first ${limits.maxRegexTextLength} characters of a value.`,
  { minLength: 1, maxLength: limits.maxSigmaTextLength },
);
const level = oneOf(severities, 'Severity of the findings of the rule.');
const at = ordinal('Line number, from 1.');

/** A detection rule in Sigma format. */
export const Rule = shape('Rule', {
  title: text('Title of the rule.'),
  kind: optional(
    oneOf(
      ruleKinds,
      'Kind of document: a rule for single records, a correlation of matches, or a filter that excludes records from rules. Absent if the document cannot be parsed.',
    ),
  ),
  level,
  status: optional(oneOf(ruleStatuses, 'Maturity of the rule, as Sigma defines it.')),
  logsource: anyObject('Log source that the rule applies to: category, product, service.'),
  tags: list(text('A tag.'), 'Tags of the rule, such as `attack.t1046`.'),
  source: text('Source text of the document.'),
  origin: oneOf(
    ruleOrigins,
    'Origin of the rule: shipped with the program, read from a rules folder, or created over the API.',
  ),
  file: optional(text('File of the rule, if it is in a folder.')),
  line: optional(ordinal('Line in the file at which the rule starts, from 1, if it is in a folder.')),
  enabled: flag('Whether the rule is enabled.'),
  hits: count('Number of records that matched, or of findings of a correlation, since the rule was loaded.'),
  cost: optional(
    count(
      `Estimated worst-case cost per record, in nanoseconds; rules that are evaluated for every record cost five times as much. The rules for one kind of record may cost ${limits.maxRuleCost} in total. Absent if the rule is not applied.`,
    ),
  ),
  errors: list(text('An error, with its line.'), 'Why the rule cannot be applied; empty if it can.'),
  missing_fields: optional(
    list(text('A field.'), 'Fields in the rule that no record has: conditions on them never match.'),
  ),
  changed_at: timestamp('Time at which the rule was created or last changed.'),
  version: ordinal('Version, increased by every change; use it with If-Match.'),
});
export type Rule = Static<typeof Rule>;

export const RuleInput = shape('RuleInput', {
  source,
  enabled: optional(flag('Whether the rule is enabled. Default: true.')),
});
export type RuleInput = Static<typeof RuleInput>;

export const RuleUpdateInput = shape('RuleUpdateInput', {
  source: optional(source),
  enabled: optional(flag('Whether the rule is enabled.')),
});
export type RuleUpdateInput = Static<typeof RuleUpdateInput>;

export const RuleTextInput = shape('RuleTextInput', { source });

const problem = part('An error in a document.', {
  line: at,
  field: text('Path of the field in the document, such as `detection.selection`.'),
  reason: text('Error message.'),
});

export const RuleValidation = shape('RuleValidation', {
  valid: flag('Whether the documents can be applied together with the existing rules.'),
  documents: count('Number of documents that were parsed.'),
  problems: list(problem, 'Errors in the documents.'),
});
export type RuleValidation = Static<typeof RuleValidation>;

export const RuleTestInput = shape('RuleTestInput', {
  source,
  from: optional(timestamp('Start of the time range, inclusive. Default: the first event.')),
  to: optional(timestamp('End of the time range, exclusive. Default: now.')),
});
export type RuleTestInput = Static<typeof RuleTestInput>;

const match = part('A finding that the rule would have produced.', {
  rule_id: text('Identifier of the rule, as in alerts.'),
  title: text('Title of the rule.'),
  severity: level,
  timestamp: timestamp('Time of the match.'),
  event_ids: list(uuid('Identifier of an event.'), 'Stored events that matched.'),
  src_ip: optional(address('Source address.')),
  src_port: optional(between(0, 65_535, 'Source port.')),
  dst_ip: optional(address('Destination address.')),
  dst_port: optional(between(0, 65_535, 'Destination port.')),
  domain: optional(text('Domain name concerned.')),
  description: optional(text('Description of the finding.')),
});

export const RuleTestResult = shape('RuleTestResult', {
  looked_at: count('Number of stored events that were evaluated.'),
  cut_short: flag('Whether the time range has more events, which were not evaluated.'),
  cut_short_by: optional(
    oneOf(
      ['events', 'time'],
      `Limit that was reached: a test evaluates the newest ${limits.maxRuleTestEvents} events of each kind and uses up to ${limits.ruleTestMs / 1000} s of CPU time.`,
    ),
  ),
  answerable: flag('Whether the rule can be tested on stored events: only connection and DNS records are stored.'),
  not_stored: list(
    text('Kind of record: sensor and log.'),
    'Kinds of record that the rules apply to but that are not stored and so were not evaluated, such as `zeek.ssl`.',
  ),
  matched: count('Number of findings.'),
  matches: list(match, 'The newest findings.', { maxItems: limits.maxRuleTestMatches }),
});
export type RuleTestResult = Static<typeof RuleTestResult>;

export const RulesReloaded = shape('RulesReloaded', {
  version: count('New version of the rules.'),
  added: count('Number of rules added.'),
  removed: count('Number of rules removed.'),
  changed: count('Number of rules changed.'),
  broken: list(text('File, line and reason.'), 'The first 100 errors of rules that cannot be applied.', {
    maxItems: limits.maxSigmaProblems,
  }),
});
export type RulesReloaded = Static<typeof RulesReloaded>;
