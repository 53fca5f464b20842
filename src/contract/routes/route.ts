import { type TArray, type TObject, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../errors.ts';
import type { ChannelName } from '../channels.ts';
import { text } from '../resources/fields.ts';
import type { ShipperProtocol } from '../shippers.ts';
import type { Role } from '../vocabulary.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * The body of a request. `json` is parsed and validated as a whole against `schema`; `resource` is the
 * resource that it changes, which distinguishes read-only fields from unknown ones. `ingest` is passed as
 * bytes to the ingest pool, which validates each record separately; its `schema` is documentation only.
 */
export type RequestBody =
  | {
      readonly kind: 'json';
      readonly schema: TObject;
      readonly resource?: TObject;
      /**
       * Up to limits.maxIntelBodyBytes, passed as decompressed bytes to a pool that parses and validates it.
       */
      readonly large?: true;
    }
  | {
      readonly kind: 'ingest';
      readonly mediaTypes: readonly string[];
      readonly schema: TSchema;
      /** The only kind of record accepted; any kind when absent. */
      readonly table?: 'network' | 'dns';
    };

export type ResponseBody =
  | {
      readonly kind: 'json';
      readonly schema: TSchema;
      /**
       * The body is a page of such items. Clients that accept one of `wholeListTypes` get the whole list as
       * lines.
       */
      readonly lines?: TSchema;
    }
  | { readonly kind: 'text'; readonly mediaType: string }
  | { readonly kind: 'bytes'; readonly mediaType: string }
  | { readonly kind: 'none' };

export interface Route {
  readonly method: Method;
  /**
   * Parameters are segments with a colon: `/api/v1/alerts/:alert_id`. A parameter with a trailing star
   * (`/tile/:tile*`) matches the rest of the path, slashes included, without decoding.
   */
  readonly path: string;
  /**
   * Aliases: other methods and paths that behave the same, where the emulated service has several. Only their
   * parameters that `params` declares are read.
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
   * Set for routes of a shipper protocol: tokens are accepted and errors are formatted as that protocol
   * defines.
   */
  readonly protocol?: ShipperProtocol;
  /** Roles that may call the operation by default; the access policy may change this. */
  readonly access: 'public' | readonly Role[];
  /**
   * Part of the response is public: callers without credentials or with other roles get that part. Invalid
   * credentials are rejected nevertheless.
   */
  readonly partlyPublic?: true;
  /**
   * The handler needs no identity, so a policy may make the operation public. Not needed on routes that are
   * public by default.
   */
  readonly mayBePublic?: true;
  /** No policy may restrict the operation. Otherwise users could not sign in, or health checks would fail. */
  readonly alwaysPublic?: true;
  readonly params?: TObject;
  readonly query?: TObject;
  /** Request headers that change what the operation does, lowercase. */
  readonly headers?: TObject;
  readonly body?: RequestBody;
  /** Successful responses by status. */
  readonly responses: { readonly [status: number]: ResponseBody };
  /** Error codes that this operation adds to those of `errorsOf`. */
  readonly errors?: readonly ErrorCode[];
  /**
   * Calls are written to the audit log with caller and outcome. Set for administration, credentials, changes
   * of assets, and operations that can cause entries in the transparency log. `each` writes one record per
   * call and never aggregates; the cost of the operation (a queue slot, a password check, an asset) limits
   * how often it can succeed.
   */
  readonly audited?: true | 'each';
  /**
   * The response is a WebSocket upgrade. `channel` is subscribed immediately with the query as filters.
   * Credentials may follow in a message.
   */
  readonly websocket?: { readonly channel?: ChannelName };
}

export const json = <S extends TSchema>(schema: S) => ({ kind: 'json', schema }) as const;
/** A page of a list, also available as a whole in lines. */
export const list = <S extends TObject<{ data: TArray }>>(schema: S) =>
  ({ kind: 'json', schema, lines: schema.properties.data.items }) as const;
export const none = { kind: 'none' } as const;
/** Matches any media type, also a missing one. */
export const anyMediaType = '*/*';
export const bytes = { kind: 'bytes', mediaType: 'application/octet-stream' } as const;
export const closed = { additionalProperties: false } as const;
export const readers = ['viewer', 'analyst', 'admin'] as const;
export const analysts = ['analyst', 'admin'] as const;
export const admins = ['admin'] as const;
export const ifMatch = Type.Object(
  { 'if-match': Type.Optional(text('Version of the resource that the request is based on, in quotes.')) },
  closed,
);
