import type { Static, TObject } from 'typebox';
import { decodeQuery, type ParsedList, parseList, parseParams, parseQuery } from '../contract/query.ts';
import { type OperationId, type RequestBody, type Route, type Routes, routeOf } from '../contract/routes.ts';
import { validateBody } from '../contract/validate.ts';
import { invalidField, type ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type AuditedCall, auditedAs } from './audited-call.ts';
import type { ArrivedBody, BodyTerms } from './bodies.ts';
import type { Budget, BudgetOfEach } from './budget.ts';
import type { Call, Endpoint, Identity } from './endpoint.ts';
import { inflated, readJson } from './json-body.ts';
import { countingRefusals } from './reached.ts';
import type { Reply } from './reply.ts';
import type { RequestHead } from './request.ts';
import type { Services } from './services.ts';

/** Operations that are answered over HTTP; the others are upgrades. */
export type HttpOperation = {
  [Op in OperationId]: Routes[Op] extends { websocket: unknown } ? never : Op;
}[OperationId];

type Nothing = Readonly<Record<never, never>>;
type Read<R, Part extends 'params' | 'headers'> = R extends { [P in Part]: infer S extends TObject }
  ? Static<S>
  : Nothing;
/** Lists have their filters sorted out already. */
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

/** A request that has passed its credentials and its schemas: what a handler gets. */
export interface Context<Op extends HttpOperation> {
  readonly services: Services;
  readonly route: Route;
  readonly params: Read<Routes[Op], 'params'>;
  readonly query: QueryOf<Routes[Op]>;
  /** As it came, for operations that are answered at several paths and in several media types. */
  readonly head: RequestHead;
  /** Request headers that the operation declares. */
  readonly headers: Read<Routes[Op], 'headers'>;
  /** A validated value; the inflated bytes of a large body, its own; the bytes of an ingest body, which the handler releases. */
  readonly body: InputOf<Routes[Op]>;
  readonly identity: Routes[Op] extends { partlyPublic: true }
    ? Identity | undefined
    : Routes[Op]['access'] extends 'public'
      ? undefined
      : Identity;
  /** What those who may not see all of it are told; undefined for those who may. */
  readonly refusal: ServiceError | undefined;
  readonly requestId: string;
  readonly remoteAddress: string;
  /** Where the audit log tells of this call: it is to be told of entries that it caused. */
  readonly audited: AuditedCall | undefined;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

export type Handler<Op extends HttpOperation> = (context: Context<Op>) => Reply | Promise<Reply>;

/** The handlers of a table of routes: one for each operation that is answered over HTTP, and no others. */
export type Handlers<Table> = { [Op in HttpOperation & keyof Table]: Handler<Op> };

/** Bytes of bodies in work, by the kind of body. */
export interface BodyBudgets {
  readonly json: Budget;
  /** Of these, those of one principal. */
  readonly jsonOfPrincipal: BudgetOfEach;
  /** JSON of operations that are always public: of callers whom nobody knows. */
  readonly publicJson: Budget;
  /** JSON of operations that take large bodies. */
  readonly largeJson: Budget;
  readonly ingest: Budget;
  /** Of these, those of one principal. */
  readonly ingestOfPrincipal: BudgetOfEach;
}

/** The endpoints that serve an operation of the contract with a handler, one for each of its methods and paths. */
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
    // As of now: a policy may change between two requests.
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
        // The bytes of an ingest body outlive the answer with ack=memory: they are the handler's.
        if (route.body?.kind === 'json') call.body?.release();
      }
    },
  };
}

/** An upgrade that came as a plain request. */
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
    // Probes and scrapers add parameters of their own to what is public.
    const [unknown] = route.access === 'public' ? [] : decodeQuery(query).keys();
    if (unknown !== undefined)
      throw invalidField(unknown.slice(0, 100).toWellFormed(), 'is not a known parameter');
    return {};
  }
  const raw = decodeQuery(query);
  return 'sort' in route.query.properties ? parseList(route.query, raw) : parseQuery(route.query, raw);
}

function headersOf(route: Route, call: Call): unknown {
  if (route.headers === undefined) return {};
  const raw = new Map<string, string[]>();
  for (const [name, value] of call.head.headers) {
    if (Object.hasOwn(route.headers.properties, name)) raw.set(name, [value]);
  }
  return parseQuery(route.headers, raw);
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
    return countingRefusals(services.metrics, reached, inflated(call.body.bytes, call.coding, maxBytes));
  const read = readJson(call.body.bytes, call.coding, maxBytes);
  return validateBody(route, await countingRefusals(services.metrics, reached, read));
}

/** What a JSON body may have, as it is sent and inflated. Without an identity, as much as such an operation needs. */
function jsonSize(
  route: Route,
  { config }: Pick<Services, 'config'>,
): Pick<BodyTerms, 'maxBytes' | 'tooLong'> {
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
    const terms = { ...jsonSize(route, { config }), ...jsonBudget(route, route.body, budgets) };
    return { mediaTypes: ['application/json'], terms };
  }
  const terms: BodyTerms = {
    maxBytes: config['limits.max_body_bytes'],
    budget: budgets.ingest,
    ofPrincipal: { budget: budgets.ingestOfPrincipal, overloaded: 'maxIngestShareOfPrincipal' },
    tooLong: 'maxBodyBytes',
    overloaded: 'maxIngestInFlightBytes',
  };
  return { mediaTypes: route.body.mediaTypes, terms };
}

/** What holds the bytes of JSON bodies. */
function jsonBudget(
  { alwaysPublic }: Route,
  { large }: Extract<RequestBody, { kind: 'json' }>,
  budgets: BodyBudgets,
): Omit<BodyTerms, 'maxBytes' | 'tooLong'> {
  if (alwaysPublic) return { budget: budgets.publicJson, overloaded: 'maxPublicJsonInFlightBytes' };
  if (large) return { budget: budgets.largeJson, overloaded: 'maxIntelInFlightBytes' };
  return {
    budget: budgets.json,
    ofPrincipal: { budget: budgets.jsonOfPrincipal, overloaded: 'maxJsonInFlightBytesPerPrincipal' },
    overloaded: 'maxJsonInFlightBytes',
  };
}
