import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { login, type Service } from '../../scripts/service.ts';
import type { Policy } from '../../src/contract/resources/policy.ts';
import { routeOf } from '../../src/contract/routes.ts';
import { type Role, roles } from '../../src/contract/vocabulary.ts';
import { exchange, type Outcome, sendFrames, sendPacket } from './exchange.ts';
import { randomFrames, randomUpgrade } from './frames.ts';
import { randomPacket } from './packets.ts';
import { Random } from './random.ts';
import { randomRequest, restrained } from './requests.ts';
import { SeenIds } from './values.ts';

export interface Fault {
  /** Seed that reproduces the choices of a run. */
  readonly seed: number;
  readonly about: string;
  readonly problem: string;
}

type Kind = 'requests' | 'packets' | 'sockets';

/** Operations whose successes are counted, because they need more than a valid request. */
const counted: ReadonlySet<string> = new Set([...restrained, 'getNetworkEventProof', 'getDnsEventProof']);

const atOnce = 40;
const gaugesEveryMs = 1000;
/** Maximum faults reported in full; further faults would only repeat them. */
const maxFaults = 50;

/** Sends random requests, packets and WebSocket frames to a service, and collects faults. */
export class Fuzzer {
  readonly faults: Fault[] = [];
  /** Number of exchanges by kind and outcome. */
  readonly outcomes = new Map<string, number>();
  readonly #service: Service;
  readonly #port: number;
  readonly #seen = new SeenIds();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  #tokens: Record<string, string> = {};
  /** Token that issues the other tokens. No request uses it. */
  #issuer = '';
  #renewal: Promise<void> | undefined;
  #seed: number;
  #until = 0;
  readonly #done = { requests: 0, packets: 0, sockets: 0 };

  private constructor(service: Service, seed: number) {
    this.#service = service;
    this.#port = Number(new URL(service.url).port);
    this.#seed = seed;
  }

  static async start(service: Service, seed: number): Promise<Fuzzer> {
    const fuzzer = new Fuzzer(service, seed);
    const headers = { authorization: `Bearer ${await login(service)}` };
    fuzzer.#seen.protect(await (await fetch(`${service.url}/auth/me`, { headers })).text());
    const policy = await (await fetch(`${service.url}${routeOf('getPolicy').path}`, { headers })).json();
    fuzzer.#seen.rules = (policy as { data: { attributes: Policy } }).data.attributes.rules;
    fuzzer.#issuer = await fuzzer.#issue(headers, 'admin');
    await fuzzer.#renewTokens();
    return fuzzer;
  }

  /** Issues a token that no request of the fuzzer revokes. */
  tokenFor(role: Role): Promise<string> {
    return this.#issue({ authorization: `Bearer ${this.#issuer}` }, role);
  }

  /** Number of exchanges so far, by kind. */
  get done(): Readonly<Record<Kind, number>> {
    return this.#done;
  }

