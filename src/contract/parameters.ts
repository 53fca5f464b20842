import {
  type Static,
  type TArray,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox';
import { limits } from '../limits.ts';
import { prefixes } from './filter-term.ts';
import { alertAttributes, attributesTo, scanAttributes } from './list-attributes.ts';
import { Alert } from './resources/alert.ts';
import { Asset } from './resources/asset.ts';
import { oneOf } from './resources/common.ts';
import { DnsEvent } from './resources/dns-event.ts';
import { between, count, flag, parameters, text, uuid } from './resources/fields.ts';
import { NetworkEvent } from './resources/network-event.ts';
import { Scan } from './resources/scan.ts';
import { Service } from './resources/service.ts';
import { assetActions, defaultWindow, entryKinds, groupings, severities, verdicts, windows } from './vocabulary.ts';

/**
 * Returns the schema of a filter: a parameter that may be repeated. The filter matches items with any of its values.
 * All other query parameters may occur once. The schemas are for `parseQuery`.
 */
export const many = <S extends TSchema>(items: S) =>
  Type.Optional(Type.Array(items, { maxItems: limits.maxFilterValues }));

/** Names of the filters that have a negation: all except starts of ranges (`<name>_from`). */
type Names<F> = Exclude<keyof F & string, `${string}_from`>;
type Negated<F extends TProperties> = {
  [K in Names<F> as F[K] extends TArray ? `${typeof prefixes.not}${K}` : never]: F[K];
};
type Bounded<F extends TProperties> = {
  [K in Names<F> as F[K] extends TArray<infer V>
    ? Static<V> extends number
      ? `${typeof prefixes.min | typeof prefixes.max}${K}`
      : never
    : never]: F[K] extends TArray<infer V> ? TOptional<V> : never;
};

/**
 * Returns filters made by `many` with their negations and bounds. Other filters stay as they are, and so do filters by
 * the start of a range (`<name>_from`).
 */
function withVariants<F extends TProperties>(filters: F): F & Negated<F> & Bounded<F> {
  const variants = Object.entries(filters).flatMap(([name, schema]): [string, TSchema][] => {
    const { items } = schema as Partial<TArray>;
    if (items === undefined || name.endsWith('_from')) return [];
    const { type, format, description = '' } = items as Attribute;
    const options = {
      maxItems: limits.maxFilterValues,
      description: `Excludes items with any of these values. ${description}`,
    };
    const negation: [string, TSchema] = [prefixes.not + name, Type.Optional(Type.Array(items, options))];
    const isOrdered = type === 'integer' || type === 'number' || format === 'time';
    if (!isOrdered) return [negation];
    const bound = (prefix: string, which: string): [string, TSchema] => [
      prefix + name,
      Type.Optional(Type.Unsafe({ ...items, description: `${which} value, inclusive. ${description}` })),
    ];
    return [negation, bound(prefixes.min, 'Minimum'), bound(prefixes.max, 'Maximum')];
  });
  return { ...filters, ...Object.fromEntries(variants) } as F & Negated<F> & Bounded<F>;
}

const network = (description: string) => Type.String({ format: 'network', description });
/** Returns the schema of a time that is sent as ISO 8601 or epoch milliseconds, and parsed to epoch milliseconds. */
const time = (description: string) => Type.Unsafe<number>({ type: 'string', format: 'time', description });
/** Returns the schema of a text that filters match exactly or with wildcards. */
export const word = (description: string) =>
  text(`${description} \`*\` matches any characters, \`\\*\` a literal star.`, { minLength: 1 });
/** Returns the schema of a host name, matched exactly or with wildcards. */
const hostWord = (description: string) => ({ ...word(description), format: 'host-pattern' });
const port = (description: string) => between(0, 65535, description);

/** The parts of an attribute's schema that determine its filter. */
interface Attribute {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
}

/**
 * Returns filters by attributes of a resource. Texts match with wildcards, addresses with a CIDR block, and other
 * values exactly.
 */
export const filtersOf = <P extends TProperties, const N extends keyof P & string>(
  { properties }: TObject<P>,
  names: readonly N[],
) =>
  Object.fromEntries(names.map((name) => [name, many(valueSchema(properties[name] as Attribute))])) as {
    [K in N]: ReturnType<typeof many<TUnsafe<Static<P[K]>>>>;
  };

function valueSchema(attribute: Attribute): TSchema {
  const { type, format, enum: words, description = '' } = attribute;
  if (format === 'ip') return network(`${description} A CIDR block matches all its addresses.`);
  const isWord = type === 'string' && (format ?? 'line') === 'line' && words === undefined;
  return isWord ? word(description) : Type.Unsafe({ ...attribute });
}

/** Returns the names of all attributes except these. */
const attributesWithout = <P extends TProperties, const N extends string>(
  { properties }: TObject<P>,
  ...without: N[]
) => Object.keys(properties).filter((name) => !without.includes(name as N)) as Exclude<keyof P & string, N>[];

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
  parameters({
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
  });

/** Returns the parameters that select items: time range, search, and filters with their negations and bounds. */
export const filterParameters = <F extends TProperties>(filters: F, ranges = 'Time range') => ({
  from: Type.Optional(time(`${ranges}: start, inclusive; ISO 8601 or epoch milliseconds.`)),
  to: Type.Optional(time(`${ranges}: end, exclusive; ISO 8601 or epoch milliseconds.`)),
  ...search,
  ...withVariants(filters),
});

/** Additional filters for resources with a severity. */
const bySeverity = {
  min_severity: Type.Optional(oneOf(severities, 'Minimum severity.')),
  severity: many(oneOf(severities, 'Severity.')),
};

/** Returns the parameters of a stream: the selection parameters of the list, and `since`. */
const streamParameters = <F extends TProperties>(filters: F, ranges?: string) =>
  parameters({
    since: Type.Optional(count('Commit sequence after which to replay missed events.')),
    ...filterParameters(filters, ranges),
  });

/** Filters of network and DNS events that are not attributes, or that differ from the attribute. */
const eventFilters = {
  timestamp: many(time('Time of the event; from and to select a half-open range.')),
  received_at: many(time('Time at which the event was received.')),
  ip: many(network('Source or destination: an address or a CIDR block.')),
  community_id: many(text('Community ID flow hash.', { minLength: 1 })),
  asset_id: many(uuid('Identifier of the asset of either end.')),
};

export const networkEventFilters = {
  ...filtersOf(NetworkEvent, attributesWithout(NetworkEvent, 'severity', 'app_protocols', 'app_protocol_stored')),
  ...eventFilters,
  end_time: many(time('End time of the connection.')),
  app_protocol: many(
    word(
      'One of the application protocols; `ssl` is accepted as `tls`, `kerberos` as `krb5`; `https` matches `tls` too.',
    ),
  ),
};

export const dnsEventFilters = {
  ...filtersOf(DnsEvent, attributesWithout(DnsEvent, 'severity', 'answers')),
  ...eventFilters,
  query: many(hostWord('Name queried.')),
  registered_domain: many(hostWord('Registrable part of the name.')),
  answer: many(word('Value of a record of the answer section.')),
};

export const alertFilters = {
  ...filtersOf(Alert, attributesTo('filter', alertAttributes)),
  ip: many(network('Source or destination: an address or a CIDR block.')),
  port: many(port('Source or destination port.')),
  ai_verdict: many(oneOf(verdicts, 'Verdict of the model, even if overridden.')),
  domain: many(hostWord('Domain name concerned.')),
  tactic: many(word('ATT&CK tactic of the alert.')),
  technique: many(word('ATT&CK technique of the alert.')),
  assigned: many(flag('Whether the alert is assigned to a user.')),
  tag: many(word('Tag of the alert.')),
  tags: many(word('Tag of the alert.')),
  asset_id: many(uuid('Identifier of an asset of the alert.')),
  event_id: many(uuid('Identifier of an event in the sample of the alert.')),
};

const firstSeenFrom = many(time('First seen at or after this time: ISO 8601 or epoch milliseconds.'));
const macAddress = (description: string) => Type.String({ format: 'mac', description });

/** Filters of assets. `from` and `to` select a range of `last_seen`. */
export const assetFilters = {
  ip: many(network('IP address of the asset: an address or a CIDR block.')),
  mac: many(macAddress('MAC address of the asset.')),
  hostname: many(hostWord('Host name of the asset, case-insensitive.')),
  name: many(word('Exact name of the asset, case-insensitive.')),
  os: many(word('Operating system, case-insensitive.')),
  vendor: many(word('Vendor of the device, case-insensitive.')),
  owner: many(word('Owner of the asset, case-insensitive.')),
  tag: many(word('Tag of the asset, case-insensitive.')),
  tags: many(word('Tag of the asset, case-insensitive.')),
  ...filtersOf(Asset, [
    'kind',
    'criticality',
    'state',
    'source',
    'risk_score',
    'risk_level',
    'open_alerts',
    'service_count',
  ]),
  first_seen_from: firstSeenFrom,
};

/** Filters of the services of an asset. `from` and `to` select a range of `last_seen`. */
export const assetServiceFilters = {
  ...filtersOf(Service, attributesWithout(Service, 'asset_id', 'first_seen', 'last_seen')),
  first_seen_from: firstSeenFrom,
};
export const serviceFilters = { ...filtersOf(Service, ['asset_id']), ...assetServiceFilters };

/** Filters of scans. `from` and `to` select a range of `requested_at`. */
export const scanFilters = {
  ...filtersOf(Scan, attributesTo('filter', scanAttributes)),
  target: many(network('Address, or CIDR block of which a part was scanned.')),
};

/** All filters of the lists, without negations and bounds. */
export const networkEventTerms = { ...bySeverity, ...networkEventFilters };
export const dnsEventTerms = { ...bySeverity, ...dnsEventFilters };
export const alertTerms = { ...bySeverity, ...alertFilters };

export const networkEventQuery = listParameters(['timestamp'], networkEventTerms);
export const dnsEventQuery = listParameters(['timestamp'], dnsEventTerms);
export const alertQuery = listParameters(
  attributesTo('sort', alertAttributes),
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
/** Filters of the history of an asset. `from` and `to` select a range of `at`. */
export const assetHistoryFilters = { action: many(oneOf(assetActions, 'Kind of change.')) };
export const assetHistoryQuery = listParameters(['at'], assetHistoryFilters);
const serviceSorts = ['last_seen', ...attributesWithout(Service, 'last_seen', 'asset_id')] as const;
export const serviceQuery = listParameters(serviceSorts, serviceFilters, 'Last seen');
export const assetServiceQuery = listParameters(serviceSorts, assetServiceFilters, 'Last seen');
/** Filters of the notes on an alert. `from` and `to` select a range of `created_at`. */
export const alertNoteFilters = { author: many(word('Name of the principal who wrote the note.')) };
export const alertNoteQuery = listParameters(['created_at'], alertNoteFilters);
export const scanQuery = listParameters(attributesTo('sort', scanAttributes), scanFilters);

export const networkEventStreamQuery = streamParameters(networkEventTerms);
export const dnsEventStreamQuery = streamParameters(dnsEventTerms);
export const alertStreamQuery = streamParameters(alertTerms, 'Last seen');

const grouping = oneOf(groupings, 'Kind of network node: a host or a subnet. Default: host.');
export const topologyQuery = parameters({
  from: Type.Optional(time('Start of the time range, inclusive; rounded down to the hour or day.')),
  to: Type.Optional(time('End of the time range, exclusive; rounded up to the hour or day.')),
  group_by: Type.Optional(grouping),
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
});
/** Filters of topology updates; without filters, all updates match. */
const topologyFilters = {
  ip: many(network('Edges with an end that is, contains or is within this address or CIDR block.')),
  asset_id: many(uuid('Edges with this asset at either end.')),
  group_by: Type.Optional(Type.Array(grouping, { maxItems: 1 })),
};
export const topologyStreamQuery = parameters({
  since: Type.Optional(count('Sequence after which to replay missed updates.')),
  ...topologyFilters,
});
export const windowQuery = parameters({
  window: Type.Optional(oneOf(windows, `Length of the time window, which ends now. Default: ${defaultWindow}.`)),
});
export const scanSubscription = parameters(filterParameters(scanFilters));

/** Identifies a leaf by exactly one of the three parameters. */
const leafParameters = {
  leaf_index: Type.Optional(count('Index of the leaf.')),
  leaf_hash: Type.Optional(Type.String({ format: 'hex32', description: 'Hash of the leaf.' })),
  entry_id: Type.Optional(uuid('Identifier of the entry.')),
};
export const leafQuery = parameters(leafParameters);
export const inclusionQuery = parameters({
  ...leafParameters,
  tree_size: Type.Optional(count('Size of the tree. Default: the current size.')),
});
export const consistencyQuery = parameters({
  first: count('Earlier tree size.'),
  second: count('Later tree size, greater than first.'),
});
export const treeHeadsQuery = parameters({
  from_size: Type.Optional(count('Minimum tree size, at most the current size plus one.')),
  to_size: Type.Optional(count('Tree size below which heads are returned.')),
  ...pageParameters,
});
/** Parameters of public lists, which have only pagination. */
export const publicPageQuery = parameters({ ...pageParameters });
export const entriesQuery = parameters({
  from: Type.Optional(count('First leaf index, at most the size of the log.')),
  to: Type.Optional(count('Leaf index after the last entry.')),
  kind: many(oneOf(entryKinds, 'Kind of entry.')),
  ...pageParameters,
});
export const treeHeadQuery = parameters({
  tree_size: Type.Optional(count('Tree size of the head. Default: the latest head.')),
});
