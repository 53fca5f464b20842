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
 * Query parameters, as schemas for `parseQuery`. An array is a filter: it may be repeated and matches any of
 * its values. All other parameters may occur once.
 */
export const many = <S extends TSchema>(items: S) =>
  Type.Optional(Type.Array(items, { maxItems: limits.maxFilterValues }));

type Negated<F extends TProperties> = {
  [K in keyof F & string as F[K] extends TArray ? `${typeof negationPrefix}${K}` : never]: F[K];
};

/** Returns the negation of each filter made by `many`, which matches items that match none of the values. */
export function negated<F extends TProperties>(filters: F): Negated<F> {
  const pairs: [string, TSchema][] = Object.entries(filters).flatMap(([name, schema]) => {
    const { items } = schema as Partial<TArray>;
    if (items === undefined) return [];
    const description = `Excludes items with any of these values. ${(items as { description?: string }).description ?? ''}`;
    const options = { maxItems: limits.maxFilterValues, description };
    return [[`${negationPrefix}${name}`, Type.Optional(Type.Array(items, options))]];
  });
  return Object.fromEntries(pairs) as Negated<F>;
}

/** Returns the filters and their negations. */
export const withNegated = <F extends TProperties>(filters: F): F & Negated<F> => ({
  ...filters,
  ...negated(filters),
});

export const network = (description: string) => Type.String({ format: 'network', description });
/** Sent as ISO 8601 or epoch milliseconds; parsed to epoch milliseconds. */
export const time = (description: string) =>
  Type.Unsafe<number>({ type: 'string', format: 'time', description });
/** A text that filters match exactly or with wildcards. */
export const word = (description: string) =>
  text(`${description} \`*\` matches any characters, \`\\*\` a literal star.`, { minLength: 1 });
/** A host name, matched exactly or with wildcards. */
const hostWord = (description: string) => ({ ...word(description), format: 'host-pattern' });
const port = (description: string) => between(0, 65535, description);

const pageParameters = {
  page: Type.Optional(between(1, 1_000_000_000, 'Number of the page, from 1. Default: 1.')),
  per_page: Type.Optional(
    between(1, limits.maxPerPage, `Number of items per page. Default: ${limits.defaultPerPage}.`),
  ),
};

const search = {
  q: Type.Optional(
    text(
      'Case-insensitive substring of any name of the resource. There is no query syntax: AND, OR, NOT, `&&`, `|`, `*`, `%text%`, regular expressions and `<filter>:<value>` are rejected; text in double quotes is searched for literally.',
      { minLength: 1, maxLength: 256 },
    ),
  ),
};

/** Returns the parameters of a list. The default sort is `sorts[0]`, descending. */
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
        text('next_cursor of the previous page; page is ignored.', { minLength: 1, maxLength: 2048 }),
      ),
      sort: Type.Optional(
        Type.Unsafe<S[number] | `-${S[number]}`>({
          type: 'string',
          enum: sorts.flatMap((sort) => [`-${sort}`, sort]),
          default: `-${sorts[0]}`,
          description: `Attribute to sort by; the prefix - means descending.${ties}`,
        }),
      ),
      ...filterParameters(filters, ranges),
    },
    { additionalProperties: false },
  );

/** Returns the parameters that select items: time range, search and filters. */
export const filterParameters = <F extends TProperties>(filters: F, ranges = 'Time range') => ({
  from: Type.Optional(time(`${ranges}: start, inclusive; ISO 8601 or epoch milliseconds.`)),
  to: Type.Optional(time(`${ranges}: end, exclusive; ISO 8601 or epoch milliseconds.`)),
  ...search,
  ...filters,
});

/** Additional filters for resources with a severity. */
export const bySeverity = {
  min_severity: Type.Optional(oneOf(severities, { description: 'Minimum severity.' })),
  severity: many(oneOf(severities, { description: 'Severity.' })),
};

/** Returns the parameters of a stream: the selection parameters of the list, and `since`. */
const streamParameters = <F extends TProperties>(filters: F, ranges?: string) =>
  Type.Object(
    {
      since: Type.Optional(count('Commit sequence after which to replay missed events.')),
      ...filterParameters(filters, ranges),
    },
    { additionalProperties: false },
  );

