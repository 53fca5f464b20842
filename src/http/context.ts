import type { Static, TObject } from 'typebox';
import type { Budget, BudgetOfEach } from '../admission/budget.ts';
import { decodeQuery, type ParsedList, parseList, parseParams, parseQuery } from '../contract/query.ts';
import { type OperationId, type RequestBody, type Route, type Routes, routeOf } from '../contract/routes.ts';
import { validateBody } from '../contract/validate.ts';
import { invalidField, type ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type AuditedCall, auditedAs } from './audited-call.ts';
import type { ArrivedBody, BodyLimits } from './bodies.ts';
import type { Authenticated, Call, Endpoint } from './endpoint.ts';
import { inflated, readJson } from './json-body.ts';
import { withLimitMetrics } from './limit-metrics.ts';
import { ifMatchVersion } from './preconditions.ts';
import type { Reply } from './reply.ts';
import type { RequestHead } from './request.ts';
import type { Services } from './services.ts';

/** Operations that are served as HTTP requests; all others are WebSocket upgrades. */
export type HttpOperation = {
  [Op in OperationId]: Routes[Op] extends { websocket: unknown } ? never : Op;
}[OperationId];

type Nothing = Readonly<Record<never, never>>;
type Read<R, Part extends 'params' | 'headers'> = R extends { [P in Part]: infer S extends TObject }
  ? Static<S>
  : Nothing;
/** The type of a route's query. Filters of lists are already parsed. */
type QueryOf<R> = R extends { query: infer S extends TObject }
  ? 'sort' extends keyof Static<S>
    ? ParsedList
    : Static<S>
  : Nothing;
type InputOf<R> = R extends { body: { kind: 'ingest' } }
  ? { readonly arrived: ArrivedBody; readonly mediaType: string; readonly coding: Call['coding'] }
  : R extends { body: { kind: 'json'; large: true } }
    ? ArrayBuffer
    : R extends { body: { kind: 'json'; schema: infer S extends TObject } }
      ? Static<S>
      : undefined;