  /** Resolves after this time, once every exchange is over and every connection closed. */
  async run(forMs: number): Promise<void> {
    this.#until = performance.now() + forMs;
    const workers = Array.from({ length: atOnce }, async () => {
      while (performance.now() < this.#until) await this.#one(this.#seed++);
    });
    await Promise.all([...workers, this.#watchGauges()]);
    this.#agent.destroy();
    await this.#atRest();
  }

  async #one(seed: number): Promise<void> {
    const random = new Random(seed);
    const kind = random.below(10);
    if (kind === 0) {
      const packet = randomPacket(random);
      await this.#attempt(seed, `packet ${packet.name}`, 'packets', () => sendPacket(this.#port, packet));
    } else if (kind === 1) {
      const frames = randomFrames(random, this.#tokens, this.#seen);
      const upgrade = randomUpgrade(random, this.#tokens);
      await this.#attempt(seed, upgrade.split('\r\n', 1)[0]!, 'sockets', () =>
        sendFrames(this.#port, upgrade, frames, random.chance(0.2)),
      );
    } else {
      const asked = randomRequest(random, this.#tokens, this.#seen);
      const { method, target, operation, holder, body } = asked;
      const about = `${operation} as ${holder}: ${method} ${target.slice(0, 500)} ${body?.toString('latin1').slice(0, 500) ?? ''}`;
      await this.#attempt(seed, about, 'requests', async () => {
        const [outcome, text] = await exchange(this.#service.url, this.#agent, asked);
        this.#seen.collect(text);
        if (counted.has(operation) && outcome.startsWith('2')) this.#count(`succeeded: ${operation}`);
        // After a 401 the tokens are renewed, because a request may have revoked the token. A 401 of a session
        // operation is ignored, because it may refer to other credentials.
        const { authorization } = asked.headers;
        const isOwn = holder !== 'forged' && authorization === `Bearer ${this.#tokens[holder]}`;
        if (outcome === '401' && isOwn && routeOf(operation).tag !== 'auth') await this.#renewTokens();
        return [outcome];
      });
    }
  }

  async #attempt(seed: number, about: string, kind: Kind, work: () => Promise<Outcome[]>): Promise<void> {
    this.#done[kind]++;
    try {
      for (const outcome of await work()) this.#count(`${kind}: ${outcome}`);
    } catch (error) {
      this.#fail(seed, about, error);
      this.#count(`${kind}: fault`);
    }
  }

  #count(name: string): void {
    this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
  }

  #fail(seed: number, about: string, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    if (this.faults.length < maxFaults) this.faults.push({ seed, about, problem: problem.slice(0, 1000) });
  }

  #renewTokens(): Promise<void> {
    this.#renewal ??= this.#issueTokens().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #issueTokens(): Promise<void> {
    const headers = { authorization: `Bearer ${this.#issuer}` };
    const tokens = Object.fromEntries(
      await Promise.all(roles.map(async (role) => [role, await this.#issue(headers, role)])),
    );
    this.#tokens = { ...tokens, nobody: '', forged: `${tokens.admin}x` };
  }

  async #issue(headers: { readonly authorization: string }, role: Role): Promise<string> {
    const answer = await fetch(`${this.#service.url}/api/v1/tokens`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `${role} ${crypto.randomUUID()}`, scopes: [role] }),
    });
    const text = await answer.text();
    if (answer.status !== 201) throw new Error(`no token for the fuzzer: ${answer.status} ${text}`);
    this.#seen.protect(text);
    return (JSON.parse(text) as { data: { attributes: { token: string } } }).data.attributes.token;
  }

  async #watchGauges(): Promise<void> {
    while (performance.now() < this.#until) {
      for (const [name, value] of await this.#gauges()) {
        // The comparison is also false for NaN.
        if (!(value >= 0)) this.#fail(this.#seed, 'gauges', `${name} is ${value}`);
      }
      await pause(gaugesEveryMs);
    }
  }

  async #gauges(): Promise<Map<string, number>> {
    // Uses a new connection, because idle connections may be closed while the next request is on its way.
    const headers = { connection: 'close' };
    const text = await (await fetch(`${this.#service.url}/metrics`, { headers })).text();
    const lines = text.matchAll(/^(candor_[^\s{]+(?:\{.*\})?) (\S+)$/gm);
    return new Map(Array.from(lines, ([, name, value]) => [name!, Number(value)]));
  }

  /** Checks that the exchanges left no state behind. */
  async #atRest(): Promise<void> {
    const most: Readonly<Record<string, number>> = {
      candor_http_connections: 10,
      candor_http_requests_in_flight: 1,
      candor_http_unsent_bytes: 0,
      candor_ingest_body_bytes: 0,
      candor_sockets: 0,
    };
    const deadline = performance.now() + 60_000;
    for (;;) {
      const gauges = await this.#gauges();
      const left = Object.keys(most).filter((name) => !(gauges.get(name)! <= most[name]!));
      if (left.length === 0) return;
      if (performance.now() > deadline) {
        for (const name of left) this.#fail(this.#seed, 'at rest', `${name} is ${gauges.get(name)}`);
        return;
      }
      await pause(200);
    }
  }
}
