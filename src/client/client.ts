import type { Static, TSchema } from 'typebox';
import { type OperationId, type Route, type Routes, routes } from '../contract/routes.ts';
import { type WholeListForm, wholeListTypes } from '../contract/whole-list.ts';
import { fetchFailure, ServiceError } from '../errors.ts';
import { parseError, parseLines } from './parse-response.ts';

/** Functions that apply updates of channel `topology`. */
export { applyTopologyUpdate, applyTopologyUpdates } from './topology.ts';

type Simplify<T> = { [K in keyof T]: T[K] };
type Member<R, K extends string> = R extends { readonly [P in K]: infer V } ? V : undefined;
type OptionalIfEmpty<K extends string, V> = Record<never, never> extends V ? { [P in K]?: V } : { [P in K]: V };
type Part<K extends string, S> = S extends TSchema ? OptionalIfEmpty<K, Static<S>> : unknown;

/** Filters accept one value or several. */
export type QueryValues<Q> = {
  [K in keyof Q]: Q[K] extends (infer V)[] | undefined ? V | readonly V[] : Q[K];
};
type QueryPart<S> = S extends TSchema ? OptionalIfEmpty<'query', QueryValues<Static<S>>> : unknown;

type BodyPart<B> = B extends { readonly kind: 'json'; readonly schema: infer S extends TSchema }
  ? { body: Static<S> }
  : B extends { readonly kind: 'ingest' }
    ? {
        body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
        contentType?: string;
        contentEncoding?: string;
      }
    : unknown;

/**
 * The input of a call: path parameters, query, headers and body of the operation, and a signal to cancel it.
 */
export type CallInput<O extends OperationId> = Simplify<
  Part<'params', Member<Routes[O], 'params'>> &
    QueryPart<Member<Routes[O], 'query'>> &
    Part<'headers', Member<Routes[O], 'headers'>> &
    BodyPart<Member<Routes[O], 'body'>> & { signal?: AbortSignal }
>;

type ResultOf<R> = R extends { readonly kind: 'json'; readonly schema: infer S extends TSchema }
  ? Static<S>
  : R extends { readonly kind: 'text' }
    ? string
    : R extends { readonly kind: 'bytes' }
      ? Uint8Array
      : undefined;
type Success<R> = R[keyof R & (200 | 201 | 202 | 204)];

/** The result of a call: the complete body, typed by its schema; undefined if the response has no body. */
export type CallResult<O extends OperationId> = ResultOf<Success<Routes[O]['responses']>>;

/** Operations over HTTP, without WebSocket upgrades. */
export type CallId = {
  [O in OperationId]: Routes[O] extends { readonly websocket: unknown } ? never : O;
}[OperationId];

/** Operations that respond with a text, which may be long. */
export type TextId = {
  [O in CallId]: Routes[O]['responses'] extends { readonly 200: { readonly kind: 'text' } } ? O : never;
}[CallId];

/** Operations that respond with a page of a list. */
export type ListId = {
  [O in CallId]: Success<Routes[O]['responses']> extends { readonly lines: TSchema } ? O : never;
}[CallId];

/** The input for reading a complete list, without the parameters that select a page. */
export type ListInput<O extends ListId> = Simplify<
  Part<'params', Member<Routes[O], 'params'>> & {
    query?: Omit<CallInput<O> extends { query?: infer Q } ? Q : never, 'page' | 'per_page' | 'cursor'>;
    signal?: AbortSignal;
  }
>;

/** An item of the list, as in `data` of a page. */
export type ListItem<O extends ListId> =
  CallResult<O> extends { readonly data: readonly (infer Item)[] } ? Item : never;

