import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { TObject } from 'typebox';
import { type OperationId, operationIds, type Route, routeOf } from '../../src/contract/routes.ts';
import { wholeListTypes } from '../../src/contract/whole-list.ts';
import { fragments, type Random } from './random.ts';
import { generate, type SeenIds } from './values.ts';

/** Bearer tokens by holder. */
export type Tokens = Readonly<Record<string, string>>;

export interface FuzzRequest {
  readonly operation: OperationId;
  readonly holder: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

/**
 * Bodies of operations that could reach other hosts or lock the fuzzer out. Only these bodies succeed: other bodies for
 * these operations have an unknown field.
 */
const harmless: Readonly<Partial<Record<OperationId, (random: Random, seen: SeenIds) => unknown>>> = {
  updateConfig: (random) => ({ settings: { 'log.level': random.pick(['info', 'warn', null]) } }),
  updatePolicy: (_, { rules }) => ({ rules }),
  startScan: (random) => ({ targets: ['127.0.0.1'], ports: String(1 + random.below(65_535)) }),
};
/** Operations that succeed rarely, or only with certain bodies. The results show how often each operation succeeded. */
export const restrained: ReadonlySet<string> = new Set([...Object.keys(harmless), 'createBackup']);
/** Probability of a backup by an administrator. More backups would fill the disk. */
const backupShare = 0.02;

export function randomRequest(random: Random, tokens: Tokens, seen: SeenIds): FuzzRequest {
  const operation = random.pick(operationIds);
  const route = routeOf(operation);
  const isRare = operation === 'createBackup' && !random.chance(backupShare);
  const holders = Object.keys(tokens).filter((name) => !(isRare && name === 'admin'));
  // Logging out revokes the token, and a principal has a limited number of tokens.
  const holder = operation === 'logout' ? 'forged' : random.pick(holders);
  const headers: Record<string, string> = {};
  if (holder !== 'nobody') headers.authorization = authorization(random, tokens[holder]!);
  if (random.chance(0.3)) headers.accept = random.pick(accepted);
  if (random.chance(0.1)) headers['accept-encoding'] = random.pick(codings);
  if (random.chance(0.2)) headers['if-match'] = random.pick(['"1"', '"2"', '*', 'W/"1"', '"x"', '1']);
  if (random.chance(0.1)) headers['if-none-match'] = random.pick(['"1"', '*', '""']);
  if (random.chance(0.1)) headers['idempotency-key'] = `key-${random.below(20)}`;
  if (random.chance(0.05)) headers.origin = random.pick(['http://evil.example', 'null']);
  if (random.chance(0.05)) headers['candor-receipt'] = random.pick(['true', 'x']);
  const body = route.body && bodyOf(operation, route.body, random, seen, headers);
  const isRead = route.method === 'GET' && random.chance(0.05);
  return {
    operation,
    holder,
    method: isRead ? random.pick(['HEAD', 'OPTIONS']) : route.method,
    target: pathOf(route, random, seen) + queryOf(route.query, random, seen),
    headers,
    body,
  };
}

const accepted = [...Object.values(wholeListTypes), 'text/html', 'text/csv', '*/*', 'x/y;q=2', ''];
const codings = ['gzip', 'deflate', 'br', 'zstd', 'identity', 'gzip, gzip', 'nonsense'];

function authorization(random: Random, token: string): string {
  if (random.chance(0.95)) return `Bearer ${token}`;
  return random.pick([
    `bearer ${token}`,
    `Bearer ${token}x`,
    `Splunk ${token}`,
    `ApiKey ${Buffer.from(`id:${token}`).toString('base64')}`,
    `Basic ${Buffer.from(`user:${token}`).toString('base64')}`,
    'Bearer',
    'Basic %%%',
  ]);
}

function pathOf(route: Route, random: Random, seen: SeenIds): string {
  return route.path.replace(/:(\w+)(\*?)/g, (_, name: string, rest: string) => {
    if (rest !== '') return random.pick(['0/000', '0/000.p/3', '1/x001/000', '000.p/5', '63/0', '-1/0']);
    const schema = route.params?.properties[name] ?? { type: 'string' };
    const value = String(generate(schema, random, seen) ?? 'x') || 'x';
    return encodeURIComponent(value.toWellFormed()).replaceAll('.', '%2E');
  });
}

function queryOf(schema: TObject | undefined, random: Random, seen: SeenIds): string {
  const query = new URLSearchParams();
  for (const [name, one] of Object.entries(schema?.properties ?? {})) {
    if (!schema?.required?.includes(name) && random.chance(0.85)) continue;
    const value = generate(one, random, seen);
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item));
  }
  if (random.chance(0.03)) query.append(random.pick(fragments), random.pick(fragments));
  return query.size === 0 ? '' : `?${query}`;
}

