/**
 * Sends requests to a running service by operation of the contract, and checks every response against the
 * contract.
 */

import { setImmediate } from 'node:timers/promises';
import { assertResponse } from '../../scripts/contract-assertions.ts';
import { type OperationId, routeOf } from '../../src/contract/routes.ts';

export interface Request {
  readonly token?: string | undefined;
  /** Values of the path's parameters, in order; a rest parameter is sent unchanged. */
  readonly params?: readonly string[];
  readonly query?: string | URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body: parsed if it is JSON, as bytes if it is binary, otherwise as text. */
  readonly body: unknown;
}

export async function call(
  { url }: { readonly url: string },
  operation: OperationId,
  { token, params = [], query, headers = {}, json, body }: Request = {},
): Promise<Answer> {
  const { method, path } = routeOf(operation);
  let at = 0;
  const target = path.replace(/:\w+(\*?)/g, (_, rest: string) => {
    const value = params[at++] ?? '';
    return rest === '' ? encodeURIComponent(value) : value;
  });
  const sent: Record<string, string> = { ...headers };
  if (token !== undefined) sent.authorization = `Bearer ${token}`;
  if (json !== undefined) sent['content-type'] ??= 'application/json';
  const payload = json === undefined ? body : JSON.stringify(json);
  // If this process was busy for ten seconds, the service has closed its idle connections. `fetch` must notice this
  // before it reuses one of them.
  for (let turn = 0; turn < 2; turn++) await setImmediate();
  const response = await fetch(`${url}${target}${query === undefined ? '' : `?${query}`}`, {
    method,
    headers: sent,
    ...(payload === undefined ? {} : { body: payload as string }),
  });
  const answer = { status: response.status, headers: response.headers, body: await bodyOf(response) };
  assertResponse(operation, answer.status, answer.body);
  return answer;
}

async function bodyOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type');
  if (type === 'application/octet-stream') return new Uint8Array(await response.arrayBuffer());
  const text = await response.text();
  return type?.startsWith('application/json') ? JSON.parse(text) : text;
}

export interface Item {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Page {
  readonly data: readonly Item[];
  readonly pagination: {
    readonly page: number;
    readonly per_page: number;
    readonly total: number;
    readonly total_pages: number;
    readonly has_next: boolean;
    readonly has_prev: boolean;
    readonly next_cursor?: string;
  };
}

type ListOperation =
  | 'listNetworkEvents'
  | 'listDnsEvents'
  | 'listAlerts'
  | 'listAssets'
  | 'listServices'
  | 'listTokens';

export async function list(
  service: { readonly url: string },
  operation: ListOperation,
  token: string,
  query: string | URLSearchParams = '',
): Promise<Page> {
  const { status, body } = await call(service, operation, { token, query });
  if (status !== 200) throw new Error(`${operation}?${query}: ${status} ${JSON.stringify(body)}`);
  return body as Page;
}

/** Returns every item of a list, paged by cursor. */
export async function listAll(
  service: { readonly url: string },
  operation: ListOperation,
  token: string,
  query = '',
): Promise<Item[]> {
  const items: Item[] = [];
  const parameters = new URLSearchParams(query);
  parameters.set('per_page', '1000');
  for (;;) {
    const { data, pagination } = await list(service, operation, token, parameters);
    items.push(...data);
    if (pagination.next_cursor === undefined) return items;
    parameters.set('cursor', pagination.next_cursor);
  }
}

export interface IngestCounts {
  readonly accepted: number;
  readonly rejected: number;
  readonly ignored: number;
  readonly duplicates: number;
  readonly errors: readonly { line: number; code: string; field?: string; reason: string }[];
}

export const ndjson = { 'content-type': 'application/x-ndjson' } as const;

/** Sends sensor data, expects it to be accepted, and returns the counts when its events are processed. */
export async function send(
  service: { readonly url: string },
  token: string,
  body: string | Uint8Array,
  { query = 'ack=processed', headers }: Pick<Request, 'query' | 'headers'> = {},
): Promise<IngestCounts> {
  const answer = await call(service, 'ingest', {
    token,
    body,
    query,
    headers: { ...ndjson, ...headers },
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return (answer.body as { data: IngestCounts }).data;
}

export interface Failure {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: { field?: string; reason?: string };
  };
}

/** Returns status, code and field of an error. */
export function failure({ status, body }: Answer): [number, string, string | undefined] {
  const { code, details } = (body as Failure).error;
  return [status, code, details?.field];
}
