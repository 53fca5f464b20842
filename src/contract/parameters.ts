import { type TProperties, type TSchema, Type } from 'typebox';
import { limits } from '../limits.ts';
import { alertStatuses, priorities, ruleSources, verdicts } from './resources/alert.ts';
import { auditOutcomes } from './resources/audit-record.ts';
import { oneOf, severities } from './resources/common.ts';
import { dnsKinds } from './resources/dns-event.ts';
import { between, count, flag, ordinal, real, text, uuid } from './resources/fields.ts';
import { entryKindNames } from './resources/log-entry-kinds.ts';
import { connectionStates, directions, eventSources } from './resources/network-event.ts';

/**
 * Query parameters, as schemas that `parseQuery` reads. An array is a filter: it may be repeated, and one value of
 * those given suffices. Everything else may be given once.
 */
const many = <S extends TSchema>(items: S) =>
  Type.Optional(Type.Array(items, { maxItems: limits.maxFilterValues }));

const network = (description: string) => Type.String({ format: 'network', description });
/** Arrives as ISO 8601 or epoch milliseconds; read as epoch milliseconds. */
const time = (description: string) => Type.Unsafe<number>({ type: 'string', format: 'time', description });
const word = (description: string) => text(description, { minLength: 1 });
const port = (description: string) => between(0, 65535, description);

const pageParameters = {
  page: Type.Optional(between(1, 1_000_000_000, 'Page; the first and default is 1.')),
  per_page: Type.Optional(between(1, limits.maxPerPage, `Items a page; default ${limits.defaultPerPage}.`)),
};

const search = {
  q: Type.Optional(text('Free text over the names of the resource.', { minLength: 1, maxLength: 256 })),
};

/** Parameters that every list with filters takes. `sorts[0]` is the default, newest first. */
const listParameters = <const S extends readonly [string, ...string[]], F extends TProperties>(
  sorts: S,
  filters: F,
) =>
  Type.Object(
    {
      ...pageParameters,
      cursor: Type.Optional(
        text('next_cursor of the page before; page is then ignored.', { minLength: 1, maxLength: 1024 }),
      ),
      sort: Type.Optional(
        Type.Unsafe<S[number] | `-${S[number]}`>({
          type: 'string',
          enum: sorts.flatMap((sort) => [`-${sort}`, sort]),
          default: `-${sorts[0]}`,
          description: 'Attribute to sort by; with - descending.',
        }),
      ),
      from: Type.Optional(time('Start of the time range, inclusive: ISO 8601 or epoch milliseconds.')),
      to: Type.Optional(time('End of the time range, exclusive: ISO 8601 or epoch milliseconds.')),
      ...search,
      min_severity: Type.Optional(oneOf(severities, { description: 'This severity or above.' })),
      severity: many(oneOf(severities, { description: 'This severity.' })),
      ...filters,
    },
    { additionalProperties: false },
  );

/** Parameters of a stream: the same filters, but `severity` means at or above. */
const streamParameters = <F extends TProperties>(filters: F) =>
  Type.Object(
    {
      since: Type.Optional(count('Commit sequence after which to begin, replaying what was missed.')),
      ...search,
      severity: Type.Optional(oneOf(severities, { description: 'This severity or above.' })),
      ...filters,
    },
    { additionalProperties: false },
  );

/** What network and DNS events have in common. */
const eventFilters = {
  timestamp: many(time('Exactly this time; ranges are from and to.')),
  received_at: many(time('Taken in at exactly this time.')),
  ip: many(network('Either end: an address or a CIDR block.')),
  src_ip: many(network('Originator or client: an address or a CIDR block.')),
  dst_ip: many(network('Responder or resolver: an address or a CIDR block.')),
  src_port: many(port('Port of the originator or client.')),
  dst_port: many(port('Port of the responder or resolver.')),
  transport: many(word('Transport protocol in lower case.')),
  connection_id: many(word("The sensor's id of the connection.")),
  community_id: many(word('Community ID flow hash.')),
  sensor: many(word('Name of the sensor.')),
  source: many(oneOf(eventSources, { description: 'Format in which it came.' })),
  asset_id: many(uuid('Asset of either end.')),
  src_asset_id: many(uuid('Asset of the originator or client.')),
  dst_asset_id: many(uuid('Asset of the responder or resolver.')),
};

export const networkEventFilters = {
  ...eventFilters,
  end_time: many(time('Ended at exactly this time.')),
  duration_ms: many(real('Duration in milliseconds.')),
  src_mac: many(word('Link-layer address of the originator.')),
  dst_mac: many(word('Link-layer address of the responder.')),
  app_protocol: many(word('Application protocol.')),
  src_bytes: many(count('IP bytes sent by the originator.')),
  dst_bytes: many(count('IP bytes sent by the responder.')),
  src_payload_bytes: many(count('Payload bytes sent by the originator.')),
  dst_payload_bytes: many(count('Payload bytes sent by the responder.')),
  src_packets: many(count('Packets sent by the originator.')),
  dst_packets: many(count('Packets sent by the responder.')),
  missed_bytes: many(count('Payload bytes missed.')),
  state: many(oneOf(connectionStates, { description: 'What became of the connection.' })),
  conn_state: many(word("The sensor's own word for the state.")),
  history: many(text('Flags seen, as the sensor writes them.')),
  direction: many(oneOf(directions, { description: 'By the home networks.' })),
  vlan: many(between(0, 4095, 'VLAN identifier.')),
};

