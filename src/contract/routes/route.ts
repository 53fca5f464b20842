import { type TArray, type TObject, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../errors.ts';
import type { ChannelName } from '../channels.ts';
import { paginated, success } from '../envelopes.ts';
import type { ResourceType } from '../resource-types.ts';
import { parameters, text } from '../resources/fields.ts';
import type { Role } from '../vocabulary.ts';
import { paramsOf } from './path-parameters.ts';

/** Protocols of log shippers that the service emulates. */
const shipperProtocols = ['elasticsearch', 'splunk', 'otlp'] as const;
export type ShipperProtocol = (typeof shipperProtocols)[number];

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * The body of a request. `json` is parsed and validated as a whole against `schema`; `resource` is the resource that
 * the body changes, used to distinguish read-only fields from unknown fields. `ingest` is passed as bytes to the ingest
 * pool, which validates each record separately; its `schema` is documentation only.
 */
export type RequestBody =
  | {
      readonly kind: 'json';
      readonly schema: TObject;
      readonly resource?: TObject;
      /**
       * Whether the body may have up to limits.maxIntelBodyBytes. It is passed as decompressed bytes to a pool that
       * parses and validates it.
       */
      readonly large?: true;
    }
  | {
      readonly kind: 'ingest';
      readonly mediaTypes: readonly string[];
      readonly schema: TSchema;
      /** The only kind of record accepted; absent if all kinds are accepted. */
      readonly table?: 'network' | 'dns';
    };

export type ResponseBody =
  | {
      readonly kind: 'json';
      readonly schema: TSchema;
      /**
       * Schema of the items if the body is a page of items. Clients that accept one of `wholeListTypes` get the whole
       * list, as lines or as an Arrow stream.
       */
      readonly lines?: TSchema;
    }
  | { readonly kind: 'text'; readonly mediaType: string }
  | { readonly kind: 'bytes'; readonly mediaType: string }
  | { readonly kind: 'none' };

export interface Route {
  readonly method: Method;
  /**
   * Path of the operation. Parameters are segments with a colon: `/api/v1/alerts/:alert_id`. A parameter with a
   * trailing star (`/tile/:tile*`) matches the rest of the path, slashes included, without decoding.
   */
  readonly path: string;
  /**
   * Aliases: other methods and paths with the same behaviour, if the emulated service has several. Parameters of
   * aliases are ignored unless `path` has them too.
   */
  readonly also?: readonly { readonly method: Method; readonly path: string }[];
  readonly summary: string;
  readonly tag:
    | 'auth'
    | 'ingest'
    | 'shippers'
    | 'events'
    | 'alerts'
    | 'assets'
    | 'services'
    | 'topology'
    | 'analytics'
    | 'discovery'
    | 'rules'
    | 'intel'
    | 'identities'
    | 'system'
    | 'transparency';
  /**
   * The shipper protocol of the route, if any: tokens are accepted and errors are formatted as that protocol defines.
   */
  readonly protocol?: ShipperProtocol;
  /** Roles that may call the operation by default; the access policy may change this. */
  readonly access: 'public' | readonly Role[];
  /**
   * Whether part of the response is public: callers without credentials or with other roles get that part. Invalid
   * credentials are rejected nevertheless.
   */
  readonly partlyPublic?: true;
  /**
   * Whether a policy may make the operation public, because the handler needs no identity. Not needed on routes that
   * are public by default.
   */
  readonly mayBePublic?: true;
  /**
   * Whether no policy may restrict the operation, because users could not sign in otherwise, or health checks would
   * fail.
   */
  readonly alwaysPublic?: true;
  /** The parameters of `path`. */
  readonly params?: TObject;
  readonly query?: TObject;
  /** Request headers that change the behaviour of the operation, lowercase. */
  readonly headers?: TObject;
  readonly body?: RequestBody;
  /** Successful responses by status. */
  readonly responses: { readonly [status: number]: ResponseBody };
  /** Error codes that this operation adds to the codes that `errorsOf` derives. */
  readonly errors?: readonly ErrorCode[];
  /**
   * Whether calls are written to the audit log with caller and outcome. Set for administration, credentials, changes of
   * assets, and operations that can cause entries in the transparency log. `each` writes one record per call and never
   * aggregates; the cost of the operation (a queue slot, a password check, an asset) limits how often it can succeed.
   */
  readonly audited?: true | 'each';
  /**
   * Set if the response is a WebSocket upgrade. `channel` is subscribed immediately with the query as filters.
   * Credentials may follow in a message.
   */
  readonly websocket?: { readonly channel?: ChannelName };
}

/** The properties of a route other than method, path, parameters and summary. `sharing` may add tag and access. */
type Details = Omit<Route, 'method' | 'path' | 'summary' | 'params' | 'tag' | 'access'> &
  Partial<Pick<Route, 'tag' | 'access'>>;
/** Forbids properties that `Details` does not have. Type inference alone would accept them. */
type Exact<D> = D & { readonly [Unknown in Exclude<keyof D, keyof Details>]: never };

/** Returns a function that declares routes with this method. The parameters of a route follow from its path. */
const withMethod =
  <M extends Method>(method: M) =>
  <const Path extends string, const D extends Details>(path: Path, summary: string, details: Exact<D>) => ({
    method,
    path,
    summary,
    ...paramsOf(path),
    ...details,
  });

export const get = withMethod('GET');
export const post = withMethod('POST');
export const put = withMethod('PUT');
export const del = withMethod('DELETE');

/**
 * Returns a function that adds the properties that most routes of a file share. A property of the route itself takes
 * precedence.
 */
export const sharing =
  <const Shared extends Partial<Route>>(shared: Shared) =>
  <Routes extends object>(routes: Routes) =>
    Object.fromEntries(Object.entries(routes).map(([operation, route]) => [operation, { ...shared, ...route }])) as {
      readonly [Operation in keyof Routes]: Routes[Operation] & Omit<Shared, keyof Routes[Operation]>;
    };

export const json = <S extends TSchema>(schema: S) => ({ kind: 'json', schema }) as const;
/** Returns the response of a page of a list. The whole list is also available, as lines or as an Arrow stream. */
export const list = <S extends TObject<{ data: TArray }>>(schema: S) =>
  ({ kind: 'json', schema, lines: schema.properties.data.items }) as const;
export const none = { kind: 'none' } as const;
/** The responses of a route that returns one resource. */
export const one = <T extends ResourceType>(type: T) => ({ 200: json(success(type)) }) as const;
export const created = <T extends ResourceType>(type: T) => ({ 201: json(success(type)) }) as const;
export const accepted = <T extends ResourceType>(type: T) => ({ 202: json(success(type)) }) as const;
/** The responses of a route that returns a page of a list of resources. */
export const page = <T extends ResourceType>(type: T) => ({ 200: list(paginated(type)) }) as const;
/** Matches any media type, and a missing media type. */
export const anyMediaType = '*/*';
export const bytes = { kind: 'bytes', mediaType: 'application/octet-stream' } as const;
export const readers = ['viewer', 'analyst', 'admin'] as const;
export const analysts = ['analyst', 'admin'] as const;
export const admins = ['admin'] as const;
export const ifMatch = parameters({
  'if-match': Type.Optional(text('Version of the resource that the request is based on, in quotes.')),
});
