import { type TObject, type TSchema, Type } from 'typebox';
import { type ErrorCode, errorCodes } from '../errors.ts';
import { channels, clientMessages, serverMessages } from './channels.ts';
import { ErrorEnvelope } from './envelopes.ts';
import { resourceTypes } from './resource-types.ts';
import { errorsOf, operationIds, type Route, routeOf } from './routes.ts';
import { wholeListTypes } from './whole-list.ts';

type Json = { [key: string]: unknown };

/**
 * The OpenAPI 3.1 description of every operation in the table of routes. The same program always gives the same
 * document: members stand in the order of the tables, and there is no clock in it.
 *
 * Schemas that have a `title` become components of that name and are referred to.
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
        'A SIEM that can prove what it saw. Lists take `page` or `cursor`; a filter given more than once means any of its values. Errors carry a code of the table and, for problems of a field, its name and the reason.',
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
          description: 'A client certificate that names a principal, where the service takes them.',
        },
      },
    },
  };
}

const tags = [
  ['auth', 'Sessions.'],
  ['ingest', 'Sensor data.'],
  [
    'shippers',
    'Sensor data from programs that speak to Elasticsearch, Splunk or an OpenTelemetry collector.',
  ],
  ['events', 'Network and DNS events.'],
  ['alerts', 'Alerts and the work on them.'],
  ['assets', 'What is on the network.'],
  ['services', 'What it offers.'],
  ['topology', 'Who talks to whom.'],
  ['analytics', 'Figures, and how they change.'],
  ['discovery', 'Scans of the network.'],
  ['rules', 'What is looked for in records: Sigma.'],
  ['intel', 'Known-bad addresses and domains.'],
  ['identities', 'Tokens.'],
  ['system', 'The service itself.'],
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
    ...(route.websocket !== undefined && route.websocket.channel === undefined
      ? { description: subscribable }
      : {}),
    ...(route.protocol === undefined && route.body?.kind !== 'ingest'
      ? {}
      : { description: ingestCredentials(route) }),
    tags: [route.tag],
    security: securityOf(route),
    ...(route.access === 'public' ? {} : { 'x-roles': [...route.access] }),
    ...(route.websocket === undefined ? {} : { 'x-websocket': { ...route.websocket } }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, components) }),
    responses: responsesOf(route, components),
  };
}

/** What may be subscribed to over a socket of all channels, and by whom. */
const subscribable = `Channels, and the operation whose callers may subscribe to each: ${Object.entries(
  channels,
)
  .map(([name, { operation }]) => `${name} (${operation})`)
  .join(', ')}.`;

/** How a sensor or shipper shows its token, and where else it is answered. */
function ingestCredentials({ also = [] }: Route): string {
  const credentials =
    'The token may also come as the password of `Basic`, as the key of `ApiKey` (as it is, or base64 of `id:key`) or as `Splunk <token>`.';
  if (also.length === 0) return credentials;
  const others = also.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)\*?/g, '{$1}')}`);
  return `${credentials} Answered likewise: ${others.join(', ')}.`;
}

/** One of them suffices; an empty one means that credentials may be left out. */
function securityOf(route: Route): Json[] {
  if (route.access === 'public') return [];
  const ways = [{ bearer: [] }, { certificate: [] }];
  return route.partlyPublic ? [{}, ...ways] : ways;
}

function parametersIn(
  where: 'path' | 'query' | 'header',
  schema: TObject | undefined,
  components: Json,
): Json[] {
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

/** `idempotency-key` as it is usually written: `Idempotency-Key`. */
const headerName = (name: string) => name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());

function requestBody(body: NonNullable<Route['body']>, components: Json): Json {
  const mediaTypes = body.kind === 'json' ? ['application/json'] : body.mediaTypes;
  const schema = refer(body.schema, components);
  const text = { type: 'string', description: 'One record a line.' };
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
      : { type: 'object', description: 'An error as the service tells it that the protocol was made for.' };
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

/** What lists are for those who accept it. */
const wholeList = {
  [wholeListTypes.lines]: {
    schema: {
      type: 'string',
      description:
        'The whole list as it is filtered and sorted, one item of `data` a line, without an envelope. `page`, `per_page` and `cursor` are not for it. An answer whose last chunk is missing is not whole.',
    },
  },
  [wholeListTypes.arrow]: {
    schema: {
      type: 'string',
      format: 'binary',
      description:
        'The same as an Arrow IPC stream, a record batch for each page that is read: a column `id` and one for each attribute. Times are timestamps in milliseconds, integers as narrow as their bounds, lists of texts lists, addresses and enumerated words texts behind dictionaries that each batch replaces; objects and other lists are JSON texts, and what an item has not is null. A stream without its end mark is not whole.',
    },
  },
};

const statusTexts: { readonly [status: number]: string } = {
  101: 'The connection is a WebSocket now.',
  200: 'Success.',
  201: 'Created.',
  202: 'Begun; the resource tells how far it is.',
  204: 'Done; there is nothing to say.',
  503: 'Not in service.',
};

const header = (description: string, schema: TSchema) => ({ description, schema: plain(schema) });
const requestIdHeader = { 'X-Request-Id': header('Names the request in the logs.', Type.String()) };
const retryAfterHeader = { 'Retry-After': header('Seconds to wait before a retry.', Type.Integer()) };
const damagedEventsHeader = {
  'X-Damaged-Events': header(
    'Stored events of the time of a whole list that are damaged and left out; absent where there are none. Pages name them in `meta.damaged_events`.',
    Type.Integer({ minimum: 1 }),
  ),
};
const locationHeader = { Location: header('Path of the new resource.', Type.String()) };

/** The schema as JSON, its titled parts moved to the components and referred to. */
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

/** Without the builder's hidden marks. The times of parameters, which JSON Schema has no format for, are among date-times. */
function plain(schema: TSchema): unknown {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'format' && value === 'time' ? 'date-time' : value,
  );
}

function sorted(object: Json): Json {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