export const dnsEventFilters = {
  ...eventFilters,
  kind: many(oneOf(dnsKinds, { description: 'Query, response or both.' })),
  transaction_id: many(between(0, 65535, 'DNS message id.')),
  query: many(word('Name asked for.')),
  registered_domain: many(word('Registrable part of the name.')),
  qtype: many(word('Type asked for.')),
  qclass: many(word('Class asked for.')),
  rcode: many(count('Response code.')),
  rcode_name: many(word('Response code by name.')),
  answer: many(word('Value of a record of the answer section.')),
  authoritative: many(flag('AA.')),
  truncated: many(flag('TC.')),
  recursion_desired: many(flag('RD.')),
  recursion_available: many(flag('RA.')),
  rejected: many(flag('The server refused.')),
  rtt_ms: many(real('From query to response, in milliseconds.')),
};

export const alertFilters = {
  ip: many(network('Either end: an address or a CIDR block.')),
  src_ip: many(network('Source: an address or a CIDR block.')),
  dst_ip: many(network('Target: an address or a CIDR block.')),
  port: many(port('Port of either end.')),
  src_port: many(port('Port of the source.')),
  dst_port: many(port('Port of the target.')),
  transport: many(word('Transport protocol in lower case.')),
  title: many(word('Title, whole.')),
  status: many(oneOf(alertStatuses, { description: 'Where the work on it stands.' })),
  verdict: many(oneOf(verdicts, { description: 'What an analyst found.' })),
  priority: many(oneOf(priorities, { description: 'How soon it is to be worked on.' })),
  category: many(word('Category of the rule.')),
  rule_id: many(word('Identifier of the rule.')),
  rule_name: many(word('Name of the rule.')),
  rule_source: many(oneOf(ruleSources, { description: 'Where the rule comes from.' })),
  risk_score: many(between(0, 100, 'Contribution to the risk of its assets.')),
  confidence: many(real('How sure the rule is.', { minimum: 0, maximum: 1 })),
  domain: many(word('Name concerned.')),
  tactic: many(word('One of its ATT&CK tactics.')),
  technique: many(word('One of its ATT&CK techniques.')),
  count: many(ordinal('Occurrences.')),
  dedup_key: many(word('What its occurrences share.')),
  previous_alert_id: many(uuid('The alert of which it is the recurrence.')),
  assignee: many(word('Who works on it.')),
  tag: many(word('One of its tags.')),
  tags: many(word('One of its tags.')),
  asset_id: many(uuid('One of its assets.')),
  event_id: many(uuid('One of its sample of events.')),
};

export const networkEventQuery = listParameters(['timestamp'], networkEventFilters);
export const dnsEventQuery = listParameters(['timestamp'], dnsEventFilters);
export const alertQuery = listParameters(
  [
    'last_seen',
    'first_seen',
    'created_at',
    'updated_at',
    'severity',
    'priority',
    'status',
    'verdict',
    'title',
    'category',
    'rule_id',
    'rule_name',
    'rule_source',
    'risk_score',
    'confidence',
    'src_ip',
    'src_port',
    'dst_ip',
    'dst_port',
    'transport',
    'domain',
    'count',
    'assignee',
    'note_count',
  ],
  alertFilters,
);
export const pageQuery = Type.Object(pageParameters, { additionalProperties: false });

export const networkEventStreamQuery = streamParameters(networkEventFilters);
export const dnsEventStreamQuery = streamParameters(dnsEventFilters);
export const alertStreamQuery = streamParameters(alertFilters);

/** How a leaf is named: by exactly one of the three. */
const leafParameters = {
  leaf_index: Type.Optional(count('Position of the leaf.')),
  leaf_hash: Type.Optional(Type.String({ format: 'hex32', description: 'Hash of the leaf.' })),
  entry_id: Type.Optional(uuid('Id of the entry.')),
};
export const leafQuery = Type.Object(leafParameters, { additionalProperties: false });
export const inclusionQuery = Type.Object(
  { ...leafParameters, tree_size: Type.Optional(count('Size of the tree; default: the current one.')) },
  { additionalProperties: false },
);
export const consistencyQuery = Type.Object(
  { first: count('Earlier size.'), second: count('Later size, greater than first.') },
  { additionalProperties: false },
);
export const treeHeadsQuery = Type.Object(
  {
    from_size: Type.Optional(count('Heads of this size or more, which may be one past the current size.')),
    to_size: Type.Optional(count('Heads of less than this size.')),
    ...pageParameters,
  },
  { additionalProperties: false },
);
export const entriesQuery = Type.Object(
  {
    from: Type.Optional(count('First leaf index, which may be the size of the log.')),
    to: Type.Optional(count('The leaf index after the last.')),
    kind: many(oneOf(entryKindNames, { description: 'Entries of this kind.' })),
    ...pageParameters,
  },
  { additionalProperties: false },
);
export const treeHeadQuery = Type.Object(
  { tree_size: Type.Optional(count('The head signed for this size; default: the latest.')) },
  { additionalProperties: false },
);

/** Newest first. */
export const auditQuery = Type.Object(
  {
    ...pageParameters,
    from: Type.Optional(time('Start of the time range, inclusive: ISO 8601 or epoch milliseconds.')),
    to: Type.Optional(time('End of the time range, exclusive: ISO 8601 or epoch milliseconds.')),
    actor: many(word('Id of a principal, or anonymous.')),
    operation: many(word('Operation id.')),
    outcome: many(oneOf(auditOutcomes, { description: 'How it ended.' })),
  },
  { additionalProperties: false },
);
