import { type TArray, type TProperties, type TSchema, Type } from 'typebox';
import { limits } from '../limits.ts';
import { negationPrefix } from './negation.ts';
import { oneOf } from './resources/common.ts';
import { between, count, flag, ordinal, real, text, uuid } from './resources/fields.ts';
import {
  alertStatuses,
  assetActions,
  assetKinds,
  assetSources,
  assetStates,
  connectionStates,
  criticalities,
  defaultWindow,
  directions,
  dnsKinds,
  entryKinds,
  eventSources,
  groupings,
  priorities,
  riskLevels,
  ruleSources,
  scanEngines,
  scanStatuses,
  serviceSources,
  serviceStates,
  severities,
  verdicts,
  windows,
} from './vocabulary.ts';

/**
 * Query parameters, as schemas that `parseQuery` reads. An array is a filter: it may be repeated, and one value of
 * those given suffices. Everything else may be given once.
 */
export const many = <S extends TSchema>(items: S) =>
  Type.Optional(Type.Array(items, { maxItems: limits.maxFilterValues }));

type Negated<F extends TProperties> = {
  [K in keyof F & string as F[K] extends TArray ? `${typeof negationPrefix}${K}` : never]: F[K];
};

/** For each of the filters that `many` made the one that takes what none of its values is true of. */
export function negated<F extends TProperties>(filters: F): Negated<F> {
  const pairs: [string, TSchema][] = Object.entries(filters).flatMap(([name, schema]) => {
    const { items } = schema as Partial<TArray>;
    if (items === undefined) return [];
    const description = `None of these, or without one. ${(items as { description?: string }).description ?? ''}`;
    const options = { maxItems: limits.maxFilterValues, description };
    return [[`${negationPrefix}${name}`, Type.Optional(Type.Array(items, options))]];
  });
  return Object.fromEntries(pairs) as Negated<F>;
}

/** The filters, and each negated. */
export const withNegated = <F extends TProperties>(filters: F): F & Negated<F> => ({
  ...filters,
  ...negated(filters),
});

export const network = (description: string) => Type.String({ format: 'network', description });
/** Arrives as ISO 8601 or epoch milliseconds; read as epoch milliseconds. */
export const time = (description: string) =>
  Type.Unsafe<number>({ type: 'string', format: 'time', description });
/** A text of which filters take the whole, or a pattern. */
export const word = (description: string) =>
  text(`${description} \`*\` stands for any characters, \`\\*\` for a star.`, { minLength: 1 });
const port = (description: string) => between(0, 65535, description);

const pageParameters = {
  page: Type.Optional(between(1, 1_000_000_000, 'Page; the first and default is 1.')),
  per_page: Type.Optional(between(1, limits.maxPerPage, `Items a page; default ${limits.defaultPerPage}.`)),
};

const search = {
  q: Type.Optional(
    text(
      'A part of any of the names of the resource, in any case. It is one text: AND, OR, NOT, `*` and `<filter>:<value>` are refused; in double quotes, any text is searched for as it is.',
      { minLength: 1, maxLength: 256 },
    ),
  ),
};

/** Parameters that every list takes. `sorts[0]` is the default, newest first. */
export const listParameters = <const S extends readonly [string, ...string[]], F extends TProperties>(
  sorts: S,
  filters: F,
  ranges = 'Time range',
  ties = '',
) =>
  Type.Object(
    {
      ...pageParameters,
      cursor: Type.Optional(
        text('next_cursor of the page before; page is then ignored.', { minLength: 1, maxLength: 2048 }),
      ),
      sort: Type.Optional(
        Type.Unsafe<S[number] | `-${S[number]}`>({
          type: 'string',
          enum: sorts.flatMap((sort) => [`-${sort}`, sort]),
          default: `-${sorts[0]}`,
          description: `Attribute to sort by; with - descending.${ties}`,
        }),
      ),
      ...filterParameters(filters, ranges),
    },
    { additionalProperties: false },
  );

/** The part of these that tells which items are meant. */
export const filterParameters = <F extends TProperties>(filters: F, ranges = 'Time range') => ({
  from: Type.Optional(time(`${ranges}, from here on: ISO 8601 or epoch milliseconds.`)),
  to: Type.Optional(time(`${ranges}, before this: ISO 8601 or epoch milliseconds.`)),
  ...search,
  ...filters,
});

