import { type TObject, type TSchema, Type } from 'typebox';
import { type ErrorCode, errorCodes } from '../errors.ts';
import { channels, clientMessages, serverMessages } from './channels.ts';
import { ErrorEnvelope } from './envelopes.ts';
import { resourceTypes } from './resource-types.ts';
import { errorsOf, operationIds, type Route, routeOf } from './routes.ts';
import { wholeListTypes } from './whole-list.ts';

type Json = { [key: string]: unknown };

/**
 * Returns the OpenAPI 3.1 description of every operation in the table of routes. The result is deterministic:
 * members are in the order of the tables, and there is no timestamp.
 *
 * Schemas with a `title` become components of that name and are referenced.
 */
export function openApiDocument(version: string): Json {
  const components: Json = {};
  const paths: { [path: string]: Json } = {};
  for (const operation of operationIds) {
    const route = routeOf(operation);
    const path = route.path.replaceAll(/:(\w+)\*?/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operationOf(operation, route, components);
  }
  const described = { ...resourceTypes, ...clientMessages, ...serverMessages };
  for (const schema of Object.values(described)) refer(schema, components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Candor',
      version,
      description:
        'A SIEM with a tamper-evident log. Lists accept `page` or `cursor`; a repeated filter matches any of its values. Errors have a code and, for an invalid field, its name and the reason.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: sorted(components),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token (EdDSA JWT) or a long-lived token.',
        },
        certificate: {
          type: 'mutualTLS',
          description:
            'A client certificate that names a principal, if the service is configured to accept client certificates.',
        },
      },
    },
  };
}

const tags = [
  ['auth', 'Sessions and passwords.'],
  ['ingest', 'Ingest of sensor data.'],
  ['shippers', 'Ingest of sensor data over the protocols of Elasticsearch, Splunk and OpenTelemetry.'],
  ['events', 'Network and DNS events.'],
  ['alerts', 'Alerts, their notes and history, and silences.'],
  ['assets', 'Hosts and devices on the network.'],
  ['services', 'Network services of assets.'],
  ['topology', 'The communication graph of the network.'],
  ['analytics', 'Statistics, trends and risk scores.'],
  ['discovery', 'Discovery scans of the network.'],
  ['rules', 'Sigma detection rules.'],
  ['intel', 'Threat intelligence lists of known-bad addresses and domains.'],
  ['identities', 'Principals, tokens, keys, the access policy and the audit log.'],
  ['system', 'Settings, backups, status and metrics of the service.'],
  ['transparency', 'The tamper-evident log of critical events (RFC 6962).'],
] as const satisfies readonly (readonly [Route['tag'], string])[];

function operationOf(operationId: string, route: Route, components: Json): Json {
  const parameters = [
    ...parametersIn('path', route.params, components),
    ...parametersIn('query', route.query, components),
    ...parametersIn('header', route.headers, components),
  ];
  return {
    operationId,
    summary: route.summary,
    ...(route.websocket !== undefined && route.websocket.channel === undefined ? { description: subscribable } : {}),
    ...(route.protocol === undefined && route.body?.kind !== 'ingest' ? {} : { description: ingestCredentials(route) }),
    tags: [route.tag],
    security: securityOf(route),
    ...(route.access === 'public' ? {} : { 'x-roles': [...route.access] }),
    ...(route.websocket === undefined ? {} : { 'x-websocket': { ...route.websocket } }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, components) }),
    responses: responsesOf(route, components),
  };
}

/** Lists the channels and the operation that permits subscribing to each. */
const subscribable = `Channels, with the operation that subscribers must be allowed to call: ${Object.entries(channels)
  .map(([name, { operation }]) => `${name} (${operation})`)
  .join(', ')}.`;

