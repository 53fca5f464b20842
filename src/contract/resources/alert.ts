import { Type } from 'typebox';
import { limits } from '../../limits.ts';
import { alertActions, alertStatuses, priorities, ruleSources, verdicts } from '../vocabulary.ts';
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

const changedTags = (description: string) => optional(list(text('A tag.'), description));

/** One change of an alert. */
export const AlertHistory = shape('AlertHistory', {
  alert_id: uuid('Identifier of the alert.'),
  at: timestamp('Time of the change.'),
  action: oneOf(
    alertActions,
    'Kind of change. Further occurrences of an alert are not recorded. An alert starts with `raised`, or with `recurred` if it follows a resolved alert; `to` is its severity. `overridden` is an override of the AI verdict, `triaged` a change of that verdict after the first one. `silenced` and `unsilenced` name the silence, `folded` and `unfolded` the summary alert.',
  ),
  actor: part('Principal that made the change.', {
    id: text('Identifier of the principal; `system` for changes by findings or by the service.'),
    name: optional(text('Name of the principal at that time.')),
  }),
  from: optional(text('Previous value; absent if it was empty.')),
  to: optional(text('New value; absent if it is empty.')),
  added: changedTags('Tags that were added.'),
  removed: changedTags('Tags that were removed.'),
  reason: optional(text('Reason, if the user gave one.')),
});
export type AlertHistory = Static<typeof AlertHistory>;

const verdict = (description: string) => oneOf(verdicts, description);
const tags = list(text('A tag.', { minLength: 1, maxLength: 100 }), 'Free-form labels.', { maxItems: 100 });

type Figure = number | string;
const evidence = Type.Unsafe<Readonly<Record<string, Figure | boolean | readonly Figure[]>>>({
  type: 'object',
  additionalProperties: {
    type: ['number', 'string', 'boolean', 'array'],
    items: { type: ['number', 'string'] },
  },
  description: 'Values that the detector observed, by name, as of the latest occurrence.',
});

const texts = (item: string, description: string) => optional(list(text(item), description));
const signature = part('The signature that matched, as described by the sensor.', {
  cves: texts(
    'A CVE identifier: CVE-<year>-<number>.',
    'CVE identifiers of the vulnerabilities that the signature covers.',
  ),
  references: texts('A URL or a name.', 'References with more information.'),
  metadata: optional(
    list(
      part('A metadata entry.', {
        key: text('Name of the entry.'),
        values: list(text('A value.'), 'Values of the entry.'),
      }),
      'Metadata from the author of the signature.',
    ),
  ),
});
const payload = part(
  'Traffic of the latest occurrence that included some. The bytes are controlled by the sender of the traffic: display them only as text.',
  {
    data: optional(text(`First ${limits.maxAlertPayloadBytes} bytes of the payload that matched, in base64.`)),
    printable: optional(text('The payload as text, if the sensor sent no bytes.')),
    packet: optional(text(`First ${limits.maxAlertPacketBytes} bytes of the packet, in base64.`)),
  },
);

