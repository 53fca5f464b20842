import { limits } from '../../limits.ts';
import { severities } from '../vocabulary.ts';
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

export const ruleStatuses = ['stable', 'test', 'experimental', 'deprecated', 'unsupported'] as const;
export const ruleKinds = ['rule', 'correlation', 'filter'] as const;
export const ruleOrigins = ['shipped', 'folder', 'api'] as const;

const source = text(
  `The document as written, in YAML. Regular expressions, and wildcards with \`?\`, look at the first ${limits.maxRegexTextLength} characters of a value, as if it ended there.`,
  { minLength: 1, maxLength: limits.maxSigmaTextLength },
);
const level = oneOf(severities, { description: 'Severity of its findings.' });
const at = ordinal('Line, from 1.');

/** A detection rule, in the words of Sigma. */
export const Rule = shape('Rule', {
  title: text('What it detects, in a line.'),
  kind: optional(
    oneOf(ruleKinds, {
      description:
        'A rule on single records, a correlation of what rules match, or a filter that takes something away from rules; absent of one that cannot be read.',
    }),
  ),
  level,
  status: optional(oneOf(ruleStatuses, { description: 'How ripe it is.' })),
  logsource: anyObject('Which records it looks at: category, product, service.'),
  tags: list(text('A tag.'), 'As `attack.t1046`.'),
  source: text('The document as written.'),
  origin: oneOf(ruleOrigins, {
    description:
      'Whether it came with the program, is in the folder of rules, or was made over the interface.',
  }),
  file: optional(text('Of those in a folder: the file.')),
  line: optional(ordinal('Of those in a folder: where in the file it begins, from 1.')),
  enabled: flag('Whether it is applied.'),
  hits: count('Records that it matched, or findings of a correlation, since it was loaded.'),
  cost: optional(
    count(
      `What it costs a record at the worst, in about nanoseconds; rules that are tried on every record cost five times as much. All that are applied to one kind of record may cost ${limits.maxRuleCost} together. Absent where it is not applied.`,
    ),
  ),
  errors: list(text('An error, with its line.'), 'Why it cannot be applied; empty where it can.'),
  missing_fields: optional(
    list(text('A field.'), 'Fields that it asks for and no record here has: those parts of it never hold.'),
  ),
  changed_at: timestamp('When it was made or changed last.'),
  version: ordinal('Grows with every change; for If-Match.'),
});
export type Rule = Static<typeof Rule>;

export const RuleInput = shape('RuleInput', {
  source,
  enabled: optional(flag('Whether it is applied; default true.')),
});
export type RuleInput = Static<typeof RuleInput>;

export const RuleUpdateInput = shape('RuleUpdateInput', {
  source: optional(source),
  enabled: optional(flag('Whether it is applied.')),
});
export type RuleUpdateInput = Static<typeof RuleUpdateInput>;

export const RuleTextInput = shape('RuleTextInput', { source });

const problem = part(
  { line: at, field: text('As in the document: `detection.selection`.'), reason: text('What is wrong.') },
  'Why a document cannot be used.',
);

export const RuleValidation = shape('RuleValidation', {
  valid: flag('Whether it could be applied, with the rules that there are.'),
  documents: count('Documents that were understood.'),
  problems: list(problem, 'What is wrong with it.'),
});
export type RuleValidation = Static<typeof RuleValidation>;

export const RuleTestInput = shape('RuleTestInput', {
  source,
  from: optional(timestamp('Start of the events looked at, inclusive; default: the first.')),
  to: optional(timestamp('Their end, exclusive; default: now.')),
});
export type RuleTestInput = Static<typeof RuleTestInput>;

const match = part(
  {
    rule_id: text('What found it, as alerts name it.'),
    title: text('What it detects.'),
    severity: level,
    timestamp: timestamp('When.'),
    event_ids: list(uuid('An event.'), 'Stored events that show it.'),
    src_ip: optional(address('Source.')),
    src_port: optional(between(0, 65_535, 'Its port.')),
    dst_ip: optional(address('Destination.')),
    dst_port: optional(between(0, 65_535, 'Its port.')),
    domain: optional(text('Name concerned.')),
    description: optional(text('What was found.')),
  },
  'What would have been found.',
);

export const RuleTestResult = shape('RuleTestResult', {
  looked_at: count('Stored events that were looked at.'),
  cut_short: flag('Whether there are more of that time, which were not.'),
  cut_short_by: optional(
    oneOf(['events', 'time'], {
      description: `Why: it looks at ${limits.maxRuleTestEvents} events of a kind, the newest, and takes ${limits.ruleTestMs / 1000} s of a processor.`,
    }),
  ),
  answerable: flag(
    'Whether stored events can answer it: records other than of connections and DNS are not kept.',
  ),
  not_stored: list(
    text('A kind: sensor and log.'),
    'Kinds of record that its rules are about and that were not looked at, as they are not kept: `zeek.ssl`.',
  ),
  matched: count('How often something was found.'),
  matches: list(match, 'The newest of it.', { maxItems: limits.maxRuleTestMatches }),
});
export type RuleTestResult = Static<typeof RuleTestResult>;

export const RulesReloaded = shape('RulesReloaded', {
  version: count('Version of all rules now.'),
  added: count('Rules that are new.'),
  removed: count('Rules that are gone.'),
  changed: count('Rules that changed.'),
  broken: list(text('File, line and reason.'), 'What cannot be applied, the first hundred.', {
    maxItems: limits.maxSigmaProblems,
  }),
});
export type RulesReloaded = Static<typeof RulesReloaded>;