/** Filters common to network and DNS events. */
const eventFilters = {
  timestamp: many(time('Exact time of the event; use from and to for a range.')),
  received_at: many(time('Exact time at which the event was received.')),
  ip: many(network('Source or destination: an address or a CIDR block.')),
  src_ip: many(network('Originator or client: an address or a CIDR block.')),
  dst_ip: many(network('Responder or resolver: an address or a CIDR block.')),
  src_port: many(port('Port of the originator or client.')),
  dst_port: many(port('Port of the responder or resolver.')),
  transport: many(word('Transport protocol in lower case.')),
  connection_id: many(word('Identifier of the connection at the sensor.')),
  community_id: many(text('Community ID flow hash.', { minLength: 1 })),
  sensor: many(word('Name of the sensor.')),
  sensor_id: many(uuid('Identifier of the principal that sent the event.')),
  source: many(oneOf(eventSources, { description: 'Format in which the event was received.' })),
  asset_id: many(uuid('Identifier of the asset of either end.')),
  src_asset_id: many(uuid('Identifier of the asset of the originator or client.')),
  dst_asset_id: many(uuid('Identifier of the asset of the responder or resolver.')),
};

export const networkEventFilters = {
  ...eventFilters,
  end_time: many(time('Exact end time of the connection.')),
  duration_ms: many(real('Duration in milliseconds.')),
  src_mac: many(word('MAC address of the originator.')),
  dst_mac: many(word('MAC address of the responder.')),
  app_protocol: many(
    word(
      'One of the application protocols; `ssl` is accepted as `tls`, `kerberos` as `krb5`; `https` matches `tls` too.',
    ),
  ),
  src_bytes: many(count('IP bytes sent by the originator.')),
  dst_bytes: many(count('IP bytes sent by the responder.')),
  src_payload_bytes: many(count('Payload bytes sent by the originator.')),
  dst_payload_bytes: many(count('Payload bytes sent by the responder.')),
  src_packets: many(count('Packets sent by the originator.')),
  dst_packets: many(count('Packets sent by the responder.')),
  missed_bytes: many(count('Payload bytes missed.')),
  state: many(oneOf(connectionStates, { description: 'State of the connection.' })),
  conn_state: many(word('State of the connection as named by the sensor.')),
  history: many(text('History of observed flags, as recorded by the sensor.')),
  direction: many(oneOf(directions, { description: 'Direction relative to the home networks.' })),
  vlan: many(between(0, 4095, 'VLAN identifier.')),
};

export const dnsEventFilters = {
  ...eventFilters,
  kind: many(oneOf(dnsKinds, { description: 'Query, response or both.' })),
  transaction_id: many(between(0, 65535, 'DNS message id.')),
  query: many(hostWord('Name queried.')),
  registered_domain: many(hostWord('Registrable part of the name.')),
  qtype: many(word('Query type by name.')),
  qclass: many(word('Query class by name.')),
  rcode: many(count('Response code.')),
  rcode_name: many(word('Response code by name.')),
  answer: many(word('Value of a record of the answer section.')),
  authoritative: many(flag('AA flag: authoritative answer.')),
  truncated: many(flag('TC flag: truncated message.')),
  recursion_desired: many(flag('RD flag: recursion desired.')),
  recursion_available: many(flag('RA flag: recursion available.')),
  rejected: many(flag('Whether the server refused the query.')),
  rtt_ms: many(real('Round-trip time from the query to its response, in milliseconds.')),
};