export const Alert = shape('Alert', {
  title: text('Summary of the alert in one line.'),
  description: optional(text('Explanation of the alert.')),
  category: optional(text('Category of the rule.')),
  rule_id: text('Suricata gid:sid, Zeek notice type, or the UUID of a Sigma rule.'),
  rule_name: text('Name of the rule.'),
  rule_source: oneOf(ruleSources, 'Source of the rule.'),
  severity: severity('Severity of the alert.'),
  status: oneOf(alertStatuses, 'Status of the work on the alert.'),
  verdict: optional(verdict('Verdict of the analyst.')),
  priority: optional(oneOf(priorities, 'Priority of the work on the alert.')),
  risk_score: optional(between(0, 100, 'Contribution to the risk of its assets.')),
  confidence: optional(real('Confidence of the rule, from 0 to 1.', { minimum: 0, maximum: 1 })),
  src_ip: optional(address('Source address of the activity.')),
  src_port: optional(between(0, 65535, 'Source port of the first occurrence.')),
  dst_ip: optional(address('Destination address of the activity.')),
  dst_port: optional(between(0, 65535, 'Destination port of the first occurrence.')),
  transport: optional(text('Transport protocol in lower case.')),
  domain: optional(text('Domain name concerned.')),
  asset_ids: list(uuid('Identifier of an asset.'), 'Assets concerned.'),
  event_ids: list(uuid('Identifier of an event.'), 'A bounded sample of the events that caused the alert.'),
  sensors: optional(
    list(
      part('A sensor.', {
        id: uuid('Identifier of the principal.'),
        name: optional(text('Name of the principal when it was last counted.')),
        count: ordinal(
          'Number of occurrences that are based on events of this sensor, alone or together with events of other sensors.',
        ),
      }),
      'Sensors whose events the alert is based on, in order of appearance. A single entry means that no other sensor confirms the alert. Absent if unknown.',
    ),
  ),
  mitre: optional(
    part('Classification by MITRE ATT&CK.', {
      tactics: list(text('A tactic.'), 'ATT&CK tactics.'),
      techniques: list(text('A technique.'), 'ATT&CK techniques.'),
    }),
  ),
  evidence: optional(evidence),
  signature: optional(signature),
  payload: optional(payload),
  count: ordinal('Number of occurrences so far. A continuing activity counts once per day.'),
  first_seen: timestamp('Time of the first occurrence, or start of a continuing activity, in event time.'),
  last_seen: timestamp('Time of the last occurrence, or of the newest event of a continuing activity, in event time.'),
  dedup_key: text('Key that all occurrences of the alert share.'),
  silence_id: optional(uuid('Identifier of the silence that suppresses the alert.')),
  folded_into: optional(
    uuid(
      'Identifier of the summary alert that represents this alert and others of the same rule and time; this alert is suppressed.',
    ),
  ),
  previous_alert_id: optional(uuid('Identifier of the resolved or archived alert that recurred.')),
  assignee: optional(text('Name of the user the alert is assigned to.')),
  tags,
  note_count: count('Number of notes.'),
  ai_verdict: optional(
    part('Verdict of an AI model.', {
      verdict: verdict('Verdict of the model.'),
      confidence: real('Confidence of the model, from 0 to 1.', { minimum: 0, maximum: 1 }),
      model: text('Name and version of the model.'),
      reasons: list(text('A reason.'), 'Reasons for the verdict.'),
      at: timestamp('Time of the verdict.'),
    }),
  ),
  override: optional(
    part('Override of the AI verdict by a user.', {
      verdict: verdict('Verdict of the user.'),
      reason: text('Reason for the override.'),
      by: text('Name of the user.'),
      at: timestamp('Time of the override.'),
    }),
  ),
  transparency: optional(
    part('Position of the alert in the transparency log; absent below severity high and until the alert is logged.', {
      leaf_index: count('Leaf index of the log entry of the alert.'),
      tree_size: count('Size of the first signed tree head that covers the entry.'),
      leaf_hash: hex32('SHA-256(0x00 ‖ canonical bytes) of the entry.'),
    }),
  ),
  created_at: timestamp('Time at which the alert was raised.'),
  updated_at: timestamp('Time of the last change.'),
  version: ordinal('Version, increased by every change; use it with If-Match.'),
});
export type Alert = Static<typeof Alert>;

/** Body of `PUT /api/v1/alerts/:alert_id`. */
export const AlertUpdateInput = shape('AlertUpdateInput', {
  status: optional(oneOf(alertStatuses, 'New status; INVALID_TRANSITION if the transition is not allowed.')),
  verdict: optional(
    Type.Unsafe<(typeof verdicts)[number] | '' | null>({
      type: ['string', 'null'],
      enum: [...verdicts, '', null],
      description: 'Verdict of the analyst; null or empty to withdraw it.',
    }),
  ),
  priority: optional(oneOf(priorities, 'Priority of the work on the alert.')),
  severity: optional(severity('Corrected severity; an alert that reaches high is logged.')),
  assignee: optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 200,
      description: 'Name of the active user to assign the alert to; null or empty to unassign it.',
    }),
  ),
  tags: optional(tags),
  note: optional(text('Text of a note to add.', { minLength: 1, maxLength: 10_000 })),
  ai_override: optional(
    part('Overrides the AI verdict; the override is logged.', {
      verdict: verdict('Verdict that replaces that of the model.'),
      reason: text('Reason for the override.', { minLength: 1, maxLength: 2000 }),
    }),
  ),
});
export type AlertUpdateInput = Static<typeof AlertUpdateInput>;