export interface Client {
  /**
   * Calls an operation of the API.
   *
   * @throws ServiceError with the service's code and details; UNAVAILABLE if the service could not be reached
   * or the response is not from it; CANCELLED if `signal` was aborted
   */
  call<O extends CallId>(
    operation: O,
    ...input: Record<never, never> extends CallInput<O> ? [CallInput<O>?] : [CallInput<O>]
  ): Promise<CallResult<O>>;
  /**
   * Iterates over all items of a list, filtered and sorted by the query. The request is sent when the first item is
   * read, and backpressure pauses the service while no item is read. Leaving the loop cancels the request.
   *
   * @throws the errors of `call`, during the loop; UNAVAILABLE also if the list ends prematurely
   */
  items<O extends ListId>(
    operation: O,
    ...input: Record<never, never> extends ListInput<O> ? [ListInput<O>?] : [ListInput<O>]
  ): AsyncGenerator<ListItem<O>, void, undefined>;
  /**
   * Streams the same list as a file: NDJSON or an Arrow IPC stream, with backpressure. Cancelling the stream cancels
   * the request.
   *
   * @throws the errors of `call`, until the response begins; then the stream fails: with UNAVAILABLE if the list ends
   * prematurely, CANCELLED if `signal` was aborted
   */
  whole<O extends ListId>(
    operation: O,
    form: WholeListForm,
    ...input: Record<never, never> extends ListInput<O> ? [ListInput<O>?] : [ListInput<O>]
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /**
   * Streams a text, with backpressure. Cancelling the stream cancels the request.
   *
   * @throws the errors of `whole`
   */
  stream<O extends TextId>(
    operation: O,
    ...input: Record<never, never> extends CallInput<O> ? [CallInput<O>?] : [CallInput<O>]
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Sends records of sensors, as NDJSON unless `contentType` is set. */
  ingest(
    body: CallInput<'ingest'>['body'],
    options?: Omit<CallInput<'ingest'>, 'body'>,
  ): Promise<CallResult<'ingest'>['data']>;
  /** Sets the bearer token for later calls; undefined removes it. */
  setToken(token: string | undefined): void;
}

/**
 * Creates a typed client of the service, based on the platform's fetch: for Node 22 and browsers. For live events, use
 * `openLive`.
 */
export function createClient(options: { baseUrl: string; token?: string; fetch?: typeof fetch }): Client {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;
  let token = options.token;

  /** Maps failures of the request to a ServiceError. Error responses are handled in `read`. */
  const failure = (operation: CallId, { signal }: AnyInput, error: unknown): ServiceError => {
    if (error instanceof ServiceError) return error;
    if (signal?.aborted) return new ServiceError('CANCELLED', `${operation} was cancelled`);
    return new ServiceError('UNAVAILABLE', `${operation}: cannot reach ${baseUrl}: ${fetchFailure(error)}`);
  };

  const request = (operation: CallId, input: AnyInput, accept: string): Promise<Response> => {
    const route: Route = routes[operation];
    const headers = headersOf(route, input, token);
    headers.set('accept', accept);
    const init: RequestInit & { duplex?: 'half' } = { method: route.method, headers };
    if (input.signal !== undefined) init.signal = input.signal;
    if (route.body !== undefined)
      init.body =
        route.body.kind === 'json' ? JSON.stringify(input.body) : (input.body as NonNullable<RequestInit['body']>);
    if (init.body instanceof ReadableStream) init.duplex = 'half';
    return send(baseUrl + pathOf(route, input), init);
  };

  const call = async (operation: CallId, input: AnyInput = {}): Promise<unknown> => {
    let response: Response;
    let bytes: Uint8Array;
    try {
      response = await request(operation, input, 'application/json');
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      throw failure(operation, input, error);
    }
    return read(operation, routes[operation], response.status, bytes);
  };

  /** Returns the body of a response of type `accept`, once the service has begun to send it. */
  const begin = async (
    operation: CallId,
    accept: string,
    input: AnyInput,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> => {
    const response = await request(operation, input, accept);
    const { status, body } = response;
    if (status === 200 && body !== null && response.headers.get('content-type') === accept) return body;
    read(operation, routes[operation], status, new Uint8Array(await response.arrayBuffer()));
    throw new ServiceError('UNAVAILABLE', `${operation}: response with status ${status} is not ${accept}`);
  };

  async function* items(operation: CallId, input: AnyInput = {}): AsyncGenerator<unknown, void, undefined> {
    try {
      yield* parseLines(await begin(operation, wholeListTypes.lines, input));
    } catch (error) {
      throw failure(operation, input, error);
    }
  }

  /** Wraps the body in a stream that fails with the errors of `call`. */
  const stream = async (operation: CallId, accept: string, input: AnyInput = {}) => {
    let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
    try {
      reader = (await begin(operation, accept, input)).getReader();
    } catch (error) {
      throw failure(operation, input, error);
    }
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        async pull(controller) {
          try {
            const { done, value } = await reader.read();
            if (done) controller.close();
            else controller.enqueue(value);
          } catch (error) {
            controller.error(failure(operation, input, error));
          }
        },
        cancel: (reason) => reader.cancel(reason),
      },
      // No read-ahead: pull only on demand.
      { highWaterMark: 0 },
    );
  };

  return {
    call: call as Client['call'],
    items: items as Client['items'],
    whole: ((operation: ListId, form: WholeListForm, input?: AnyInput) =>
      stream(operation, wholeListTypes[form], input)) as Client['whole'],
    stream: ((operation: TextId, input?: AnyInput) =>
      stream(operation, routes[operation].responses[200].mediaType, input)) as Client['stream'],
    ingest: async (body, more) => ((await call('ingest', { ...more, body })) as CallResult<'ingest'>).data,
    setToken: (next) => {
      token = next;
    },
  };
}

/** Input of any operation, after type checking. */
interface AnyInput {
  readonly params?: object;
  readonly query?: object;
  readonly headers?: object;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly signal?: AbortSignal;
}

function pathOf(route: Route, { params = {}, query = {} }: AnyInput): string {
  const values = new Map<string, unknown>(Object.entries(params));
  const path = route.path.replaceAll(/:(\w+)(\*?)/g, (_, name: string, rest: string) => {
    const value = String(values.get(name));
    return rest === '' ? encodeURIComponent(value) : value.split('/').map(encodeURIComponent).join('/');
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one));
  return search.size === 0 ? path : `${path}?${search}`;
}

function headersOf(route: Route, input: AnyInput, token: string | undefined): Headers {
  const headers = new Headers();
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  if (route.body?.kind === 'json') headers.set('content-type', 'application/json');
  if (route.body?.kind === 'ingest') headers.set('content-type', input.contentType ?? 'application/x-ndjson');
  if (input.contentEncoding !== undefined) headers.set('content-encoding', input.contentEncoding);
  for (const [name, value] of Object.entries(input.headers ?? {}))
    if (value !== undefined) headers.set(name, String(value));
  return headers;
}

/** Returns the body of a successful response, or throws its error. */
function read(operation: string, route: Route, status: number, bytes: Uint8Array): unknown {
  const response = route.responses[status];
  if (response?.kind === 'none') return undefined;
  if (response?.kind === 'bytes') return bytes;
  const text = new TextDecoder().decode(bytes);
  if (response?.kind === 'text') return text;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ServiceError('UNAVAILABLE', `${operation}: response with status ${status} is not valid JSON`);
  }
  if (response !== undefined && status < 300) return body;
  const error = parseError(body);
  if (error !== undefined) throw error;
  throw new ServiceError('UNAVAILABLE', `${operation}: response with status ${status} is not from this service`);
}
