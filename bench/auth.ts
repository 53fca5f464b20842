/**
 * How much does authentication cost, with 100,000 tokens of 10,000 principals stored? Long-lived tokens and access
 * tokens (JWTs), mostly in random order, are passed to the service's `Authorization` check. Then the same requests are
 * sent over HTTP, and compared with a request to a public operation. The records are written directly, without the
 * store's log entries, which are not measured here.
 */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { jwtVerify } from 'jose';
import { pino } from 'pino';
import { openDatabase } from '../src/database/lmdb.ts';
import type { Endpoint } from '../src/http/endpoint.ts';
import { data } from '../src/http/reply.ts';
import { startServer } from '../src/http/server.ts';
import { accessTokens } from '../src/identities/access-token.ts';
import { createAuthenticator } from '../src/identities/authenticate.ts';
import { newSecret, secretHash, writeSecret } from '../src/identities/secrets.ts';
import { TokenUses } from '../src/identities/token-uses.ts';
import { limits } from '../src/limits.ts';
import { openReader } from '../src/store/reader.ts';
import type { Principal, Token } from '../src/store/store.ts';
import { databaseFile, openTables } from '../src/store/tables.ts';
import { uuid7 } from '../src/uuid.ts';
import { type BenchRow, median, rowOfRounds } from './result.ts';

const principals = 10_000;
const machineTokens = 90_000;
const sessions = 10_000;
const calls = 100_000;
const batch = 500;
const requests = 2000;
const rounds = 15;
const bearer = (token: string) => Buffer.from(`Bearer ${token}`, 'latin1').toString('latin1');
const terms = { issuer: 'candor', audience: 'candor' };

export async function run(): Promise<BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-bench-auth-'));
  const now = Date.now();
  const { bearers, sessionTokens } = fill(dataDir, now);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const kid = randomUUID();
  const jwk = (key: KeyObject) => ({ ...key.export({ format: 'jwk' }), kid }) as Record<string, string>;
  const keys = { current: jwk(privateKey), verifying: [jwk(publicKey)] };
  const reader = openReader(dataDir);
  const issuer = accessTokens(keys, terms);
  const jwts: string[] = [];
  for (const { jti, principal_id, roles } of sessionTokens)
    jwts.push(bearer(await issuer.issue({ sub: principal_id, jti, roles }, now)));

  const startMiB = rssAnonMiB();
  const startHeap = process.memoryUsage().heapUsed;
  const uses = new TokenUses({ noteTokenUse: async () => undefined }, () => undefined);
  const authenticate = createAuthenticator(reader, accessTokens(keys, terms), (jti, at) => uses.note(jti, at));
  const present = (authorization: string | undefined) => authenticate({ authorization }, now);

  const first = await each(jwts, present);
  for (const header of bearers) await present(header);
  const endMiB = rssAnonMiB();
  const heapMiB = (process.memoryUsage().heapUsed - startHeap) / 2 ** 20;
  const longLived = await random(bearers, present);
  const known = await random(jwts, present);
  const jose = await each(jwts.slice(0, 2000), (header) =>
    jwtVerify(header.slice('Bearer '.length), publicKey, { ...terms, algorithms: ['EdDSA'] }),
  );
  const nothing = await random(bearers, async () => undefined);
  const http = await overHttp(present, { long: bearers, jwt: jwts });
  reader.close();
  rmSync(dataDir, { recursive: true });

  const call = 'An authentication, 100,000 tokens and 10,000 principals stored';
  const request = 'CPU of a request over HTTP, its client included';
  const row = (question: string, variant: string, value: number, unit: string, note = ''): BenchRow => ({
    question,
    variant,
    value,
    unit,
    note,
  });
  const rounds = (variant: string, spent: readonly number[], note: string) =>
    rowOfRounds({ question: request, variant, unit: 'µs', note }, spent);
  return [
    row(call, 'long-lived token', longLived, 'µs', 'random of 90,000'),
    row(call, 'access token, known', known, 'µs', `random of ${limits.maxVerifiedTokens.toLocaleString('en')}`),
    row(call, 'access token, for the first time', first, 'µs', 'its signature is checked'),
    row(call, 'jose jwtVerify alone', jose, 'µs'),
    row(call, 'no credentials', nothing, 'µs', 'the loop alone'),
    row(call, 'RssAnon after all tokens were presented', endMiB - startMiB, 'MiB', 'growth'),
    row(call, 'heap after all tokens were presented', heapMiB, 'MiB', 'growth, collected'),
    rounds('long-lived token, to a public operation', http.longIgnored, 'the token is ignored'),
    rounds('long-lived token', http.long, added(http.long, http.longIgnored)),
    rounds('access token, to a public operation', http.jwtIgnored, 'the token is ignored'),
    rounds('access token, known', http.jwt, added(http.jwt, http.jwtIgnored)),
  ];
}