export const alertFilters = {
  ip: many(network('Source or destination: an address or a CIDR block.')),
  src_ip: many(network('Source: an address or a CIDR block.')),
  dst_ip: many(network('Destination: an address or a CIDR block.')),
  port: many(port('Source or destination port.')),
  src_port: many(port('Source port.')),
  dst_port: many(port('Destination port.')),
  transport: many(word('Transport protocol in lower case.')),
  title: many(word('Exact title of the alert.')),
  status: many(oneOf(alertStatuses, { description: 'Status of the work on the alert.' })),
  verdict: many(oneOf(verdicts, { description: 'Verdict of the analyst.' })),
  ai_verdict: many(oneOf(verdicts, { description: 'Verdict of the model, even if overridden.' })),
  priority: many(oneOf(priorities, { description: 'Priority of the work on the alert.' })),
  category: many(word('Category of the rule.')),
  rule_id: many(word('Identifier of the rule.')),
  rule_name: many(word('Name of the rule.')),
  rule_source: many(oneOf(ruleSources, { description: 'Source of the rule.' })),
  risk_score: many(between(0, 100, 'Contribution to the risk of its assets.')),
  confidence: many(real('Confidence of the rule.', { minimum: 0, maximum: 1 })),
  domain: many(hostWord('Domain name concerned.')),
  tactic: many(word('ATT&CK tactic of the alert.')),
  technique: many(word('ATT&CK technique of the alert.')),
  count: many(ordinal('Number of occurrences.')),
  dedup_key: many(word('Deduplication key of the alert.')),
  previous_alert_id: many(uuid('Identifier of the alert that recurred.')),
  silence_id: many(uuid('Identifier of the silence that suppresses the alert.')),
  folded_into: many(uuid('Identifier of the summary alert.')),
  assignee: many(word('Name of the user the alert is assigned to.')),
  assigned: many(flag('Whether the alert is assigned to a user.')),
  tag: many(word('Tag of the alert.')),
  tags: many(word('Tag of the alert.')),
  asset_id: many(uuid('Identifier of an asset of the alert.')),
  event_id: many(uuid('Identifier of an event in the sample of the alert.')),
};

const firstSeenFrom = many(time('First seen at or after this time: ISO 8601 or epoch milliseconds.'));
const macAddress = (description: string) => Type.String({ format: 'mac', description });

/** `from` and `to` bound `last_seen`. */
export const assetFilters = {
  ip: many(network('IP address of the asset: an address or a CIDR block.')),
  mac: many(macAddress('MAC address of the asset.')),
  hostname: many(hostWord('Host name of the asset, case-insensitive.')),
  name: many(word('Exact name of the asset, case-insensitive.')),
  kind: many(oneOf(assetKinds, { description: 'Kind of asset.' })),
  os: many(word('Operating system, case-insensitive.')),
  vendor: many(word('Vendor of the device, case-insensitive.')),
  criticality: many(oneOf(criticalities, { description: 'Criticality of the asset.' })),
  owner: many(word('Owner of the asset, case-insensitive.')),
  tag: many(word('Tag of the asset, case-insensitive.')),
  tags: many(word('Tag of the asset, case-insensitive.')),
  state: many(oneOf(assetStates, { description: 'State of the asset.' })),
  source: many(oneOf(assetSources, { description: 'How the asset was discovered.' })),
  risk_score: many(between(0, 100, 'Risk score of the asset.')),
  risk_level: many(oneOf(riskLevels, { description: 'Risk level of the asset.' })),
  open_alerts: many(count('Number of open alerts on the asset.')),
  service_count: many(count('Number of open services.')),
  first_seen_from: firstSeenFrom,
};

/** `from` and `to` bound `last_seen`. */
export const assetServiceFilters = {
  ip: many(network('Address on which the service listens: an address or a CIDR block.')),
  port: many(port('Port.')),
  transport: many(word('Transport protocol in lower case.')),
  name: many(word('Application protocol.')),
  product: many(word('Name of the software.')),
  version: many(word('Version of the software.')),
  state: many(oneOf(serviceStates, { description: 'Whether the service is open.' })),
  source: many(oneOf(serviceSources, { description: 'How the service was discovered.' })),
  connections: many(count('Number of connections that the service answered.')),
  clients: many(count('Number of distinct client addresses.')),
  first_seen_from: firstSeenFrom,
};
export const serviceFilters = {
  asset_id: many(uuid('Identifier of the asset that offers the service.')),
  ...assetServiceFilters,
};

/** `from` and `to` bound `requested_at`. */
export const scanFilters = {
  status: many(oneOf(scanStatuses, { description: 'Status of the scan.' })),
  target: many(network('Address, or CIDR block of which a part was scanned.')),
  engine: many(oneOf(scanEngines, { description: 'Scan engine.' })),
  requested_by: many(word('Name of the principal that requested the scan.')),
};