/** Describes how a sensor or shipper sends its token, and the aliases of the operation. */
function ingestCredentials({ also = [] }: Route): string {
  const credentials =
    'The token may also be sent as the password of `Basic`, as the key of `ApiKey` (as it is, or base64 of `id:key`) or as `Splunk <token>`.';
  if (also.length === 0) return credentials;
  const others = also.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)\*?/g, '{$1}')}`);
  return `${credentials} Aliases: ${others.join(', ')}.`;
}

/** Returns alternative security requirements. An empty object means that credentials are optional. */
function securityOf(route: Route): Json[] {
  if (route.access === 'public') return [];
  const ways = [{ bearer: [] }, { certificate: [] }];
  return route.partlyPublic ? [{}, ...ways] : ways;
}

function parametersIn(where: 'path' | 'query' | 'header', schema: TObject | undefined, components: Json): Json[] {
  if (schema === undefined) return [];
  const required: readonly string[] = schema.required ?? [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const described = refer(property, components) as Json;
    const items = described.items as Json | undefined;
    const { description = items?.description, ...rest } = described;
    return {
      name: where === 'header' ? headerName(name) : name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(items === undefined ? {} : { style: 'form', explode: true }),
      schema: rest,
    };
  });
}

/** Capitalises a header name: `idempotency-key` becomes `Idempotency-Key`. */
const headerName = (name: string) => name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());

function requestBody(body: NonNullable<Route['body']>, components: Json): Json {
  const mediaTypes = body.kind === 'json' ? ['application/json'] : body.mediaTypes;
  const schema = refer(body.schema, components);
  const text = { type: 'string', description: 'One record per line.' };
  return {
    required: true,
    content: Object.fromEntries(
      mediaTypes.map((type) => [type, { schema: type === 'application/json' ? schema : text }]),
    ),
  };
}

function responsesOf(route: Route, components: Json): Json {
  const responses: Json = {};
  const codesByStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = errorCodes[code];
    codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), code]);
  }
  const errorBody =
    route.protocol === undefined
      ? refer(ErrorEnvelope, components)
      : { type: 'object', description: 'An error in the format of the emulated service.' };
  for (const [status, codes] of codesByStatus)
    responses[status] = {
      description: codes.join(', '),
      headers: {
        ...requestIdHeader,
        ...(codes.some((code) => errorCodes[code].retry) ? retryAfterHeader : {}),
      },
      content: { 'application/json': { schema: errorBody } },
    };
  for (const [status, response] of Object.entries(route.responses)) {
    const shared = responses[status] as { description: string } | undefined;
    const description = [statusTexts[Number(status)], shared?.description].filter(Boolean).join('; or ');
    if (response.kind === 'json') {
      const schema = refer(response.schema, components);
      responses[status] = {
        description,
        headers: {
          ...requestIdHeader,
          ...(status === '201' ? locationHeader : {}),
          ...(response.lines !== undefined && route.tag === 'events' ? damagedEventsHeader : {}),
        },
        content: {
          'application/json': { schema: shared === undefined ? schema : { anyOf: [schema, errorBody] } },
          ...(response.lines === undefined ? {} : wholeList),
        },
      };
    } else if (response.kind === 'text' || response.kind === 'bytes') {
      const schema = response.kind === 'text' ? { type: 'string' } : {};
      const content = { [response.mediaType]: { schema } };
      responses[status] = { description, headers: requestIdHeader, content };
    } else responses[status] = { description, headers: requestIdHeader };
  }
  return responses;
}

/** Representations of a whole list, selected with the Accept header. */
const wholeList = {
  [wholeListTypes.lines]: {
    schema: {
      type: 'string',
      description:
        'The whole list, filtered and sorted, one item of `data` per line, without an envelope. `page`, `per_page` and `cursor` do not apply. If the last chunk is missing, the response is incomplete.',
    },
  },
  [wholeListTypes.arrow]: {
    schema: {
      type: 'string',
      format: 'binary',
      description:
        'The whole list as an Arrow IPC stream of record batches, with a column `id` and one column per attribute. Times are timestamps in milliseconds, integers have the narrowest type for their bounds, lists of strings are lists, and addresses and enumerations are dictionary-encoded strings whose dictionaries each batch replaces. Objects and other lists are JSON strings, and absent attributes are null. A stream without the end-of-stream marker is incomplete.',
    },
  },
};

const statusTexts: { readonly [status: number]: string } = {
  101: 'Switched to the WebSocket protocol.',
  200: 'Success.',
  201: 'Created.',
  202: 'Started; the resource shows the progress.',
  204: 'Success; the response has no body.',
  503: 'Service unavailable.',
};

const header = (description: string, schema: TSchema) => ({ description, schema: plain(schema) });
const requestIdHeader = {
  'X-Request-Id': header('Identifier of the request, also in the logs.', Type.String()),
};
const retryAfterHeader = { 'Retry-After': header('Seconds to wait before a retry.', Type.Integer()) };
const damagedEventsHeader = {
  'X-Damaged-Events': header(
    'Number of damaged stored events in the time range of a whole list, which are left out; absent if it is 0. Pages report them in `meta.damaged_events`.',
    Type.Integer({ minimum: 1 }),
  ),
};
const locationHeader = { Location: header('Path of the new resource.', Type.String()) };

/** Returns the schema as JSON, with titled parts moved to the components and referenced. */
function refer(schema: TSchema, components: Json): unknown {
  return replaceTitled(plain(schema), components);
}

function replaceTitled(value: unknown, components: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceTitled(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const { title, ...rest } = value as Json;
  const replaced = Object.fromEntries(
    Object.entries(rest).map(([key, item]) => [key, replaceTitled(item, components)]),
  );
  if (typeof title !== 'string')
    return typeof title === 'object' ? { title: replaceTitled(title, components), ...replaced } : replaced;
  const text = JSON.stringify(replaced);
  if (Object.hasOwn(components, title) && JSON.stringify(components[title]) !== text)
    throw new Error(`two schemas are called ${title}`);
  components[title] = replaced;
  return { $ref: `#/components/schemas/${title}` };
}

/**
 * Returns the schema without the symbols of the schema builder. The format `time` of parameters becomes
 * `date-time`, the closest format of JSON Schema.
 */
function plain(schema: TSchema): unknown {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'format' && value === 'time' ? 'date-time' : value,
  );
}

function sorted(object: Json): Json {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