const added = (value: readonly number[], base: readonly number[]) =>
  `${(median(value) - median(base)).toFixed(1)} more`;

/** Writes the principals and tokens; returns the tokens. */
function fill(dataDir: string, now: number) {
  const root = openDatabase(join(dataDir, databaseFile));
  const tables = openTables(root);
  const issued_at = new Date(now).toISOString();
  const ids = Array.from({ length: principals }, () => uuid7(now));
  const bearers: string[] = [];
  const sessionTokens: Token[] = [];
  const tokenOf = (n: number, kind: Token['kind'], secret: string): Token => ({
    jti: uuid7(now),
    principal_id: ids[n % principals]!,
    kind,
    roles: ['sensor'],
    secret_hash: secretHash(secret),
    issued_at,
    expires_at: new Date(now + 7 * 24 * 3600 * 1000).toISOString(),
  });
  root.transactionSync(() => {
    for (const [n, id] of ids.entries()) {
      const name = `sensor-${n}`;
      const known = { id, name, kind: 'sensor', roles: ['sensor'], status: 'active', created_at: issued_at };
      tables.principals.putSync(id, known as Principal);
    }
    for (let n = 0; n < machineTokens; n++) {
      const secret = newSecret();
      const token = { ...tokenOf(n, 'long_lived', secret), name: `token ${n}` };
      tables.tokens.putSync(token.jti, token);
      bearers.push(bearer(writeSecret('long_lived', { jti: token.jti, secret })));
    }
    for (let n = 0; n < sessions; n++) {
      const secret = newSecret();
      const token = { ...tokenOf(n, 'session', secret), family_hash: secretHash(secret) };
      tables.tokens.putSync(token.jti, token);
      sessionTokens.push(token);
    }
  });
  return { bearers, sessionTokens };
}

/** Returns the median of batches in µs per call, because timings vary on shared machines. Uses each item once. */
async function each(items: readonly string[], call: (item: string) => Promise<unknown>): Promise<number> {
  const batches: number[] = [];
  for (let from = 0; from + batch <= items.length; from += batch) {
    const start = performance.now();
    for (let n = from; n < from + batch; n++) await call(items[n]!);
    batches.push(((performance.now() - start) * 1000) / batch);
  }
  return batches.sort((a, b) => a - b)[batches.length >> 1]!;
}

/** Returns µs per call, with random items. */
function random(items: readonly string[], call: (item: string) => Promise<unknown>): Promise<number> {
  return each(
    Array.from({ length: calls }, () => items[Math.floor(Math.random() * items.length)]!),
    call,
  );
}

/**
 * Returns the CPU time per request in µs, of server and client together, because they share this process. The kinds of
 * requests alternate, because timings vary on shared machines.
 */
async function overHttp(
  present: (authorization: string | undefined) => ReturnType<ReturnType<typeof createAuthenticator>>,
  tokens: { readonly long: readonly string[]; readonly jwt: readonly string[] },
) {
  const endpoint = (operation: string, access: Endpoint['access']): Endpoint => ({
    operation,
    method: 'GET',
    path: `/${operation}`,
    access,
    run: () => data({ ok: true }),
  });
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    endpoints: [endpoint('open', 'public'), endpoint('closed', ['sensor'])],
    authenticate: ({ authorization }) => present(authorization),
    log: pino({ level: 'silent' }),
    observer: { answered: () => undefined, limitReached: () => undefined },
    drainMs: 1000,
  });
  const kinds = {
    longIgnored: ['/open', tokens.long],
    long: ['/closed', tokens.long],
    jwtIgnored: ['/open', tokens.jwt],
    jwt: ['/closed', tokens.jwt],
  } as const;
  const spent = { longIgnored: [], long: [], jwtIgnored: [], jwt: [] } as Record<keyof typeof kinds, number[]>;
  for (let round = 0; round <= rounds; round++)
    for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
      const start = process.cpuUsage();
      const [path, presented] = kinds[kind];
      await ask(server.port, path, presented);
      const { user, system } = process.cpuUsage(start);
      if (round > 0) spent[kind].push((user + system) / requests);
    }
  await server.close();
  return spent;
}

/** Uses one connection, with one request after the other. */
async function ask(port: number, path: string, tokens: readonly string[]): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let left = requests;
  const next = () => {
    const header = tokens[Math.floor(Math.random() * tokens.length)];
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${header}\r\n\r\n`);
  };
  socket.on('data', (bytes) => {
    if (bytes.indexOf('HTTP/1.1 200 ') !== 0) socket.destroy(new Error(bytes.toString('latin1', 0, 100)));
    else if (--left > 0) next();
    else socket.end();
  });
  next();
  await once(socket, 'close');
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function rssAnonMiB(): number {
  collect();
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}