/** All filters of the lists, with negations. */
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
  ' Alerts with equal severity or priority are sorted by last_seen.',
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
export const assetHistoryFilters = { action: many(oneOf(assetActions, { description: 'Kind of change.' })) };
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
export const alertNoteFilters = { author: many(word('Name of the principal who wrote the note.')) };
export const alertNoteQuery = listParameters(['created_at'], alertNoteFilters);
export const scanQuery = listParameters(
  ['requested_at', 'started_at', 'finished_at', 'status', 'engine', 'requested_by'],
  scanFilters,
);
export const pageQuery = Type.Object(pageParameters, { additionalProperties: false });

export const networkEventStreamQuery = streamParameters(networkEventTerms);
export const dnsEventStreamQuery = streamParameters(dnsEventTerms);
export const alertStreamQuery = streamParameters(alertTerms, 'Last seen');

const grouping = { description: 'Kind of network node: a host or a subnet. Default: host.' };
export const topologyQuery = Type.Object(
  {
    from: Type.Optional(time('Start of the time range, inclusive; rounded down to the hour or day.')),
    to: Type.Optional(time('End of the time range, exclusive; rounded up to the hour or day.')),
    group_by: Type.Optional(oneOf(groupings, grouping)),
    focus: Type.Optional(
      uuid(
        'Identifier of the asset at the centre of the graph, with its addresses at the end of the time range, or now.',
      ),
    ),
    depth: Type.Optional(between(1, 3, 'Maximum distance from the focus, in edges. Default: 1.')),
    limit: Type.Optional(
      between(
        1,
        limits.maxTopologyNodes,
        `Maximum number of nodes; the busiest are returned. Default: ${limits.defaultTopologyNodes}.`,
      ),
    ),
  },
  { additionalProperties: false },
);
/** Filters of topology updates; without filters, all updates match. */
export const topologyFilters = {
  ip: many(network('Edges with an end that is, contains or is within this address or CIDR block.')),
  asset_id: many(uuid('Edges with this asset at either end.')),
  group_by: Type.Optional(Type.Array(oneOf(groupings, grouping), { maxItems: 1 })),
};
export const topologyStreamQuery = Type.Object(
  {
    since: Type.Optional(count('Sequence after which to replay missed updates.')),
    ...topologyFilters,
  },
  { additionalProperties: false },
);
export const windowQuery = Type.Object(
  {
    window: Type.Optional(
      oneOf(windows, {
        description: `Length of the time window, which ends now. Default: ${defaultWindow}.`,
      }),
    ),
  },
  { additionalProperties: false },
);
export const scanSubscription = Type.Object(filterParameters(scanFilters), { additionalProperties: false });

/** Identifies a leaf by exactly one of the three parameters. */
const leafParameters = {
  leaf_index: Type.Optional(count('Index of the leaf.')),
  leaf_hash: Type.Optional(Type.String({ format: 'hex32', description: 'Hash of the leaf.' })),
  entry_id: Type.Optional(uuid('Identifier of the entry.')),
};
export const leafQuery = Type.Object(leafParameters, { additionalProperties: false });
export const inclusionQuery = Type.Object(
  { ...leafParameters, tree_size: Type.Optional(count('Size of the tree. Default: the current size.')) },
  { additionalProperties: false },
);
export const consistencyQuery = Type.Object(
  { first: count('Earlier tree size.'), second: count('Later tree size, greater than first.') },
  { additionalProperties: false },
);
export const treeHeadsQuery = Type.Object(
  {
    from_size: Type.Optional(count('Minimum tree size, at most the current size plus one.')),
    to_size: Type.Optional(count('Tree size below which heads are returned.')),
    ...pageParameters,
  },
  { additionalProperties: false },
);
/** Pagination only. */
export const publicPageQuery = Type.Object({ ...pageParameters }, { additionalProperties: false });
export const entriesQuery = Type.Object(
  {
    from: Type.Optional(count('First leaf index, at most the size of the log.')),
    to: Type.Optional(count('Leaf index after the last entry.')),
    kind: many(oneOf(entryKinds, { description: 'Kind of entry.' })),
    ...pageParameters,
  },
  { additionalProperties: false },
);
export const treeHeadQuery = Type.Object(
  { tree_size: Type.Optional(count('Tree size of the head. Default: the latest head.')) },
  { additionalProperties: false },
);