function bodyOf(
  operation: OperationId,
  body: NonNullable<Route['body']>,
  random: Random,
  seen: SeenIds,
  headers: Record<string, string>,
): Buffer {
  let bytes: Buffer;
  if (body.kind === 'json') {
    const given = harmless[operation];
    const value = generate(body.schema, random, seen);
    const safe = random.chance(0.5) ? given?.(random, seen) : { ...Object(value), 'not a field': 1 };
    bytes = Buffer.from(JSON.stringify(given === undefined ? value : safe));
    headers['content-type'] = 'application/json';
    if (given === undefined && random.chance(0.1)) bytes = random.mutate(bytes);
  } else {
    const lines = random.times(20, () => random.pick(linesOf(operation, random)));
    bytes = Buffer.from(`${lines.join('\n')}\n`);
    headers['content-type'] = random.pick(body.mediaTypes).replace('*/*', 'application/json');
    if (random.chance(0.3)) bytes = random.mutate(bytes);
  }
  if (random.chance(0.03)) headers['content-type'] = random.pick(['text/plain', 'x', 'application/json; a=b']);
  return random.chance(0.3) ? encoded(bytes, random, headers) : bytes;
}

/** Returns the bytes, compressed. Sometimes the header states a wrong encoding, or the result is damaged. */
function encoded(bytes: Buffer, random: Random, headers: Record<string, string>): Buffer {
  const coding = random.pick(Object.keys(coders) as (keyof typeof coders)[]);
  const body = coders[coding](bytes);
  headers['content-encoding'] = random.chance(0.9) ? coding : random.pick(codings);
  return random.chance(0.15) ? random.mutate(body) : body;
}

const coders = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: { 1: 1 } }),
  zstd: zstdCompressSync,
  identity: (bytes: Buffer) => bytes,
} as const;

/** Returns records for the operation, and a few for other operations. */
function linesOf(operation: OperationId, random: Random): string[] {
  const n = random.below(1e9);
  const ts = Date.now() / 1000 - random.below(1000);
  const conn = `{"ts":${ts},"uid":"F${n}","id.orig_h":"10.0.0.${n % 256}","id.orig_p":${n % 65536},"id.resp_h":"203.0.113.${n % 256}","id.resp_p":443,"proto":"tcp","conn_state":"SF"}`;
  const dns = `{"ts":${ts},"uid":"D${n}","id.orig_h":"10.0.0.${n % 256}","id.orig_p":5353,"id.resp_h":"10.0.0.1","id.resp_p":53,"proto":"udp","query":"a${n}.example","qtype_name":"A","rcode":0}`;
  const others = ['{}', '[]', '{', '#fields\tts\tuid', random.pick(fragments), random.bytes(20).toString('latin1')];
  if (operation.startsWith('elastic')) return ['{"create":{}}', `{"index":{"_id":"${n % 50}"}}`, conn, dns, ...others];
  if (operation.startsWith('splunk')) return [`{"event":${conn}}`, `{"event":"x","time":${n}}`, dns, ...others];
  if (operation === 'otlpLogs')
    return [
      `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":${JSON.stringify(conn)}}}]}]}]}`,
      ...others,
    ];
  return [conn, conn, dns, ...others];
}