/** Filters that lists and streams of resources with a severity take besides. */
export const bySeverity = {
  min_severity: Type.Optional(oneOf(severities, { description: 'This severity or above.' })),
  severity: many(oneOf(severities, { description: 'This severity.' })),
};

/** Parameters of a stream: those of the list that tell which items are meant. */
const streamParameters = <F extends TProperties>(filters: F, ranges?: string) =>
  Type.Object(
    {
      since: Type.Optional(count('Commit sequence after which to begin, replaying what was missed.')),
      ...filterParameters(filters, ranges),
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
  community_id: many(text('Community ID flow hash.', { minLength: 1 })),
  sensor: many(word('Name of the sensor.')),
  sensor_id: many(uuid('Principal whose credentials sent it.')),
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
  app_protocol: many(word('One of the application protocols; `ssl` is accepted as `tls`.')),
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
  ai_verdict: many(oneOf(verdicts, { description: 'What a model found, whoever overrode it.' })),
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
  silence_id: many(uuid('The silence by which it is suppressed.')),
  folded_into: many(uuid('The alert that stands for it.')),
  assignee: many(word('Who works on it.')),
  assigned: many(flag('Whether somebody works on it.')),
  tag: many(word('One of its tags.')),
  tags: many(word('One of its tags.')),
  asset_id: many(uuid('One of its assets.')),
  event_id: many(uuid('One of its sample of events.')),
};

const firstSeenFrom = many(time('First seen at this time or later: ISO 8601 or epoch milliseconds.'));
const macAddress = (description: string) => Type.String({ format: 'mac', description });

/** `from` and `to` bound `last_seen`. */
export const assetFilters = {
  ip: many(network('One of its addresses: an address or a CIDR block.')),
  mac: many(macAddress('One of its link-layer addresses.')),
  hostname: many(word('One of its names, in any case.')),
  name: many(word('Name, whole, in any case.')),
  kind: many(oneOf(assetKinds, { description: 'What it is.' })),
  os: many(word('Operating system, in any case.')),
  vendor: many(word('Maker of the device, in any case.')),
  criticality: many(oneOf(criticalities, { description: 'How much it matters.' })),
  owner: many(word('Who answers for it, in any case.')),
  tag: many(word('One of its tags, in any case.')),
  tags: many(word('One of its tags, in any case.')),
  state: many(oneOf(assetStates, { description: 'Whether it is staged, managed or retired.' })),
  source: many(oneOf(assetSources, { description: 'How it became known.' })),
  risk_score: many(between(0, 100, 'Risk.')),
  risk_level: many(oneOf(riskLevels, { description: 'Risk in words.' })),
  open_alerts: many(count('Alerts that are open on it.')),
  service_count: many(count('Services open on it.')),
  first_seen_from: firstSeenFrom,
};

/** `from` and `to` bound `last_seen`. */
export const assetServiceFilters = {
  ip: many(network('Where it listens: an address or a CIDR block.')),
  port: many(port('Port.')),
  transport: many(word('Transport protocol in lower case.')),
  name: many(word('Application protocol.')),
  product: many(word('Software.')),
  version: many(word('Version of the software.')),
  state: many(oneOf(serviceStates, { description: 'Whether it answers.' })),
  source: many(oneOf(serviceSources, { description: 'How it became known.' })),
  connections: many(count('Connections that it answered.')),
  clients: many(count('Distinct addresses that used it.')),
  first_seen_from: firstSeenFrom,
};
export const serviceFilters = { asset_id: many(uuid('The asset that offers it.')), ...assetServiceFilters };

/** `from` and `to` bound `requested_at`. */
export const scanFilters = {
  status: many(oneOf(scanStatuses, { description: 'Where it stands.' })),
  target: many(network('It scanned this address, or part of this CIDR block.')),
  engine: many(oneOf(scanEngines, { description: 'By what it scanned.' })),
  requested_by: many(word('Who asked for it.')),
};

/** What their lists are filtered by. */
export const networkEventTerms = withNegated({ ...bySeverity, ...networkEventFilters });
export const dnsEventTerms = withNegated({ ...bySeverity, ...dnsEventFilters });
export const alertTerms = withNegated({ ...bySeverity, ...alertFilters });

export const networkEventQuery = listParameters(['timestamp'], networkEventTerms);
export const dnsEventQuery = listParameters(['timestamp'], dnsEventTerms);
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
  alertTerms,
  'Last seen',
  ' Alerts of the same severity or priority are in order of last_seen.',
);
export const assetQuery = listParameters(
  [
    'last_seen',
    'first_seen',
    'name',
    'ip',
    'kind',
    'criticality',
    'owner',
    'os',
    'vendor',
    'state',
    'source',
    'risk_score',
    'risk_level',
    'open_alerts',
    'service_count',
  ],
  assetFilters,
  'Last seen',
);
/** `from` and `to` bound `at`. */
export const assetHistoryFilters = { action: many(oneOf(assetActions, { description: 'What happened.' })) };
export const assetHistoryQuery = listParameters(['at'], assetHistoryFilters);
const serviceSorts = [
  'last_seen',
  'first_seen',
  'ip',
  'port',
  'transport',
  'name',
  'product',
  'version',
  'state',
  'source',
  'connections',
  'clients',
] as const;
export const serviceQuery = listParameters(serviceSorts, serviceFilters, 'Last seen');
export const assetServiceQuery = listParameters(serviceSorts, assetServiceFilters, 'Last seen');
/** `from` and `to` bound `created_at`. */
export const alertNoteFilters = { author: many(word('Name of the principal who wrote it.')) };
export const alertNoteQuery = listParameters(['created_at'], alertNoteFilters);
export const scanQuery = listParameters(
  ['requested_at', 'started_at', 'finished_at', 'status', 'engine', 'requested_by'],
  scanFilters,
);
export const pageQuery = Type.Object(pageParameters, { additionalProperties: false });

