import { type TArray, type TObject, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../../errors.ts';
import type { ChannelName } from '../channels.ts';
import { text } from '../resources/fields.ts';
import type { ShipperProtocol } from '../shippers.ts';
import type { Role } from '../vocabulary.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * What a request carries. `json` is parsed and validated against `schema` as a whole; `resource` is what it changes,
 * so that a field that only the service sets is told from an unknown one. `ingest` is left as bytes for the ingest
 * pool, which judges each record by itself; `schema` only describes it.
 */
export type RequestBody =
  | {
      readonly kind: 'json';
      readonly schema: TObject;
      readonly resource?: TObject;
      /** Up to limits.maxIntelBodyBytes, and left as bytes, inflated, for a pool that parses and validates it. */
      readonly large?: true;
    }
  | {
      readonly kind: 'ingest';
      readonly mediaTypes: readonly string[];
      readonly schema: TSchema;
      /** The only kind of record taken; any where absent. */
      readonly table?: 'network' | 'dns';
    };

export type ResponseBody =
  | {
      readonly kind: 'json';
      readonly schema: TSchema;
      /** A page of a list of such items, which is also given whole to who accepts a type of `wholeListTypes`. */
      readonly lines?: TSchema;
    }
  | { readonly kind: 'text'; readonly mediaType: string }
  | { readonly kind: 'bytes'; readonly mediaType: string }
  | { readonly kind: 'none' };

export interface Route {
  readonly method: Method;
  /**
   * Parameters are segments with a colon: `/api/v1/alerts/:alert_id`. One with a star at the end is all that follows,
   * slashes included, as it was sent: `/tile/:tile*`.
   */
  readonly path: string;
  /**
   * Other methods and paths that are answered as this one, where the service that a protocol was made for has several.
   * Parameters in them are read only as far as `params` declares them.
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
  /** For shippers of this protocol: errors are answered in its form. */
  readonly protocol?: ShipperProtocol;
  /** Who may; the default of the access policy. */
  readonly access: 'public' | readonly Role[];
  /**
   * Some of what it shows is public: without credentials, or with other roles, it is answered so far. Bad credentials
   * are refused all the same.
   */
  readonly partlyPublic?: true;
  /** Answered without knowing who asks, so that a policy may make it public; what is public anyway need not say so. */
  readonly mayBePublic?: true;
  /** No policy may restrict it: nobody could sign in, or see from outside whether the service lives. */
  readonly alwaysPublic?: true;
  readonly params?: TObject;
  readonly query?: TObject;
  /** Request headers that change what the operation does, lowercase. */
  readonly headers?: TObject;
  readonly body?: RequestBody;
  /** Answers of success by status. */
  readonly responses: { readonly [status: number]: ResponseBody };
  /** Codes that this operation adds to those of `errorsOf`. */
  readonly errors?: readonly ErrorCode[];
  /**
   * Who calls it is written down, and how it ended: administration, what concerns credentials, changes of assets, and
   * those that the transparency log may have to tell of. `each`: however often, without being counted together; what
   * the operation needs (a turn, a password that is checked, an asset) bounds how often it succeeds.
   */
  readonly audited?: true | 'each';
  /** Answered by an upgrade; `channel` is subscribed at once with the query as filters. Credentials may come later. */
  readonly websocket?: { readonly channel?: ChannelName };
}

export const json = <S extends TSchema>(schema: S) => ({ kind: 'json', schema }) as const;
/** A page of a list, whole as lines too. */
export const list = <S extends TObject<{ data: TArray }>>(schema: S) =>
  ({ kind: 'json', schema, lines: schema.properties.data.items }) as const;
export const none = { kind: 'none' } as const;
/** Of bodies that are taken whatever they are called, and without a name too. */
export const anyMediaType = '*/*';
export const bytes = { kind: 'bytes', mediaType: 'application/octet-stream' } as const;
export const closed = { additionalProperties: false } as const;
export const readers = ['viewer', 'analyst', 'admin'] as const;
export const analysts = ['analyst', 'admin'] as const;
export const admins = ['admin'] as const;
export const ifMatch = Type.Object(
  { 'if-match': Type.Optional(text('The version that is to be changed, in quotes.')) },
  closed,
);
