import { Type } from 'typebox';
import { limits } from '../../limits.ts';
import { alertStatuses, priorities, ruleSources, verdicts } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import {
  address,
  between,
  count,
  hex32,
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

const verdict = (description: string) => oneOf(verdicts, { description });
const tags = list(text('A tag.', { minLength: 1, maxLength: 100 }), 'Free labels.', { maxItems: 100 });

type Figure = number | string;
const evidence = Type.Unsafe<Readonly<Record<string, Figure | boolean | readonly Figure[]>>>({
  type: 'object',
  additionalProperties: {
    type: ['number', 'string', 'boolean', 'array'],
    items: { type: ['number', 'string'] },
  },
  description: 'What the detector saw, by name, as of the latest occurrence.',
});

const texts = (item: string, description: string) => optional(list(text(item), description));
const signature = part(
  {
    cves: texts('CVE-<year>-<number>.', 'Vulnerabilities that it is about.'),
    references: texts('A URL or a name.', 'Where more is said of it.'),
    metadata: optional(
      list(
        part({ key: text('Its name.'), values: list(text('A value.'), 'Its values.') }, 'One statement.'),
        'What its author says of it.',
      ),
    ),
  },
  'The signature that matched, as the sensor describes it.',
);
const payload = part(
  {
    data: optional(text(`The first ${limits.maxAlertPayloadBytes} bytes that matched, in base64.`)),
    printable: optional(text('The same as text, where the sensor sent no bytes.')),
    packet: optional(text(`The first ${limits.maxAlertPacketBytes} bytes of the packet, in base64.`)),
  },
  'Traffic of the latest occurrence that came with any. Its sender chose the bytes: show them as text only.',
);

export const Alert = shape('Alert', {
  title: text('What happened, in a line.'),
  description: optional(text('What it means.')),
  category: optional(text('Category of the rule.')),
  rule_id: text('Suricata gid:sid, Zeek notice type, or the UUID of a Sigma rule.'),
  rule_name: text('Name of the rule.'),
  rule_source: oneOf(ruleSources, { description: 'Where the rule comes from.' }),
  severity: severity('How bad it would be.'),
  status: oneOf(alertStatuses, { description: 'Where the work on it stands.' }),
  verdict: optional(verdict('What an analyst found.')),
  priority: optional(oneOf(priorities, { description: 'How soon it is to be worked on.' })),
  risk_score: optional(between(0, 100, 'Contribution to the risk of its assets.')),
  confidence: optional(real('How sure the rule is, 0 to 1.', { minimum: 0, maximum: 1 })),
  src_ip: optional(address('Source of the activity.')),
  src_port: optional(between(0, 65535, 'Port of the source, of the first occurrence.')),
  dst_ip: optional(address('Target of the activity.')),
  dst_port: optional(between(0, 65535, 'Port of the target, of the first occurrence.')),
  transport: optional(text('Transport protocol in lower case.')),
  domain: optional(text('Name concerned.')),
  asset_ids: list(uuid('An asset.'), 'Assets concerned.'),
  event_ids: list(uuid('An event.'), 'A bounded sample of the events that show it.'),
  sensors: optional(
    list(
      part(
        {
          id: uuid('The principal.'),
          name: optional(text('Its name when it was last counted.')),
          count: ordinal('Occurrences that rest on its events, on them alone or with others.'),
        },
        'A sensor.',
      ),
      'Sensors that sent what it rests on, those that came first; with one entry, no other sensor confirms it. Absent where that is unknown.',
    ),
  ),
  mitre: optional(
    part(
      {
        tactics: list(text('A tactic.'), 'ATT&CK tactics.'),
        techniques: list(text('A technique.'), 'ATT&CK techniques.'),
      },
      'Classification by MITRE ATT&CK.',
    ),
  ),
  evidence: optional(evidence),
  signature: optional(signature),
  payload: optional(payload),
  count: ordinal('Occurrences so far. An activity that goes on is one occurrence a day.'),
  first_seen: timestamp('First occurrence, or when the activity began, in event time.'),
  last_seen: timestamp('Last occurrence, or newest event of an activity that goes on, in event time.'),
  dedup_key: text('What occurrences share that are counted as one alert.'),
  silence_id: optional(uuid('The silence by which it is suppressed.')),
  folded_into: optional(
    uuid(
      'The alert that stands for it, and for others of its rule that came at the same time; suppressed so.',
    ),
  ),
  previous_alert_id: optional(uuid('The resolved or archived alert of which this is the recurrence.')),
  assignee: optional(text('Who works on it.')),
  tags,
  note_count: count('Notes attached.'),
  ai_verdict: optional(
    part(
      {
        verdict: verdict('What the model found.'),
        confidence: real('How sure it is, 0 to 1.', { minimum: 0, maximum: 1 }),
        model: text('Which model.'),
        reasons: list(text('A reason.'), 'Why.'),
        at: timestamp('When.'),
      },
      'What an AI found.',
    ),
  ),
  override: optional(
    part(
      {
        verdict: verdict('What the operator found.'),
        reason: text('Why.'),
        by: text('Who.'),
        at: timestamp('When.'),
      },
      "An operator's override of an AI verdict.",
    ),
  ),
  transparency: optional(
    part(
      {
        leaf_index: count('Position of its entry in the log.'),
        tree_size: count('Size of the tree whose signed head first covered it.'),
        leaf_hash: hex32('SHA-256(0x00 ‖ canonical bytes) of the entry.'),
      },
      'Where the transparency log has it; absent below high and until it is in.',
    ),
  ),
  created_at: timestamp('When it was raised.'),
  updated_at: timestamp('When it last changed.'),
  version: ordinal('Grows with every change; for If-Match.'),
});
export type Alert = Static<typeof Alert>;

/** What `PUT /api/v1/alerts/:alert_id` may change. */
export const AlertUpdateInput = shape('AlertUpdateInput', {
  status: optional(
    oneOf(alertStatuses, { description: 'New status; INVALID_TRANSITION where not allowed.' }),
  ),
  verdict: optional(
    Type.Unsafe<(typeof verdicts)[number] | '' | null>({
      type: ['string', 'null'],
      enum: [...verdicts, '', null],
      description: 'What you found; null or empty to withdraw it.',
    }),
  ),
  priority: optional(oneOf(priorities, { description: 'How soon it is to be worked on.' })),
  severity: optional(severity('Corrected severity; at high it is logged.')),
  assignee: optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 200,
      description: 'Name of the active user who works on it; null or empty to withdraw it.',
    }),
  ),
  tags: optional(tags),
  note: optional(text('Appended as a note.', { minLength: 1, maxLength: 10_000 })),
  ai_override: optional(
    part(
      {
        verdict: verdict('What is right.'),
        reason: text('Why.', { minLength: 1, maxLength: 2000 }),
      },
      'Overrides the AI verdict; is logged.',
    ),
  ),
});
export type AlertUpdateInput = Static<typeof AlertUpdateInput>;