/** A request as passed to handlers, after its credentials were checked and its parts were validated. */
export interface Context<Op extends HttpOperation> {
  readonly services: Services;
  readonly route: Route;
  readonly params: Read<Routes[Op], 'params'>;
  readonly query: QueryOf<Routes[Op]>;
  /** The original head, for operations with several paths and media types. */
  readonly head: RequestHead;
  /** Request headers that the operation declares. */
  readonly headers: Read<Routes[Op], 'headers'>;
  /**
   * The version in the header If-Match; undefined if the header is absent, accepts any version, or is not declared by
   * the operation. Reading a malformed version throws INVALID_REQUEST.
   */
  readonly version: number | undefined;
  /**
   * The body: a validated value, the inflated bytes of a large body in a separate buffer, or the bytes of an
   * ingest body, which the handler must release.
   */
  readonly body: InputOf<Routes[Op]>;
  readonly identity: Routes[Op] extends { partlyPublic: true }
    ? Authenticated | undefined
    : Routes[Op]['access'] extends 'public'
      ? undefined
      : Authenticated;
  /** The refusal for callers with partial access; undefined for other callers. */
  readonly refusal: ServiceError | undefined;
  readonly requestId: string;
  readonly remoteAddress: string;
  /** The audit record of this call. Handlers add the log entries that the call caused. */
  readonly audited: AuditedCall | undefined;
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

export type Handler<Op extends HttpOperation> = (context: Context<Op>) => Reply | Promise<Reply>;

/**
 * The handlers of a table of routes: one for each operation that is served as an HTTP request, and no others.
 */
export type Handlers<Table> = { [Op in HttpOperation & keyof Table]: Handler<Op> };

/** Budgets for bytes of bodies in progress, by the kind of body. */
export interface BodyBudgets {
  readonly json: Budget;
  /** The budget of each principal within `json`. */
  readonly jsonOfPrincipal: BudgetOfEach;
  /** JSON bodies of operations that are always public, from unauthenticated callers. */
  readonly publicJson: Budget;
  /** JSON bodies of operations that accept large bodies. */
  readonly largeJson: Budget;
  readonly ingest: Budget;
  /** The budget of each principal within `ingest`. */
  readonly ingestOfPrincipal: BudgetOfEach;
}

/** Returns the endpoints of an operation: one for each of its methods and paths. */
export function bind<Op extends HttpOperation>(
  operation: Op,
  handler: Handler<Op>,
  services: Services,
  budgets: BodyBudgets,
): Endpoint[] {
  const route = routeOf(operation);
  const { method, path, also = [] } = route;
  return [{ method, path }, ...also].map((at) => bindAt(at, operation, handler, services, budgets));
}

function bindAt<Op extends HttpOperation>(
  { method, path }: Pick<Route, 'method' | 'path'>,
  operation: Op,
  handler: Handler<Op>,
  services: Services,
  budgets: BodyBudgets,
): Endpoint {
  const route = routeOf(operation);
  const body = bodyOf(route, services, budgets);
  const audited = auditedAs(route);
  return {
    operation,
    method,
    path,
    ...(route.protocol === undefined ? {} : { protocol: route.protocol }),
    // A getter, because the policy may change between requests.
    get access() {
      return services.policy.accessOf(operation);
    },
    ...(route.partlyPublic === undefined ? {} : { partlyPublic: route.partlyPublic }),
    ...(body === undefined ? {} : { body }),
    ...(route.alwaysPublic && body === undefined ? { alwaysAnswered: true } : {}),
    ...(audited === undefined ? {} : { audited }),
    async run(call) {
      try {
        const context = await contextOf(route, call, services);
        call.audited?.noteBody(operation, context.body);
        return await handler(context as Context<Op>);
      } finally {
        // An ingest body is released by its handler, because with ack=memory it is processed after the
        // response is sent.
        if (route.body?.kind === 'json') call.body?.release();
      }
    },
  };
}

/** Returns an endpoint that refuses requests without an upgrade for an upgrade operation. */
export function refuseUpgrade(operation: OperationId): Endpoint {
  const { method, path } = routeOf(operation);
  return {
    operation,
    method,
    path,
    access: 'public',
    run() {
      throw invalidField('upgrade', 'must be websocket');
    },
  };
}

async function contextOf(route: Route, call: Call, services: Services) {
  try {
    return {
      services,
      route,
      params: route.params === undefined ? {} : parseParams(route.params, call.params),
      query: queryOf(route, call.head.query),
      head: call.head,
      headers: headersOf(route, call),
      get version(): number | undefined {
        return ifMatchVersion(this.headers['if-match']);
      },
      body: await inputOf(route, call, services),
      identity: call.identity,
      refusal: call.refusal,
      requestId: call.requestId,
      remoteAddress: call.remoteAddress,
      audited: call.audited,
      get signal() {
        return call.signal;
      },
    };
  } catch (error) {
    call.body?.release();
    throw error;
  }
}

function queryOf(route: Route, query: string): unknown {
  if (route.query === undefined) {
    // Probes and scrapers add their own parameters to public operations.
    const [unknown] = route.access === 'public' ? [] : decodeQuery(query).keys();
    if (unknown !== undefined) throw invalidField(unknown.slice(0, 100).toWellFormed(), 'is not a known parameter');
    return {};
  }
  const raw = decodeQuery(query);
  return 'sort' in route.query.properties ? parseList(route.query, raw) : parseQuery(route.query, raw);
}

function headersOf(route: Route, call: Call): Readonly<Record<string, string | undefined>> {
  if (route.headers === undefined) return {};
  const raw = new Map<string, string[]>();
  for (const [name, value] of call.head.headers) {
    if (Object.hasOwn(route.headers.properties, name)) raw.set(name, [value]);
  }
  return parseQuery(route.headers, raw) as Record<string, string | undefined>;
}

async function inputOf(route: Route, call: Call, services: Services): Promise<unknown> {
  if (route.body === undefined || call.body === undefined) return undefined;
  if (route.body.kind === 'ingest') {
    const mediaType = call.head.headers.get('content-type') ?? '';
    return { arrived: call.body, mediaType, coding: call.coding };
  }
  const { maxBytes, tooLong } = jsonSize(route, services);
  const reached = { PAYLOAD_TOO_LARGE: tooLong };
  if (route.body.large === true)
    return withLimitMetrics(services.metrics, reached, inflated(call.body.bytes, call.coding, maxBytes));
  const read = readJson(call.body.bytes, call.coding, maxBytes);
  return validateBody(route, await withLimitMetrics(services.metrics, reached, read));
}

/**
 * Returns the maximum size of a JSON body, on the wire and inflated. Public operations have a lower limit.
 */
function jsonSize(route: Route, { config }: Pick<Services, 'config'>): Pick<BodyLimits, 'maxBytes' | 'tooLong'> {
  if (route.body?.kind === 'json' && route.body.large === true)
    return { maxBytes: limits.maxIntelBodyBytes, tooLong: 'maxIntelBodyBytes' };
  const maxBytes = config['limits.max_json_body_bytes'];
  if (!route.alwaysPublic || maxBytes <= limits.maxPublicJsonBodyBytes)
    return { maxBytes, tooLong: 'maxJsonBodyBytes' };
  return { maxBytes: limits.maxPublicJsonBodyBytes, tooLong: 'maxPublicJsonBodyBytes' };
}

function bodyOf(route: Route, { config }: Services, budgets: BodyBudgets): Endpoint['body'] {
  if (route.body === undefined) return undefined;
  if (route.body.kind === 'json') {
    const bodyLimits = { ...jsonSize(route, { config }), ...jsonBudget(route, route.body, budgets) };
    return { mediaTypes: ['application/json'], limits: bodyLimits };
  }
  const bodyLimits: BodyLimits = {
    maxBytes: config['limits.max_body_bytes'],
    budget: budgets.ingest,
    ofPrincipal: { budget: budgets.ingestOfPrincipal, overloaded: 'maxIngestShareOfPrincipal' },
    tooLong: 'maxBodyBytes',
    overloaded: 'maxIngestInFlightBytes',
  };
  return { mediaTypes: route.body.mediaTypes, limits: bodyLimits };
}

/** Returns the budgets for the bytes of JSON bodies. */
function jsonBudget(
  { alwaysPublic }: Route,
  { large }: Extract<RequestBody, { kind: 'json' }>,
  budgets: BodyBudgets,
): Omit<BodyLimits, 'maxBytes' | 'tooLong'> {
  if (alwaysPublic) return { budget: budgets.publicJson, overloaded: 'maxPublicJsonInFlightBytes' };
  if (large) return { budget: budgets.largeJson, overloaded: 'maxIntelInFlightBytes' };
  return {
    budget: budgets.json,
    ofPrincipal: { budget: budgets.jsonOfPrincipal, overloaded: 'maxJsonInFlightBytesPerPrincipal' },
    overloaded: 'maxJsonInFlightBytes',
  };
}