export const networkEventStreamQuery = streamParameters(networkEventTerms);
export const dnsEventStreamQuery = streamParameters(dnsEventTerms);
export const alertStreamQuery = streamParameters(alertTerms, 'Last seen');

const grouping = { description: 'What a node stands for; default host.' };
export const topologyQuery = Type.Object(
  {
    from: Type.Optional(time('Start of the time looked at, inclusive, widened to the hour or the day.')),
    to: Type.Optional(time('End of the time looked at, exclusive, widened to the hour or the day.')),
    group_by: Type.Optional(oneOf(groupings, grouping)),
    focus: Type.Optional(
      uuid(
        'Asset around whose addresses to look: those that it has at the end of the time looked at, or now.',
      ),
    ),
    depth: Type.Optional(between(1, 3, 'Edges from the focus to the furthest nodes; default 1.')),
    limit: Type.Optional(
      between(
        1,
        limits.maxTopologyNodes,
        `Nodes shown, the busiest; default ${limits.defaultTopologyNodes}.`,
      ),
    ),
  },
  { additionalProperties: false },
);
/** What updates are about: those of everything where nothing is named. */
export const topologyFilters = {
  ip: many(network('Edges of which either end is, has or lies in this address or CIDR block.')),
  asset_id: many(uuid('Edges of which either end is this asset.')),
  group_by: Type.Optional(Type.Array(oneOf(groupings, grouping), { maxItems: 1 })),
};
export const topologyStreamQuery = Type.Object(
  {
    since: Type.Optional(count('Sequence after which to begin, replaying what was missed.')),
    ...topologyFilters,
  },
  { additionalProperties: false },
);
export const windowQuery = Type.Object(
  {
    window: Type.Optional(
      oneOf(windows, { description: `Length of time looked at, up to now; default ${defaultWindow}.` }),
    ),
  },
  { additionalProperties: false },
);
export const scanSubscription = Type.Object(filterParameters(scanFilters), { additionalProperties: false });

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
/** Paging alone. */
export const publicPageQuery = Type.Object({ ...pageParameters }, { additionalProperties: false });
export const entriesQuery = Type.Object(
  {
    from: Type.Optional(count('First leaf index, which may be the size of the log.')),
    to: Type.Optional(count('The leaf index after the last.')),
    kind: many(oneOf(entryKinds, { description: 'Entries of this kind.' })),
    ...pageParameters,
  },
  { additionalProperties: false },
);
export const treeHeadQuery = Type.Object(
  { tree_size: Type.Optional(count('The head signed for this size; default: the latest.')) },
  { additionalProperties: false },
);
