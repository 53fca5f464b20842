import { describe, expect, onTestFinished, test } from 'vitest';
import { ExternalTriage, type SecondOpinionOptions } from '../../../../src/alerts/triage/external/external-triage.ts';
import { limits } from '../../../../src/limits.ts';
import { compileHome } from '../../../../src/net/home-networks.ts';
import type { AlertUpdate } from '../../../../src/store/store.ts';
import { alertsIn, batchOf, finding, type Opened, opened } from '../../../store/opened.ts';
import { answers, type Behaviour, endpointServer, says, verdict } from './endpoint-server.ts';

const key = 'sk-secret-of-the-endpoint';

interface Around extends Opened {
  readonly server: Awaited<ReturnType<typeof endpointServer>>;
  readonly opinions: ExternalTriage;
  readonly outcomes: string[];
  readonly troubles: string[];
  /** Sets the clock of the request rate. */
  readonly time: { now: number };
  /** Raises this many alerts and passes them to the triage. */
  readonly raise: (n: number, changes?: Parameters<typeof finding>[0]) => Promise<AlertUpdate['alert'][]>;
  readonly verdictOf: (id: string) => unknown;
}

async function around(behaviour: Behaviour, changes: Partial<SecondOpinionOptions> = {}): Promise<Around> {
  const store = opened({ home: ['10.0.0.0/8'] });
  const server = await endpointServer(behaviour);
  const outcomes: string[] = [];
  const troubles: string[] = [];
  const time = { now: Date.now() };
  const opinions = new ExternalTriage({
    endpoint: { url: server.url, model: 'm', apiKey: key, timeoutMs: 10_000 },
    minSeverity: 'high',
    maxPerMinute: 1000,
    redact: true,
    isHome: compileHome(['10.0.0.0/8']),
    store: store.store,
    reader: store.reader,
    onOutcome: (outcome) => outcomes.push(outcome),
    limitReached: (limit) => outcomes.push(limit),
    onTrouble: (message, details) => troubles.push(`${message} ${JSON.stringify(details)}`),
    now: () => time.now,
    newMark: () => 'mark',
    ...changes,
  });
  onTestFinished(async () => {
    await opinions.close();
    await server.close();
  });
  let raised = 0;
  return {
    ...store,
    server,
    opinions,
    outcomes,
    troubles,
    time,
    raise: async (n, more = {}) => {
      const findings = Array.from({ length: n }, () =>
        finding({
          severity: 'high',
          rule_id: `1:${raised}`,
          src_ip: `10.0.${raised >> 8}.${raised++ & 255}`,
          ...more,
        }),
      );
      const { alerts } = await store.store.commit(batchOf(findings));
      opinions.saw(alerts);
      return alerts.map(({ alert }) => alert);
    },
    verdictOf: (id) => store.reader.getAlert(id)?.ai_verdict,
  };
}

describe('a response', () => {
  test('replaces only the local verdict, with names restored', async () => {
    const { raise, server, outcomes, notices, reader } = await around(says(verdict()));
    const [alert] = await raise(1, { title: 'Guessing on db.corp.example' });
    await expect.poll(() => outcomes).toEqual(['answered']);
    const after = reader.getAlert(alert!.id);
    expect(after).toMatchObject({ status: 'new', severity: 'high', version: 2 });
    expect(after).not.toHaveProperty('verdict');
    expect(after?.ai_verdict).toMatchObject({
      verdict: 'benign',
      confidence: 0.8,
      model: 'endpoint/m',
      reasons: ['10.0.0.0 is a backup server.'],
    });
    expect(alertsIn(notices.slice(-1)).map(({ alert: { id } }) => id)).toEqual([alert!.id]);
    expect(alertsIn(notices)).toHaveLength(2);
    const [question] = server.questions;
    expect(question).toMatchObject({
      url: '/v1/chat/completions',
      authorization: `Bearer ${key}`,
      body: { model: 'm' },
    });
    expect(JSON.stringify(question!.body)).not.toMatch(/10\.0\.0\.0|corp\.example/);
  });

  test('is requested once per triage for severe open alerts without an analyst verdict', async () => {
    const { raise, server, opinions, store, outcomes, notices } = await around(says(verdict()));
    await raise(1, { severity: 'medium' });
    const [alert] = await raise(1);
    await expect.poll(() => outcomes).toEqual(['answered']);
    opinions.saw(alertsIn(notices.slice(-1)));
    const noted = await store.changeAlert(alert!.id, { note: 'x' }, { id: 'p', name: 'ana' });
    opinions.saw([noted]);
    const judged = await store.changeAlert(
      alert!.id,
      { verdict: 'benign', severity: 'critical' },
      { id: 'p', name: 'ana' },
    );
    opinions.saw([judged]);
    expect(server.questions).toHaveLength(1);
  });
});

const valid = JSON.stringify(verdict());
const wrong: [string, Behaviour, string][] = [
  ['garbage', says('I think it is benign.'), 'malformed'],
  ['a verdict in a code fence', says(`\`\`\`json\n${valid}\n\`\`\``), 'malformed'],
  ['a verdict reserved for analysts', says(verdict({ verdict: 'duplicate' })), 'malformed'],
  ['a confidence above 1', says(verdict({ confidence: 1.5 })), 'malformed'],
  ['a confidence as text', says(verdict({ confidence: '0.5' })), 'malformed'],
  ['no reasons', says(verdict({ reasons: [] })), 'malformed'],
  ['an overlong reason', says(verdict({ reasons: ['x'.repeat(501)] })), 'malformed'],
  ['a response that is not JSON', answers(200, {}, '<html>'), 'malformed'],
  ['no choices', answers(200, {}, '{"choices":[]}'), 'malformed'],
  ['an overlong response', answers(200, {}, valid + ' '.repeat(limits.maxTriageAnswerBytes)), 'too_long'],
  ['status 500', answers(500, {}, `no key ${key}`), 'unavailable'],
  ['status 429', answers(429), 'unavailable'],
  ['a 401 response that repeats the key', answers(401, {}, `bad key ${key}`), 'unauthorised'],
  ['status 404', answers(404), 'refused'],
  ['a closed connection', (_, __, request) => request.socket.destroy(), 'unreachable'],
];

test.for(wrong)(
  '%s leaves the local verdict unchanged and is reported without the API key',
  async ([, behaviour, failure]) => {
    const { raise, outcomes, troubles, verdictOf } = await around(behaviour);
    const [alert] = await raise(1);
    await expect.poll(() => outcomes).toEqual([failure]);
    expect(verdictOf(alert!.id)).toEqual(alert!.ai_verdict);
    expect(troubles).toHaveLength(1);
    expect(troubles[0]).toContain('local verdicts');
    expect(troubles[0]).not.toContain(key);
  },
);

test('members of a response other than the verdict are ignored', async () => {
  const { raise, outcomes, reader } = await around(says(verdict({ status: 'resolved', note: 'x' })));
  const [alert] = await raise(1);
  await expect.poll(() => outcomes).toEqual(['answered']);
  await expect.poll(() => reader.getAlert(alert!.id)?.ai_verdict?.model).toMatch(/^endpoint/);
  expect(reader.getAlert(alert!.id)).toMatchObject({ status: 'new', note_count: 0 });
});

test('a redirect is not followed', async () => {
  const other = await endpointServer();
  onTestFinished(() => other.close());
  const { raise, outcomes } = await around(answers(307, { location: `${other.url}/chat/completions` }));
  await raise(1);
  await expect.poll(() => outcomes).toEqual(['redirected']);
  expect(other.questions).toEqual([]);
});

test('a slow response times out', async () => {
  const server = await endpointServer(() => undefined);
  onTestFinished(() => server.close());
  const endpoint = { url: server.url, model: 'm', apiKey: undefined, timeoutMs: 50 };
  const { raise, outcomes } = await around(says(verdict()), { endpoint });
  await raise(1);
  await expect.poll(() => outcomes).toEqual(['timeout']);
  expect(server.questions[0]?.authorization).toBeUndefined();
});

test('a response is dropped if the alert was triaged again during the request', async () => {
  let answer: () => void = () => undefined;
  const { raise, outcomes, store, clock, server, verdictOf } = await around((response, question, request) => {
    answer = () => says(verdict())(response, question, request);
  });
  const [alert] = await raise(1);
  await expect.poll(() => server.questions.length).toBe(1);
  clock.now += 1000;
  const { alert: after } = await store.changeAlert(alert!.id, { status: 'in_progress' }, { id: 'p', name: 'ana' });
  answer();
  await expect.poll(() => outcomes).toEqual(['stale']);
  expect(verdictOf(alert!.id)).toEqual(after.ai_verdict);
});

describe('the queue of requests', () => {
  test('limits concurrent requests, keeps the newest alerts and counts the dropped alerts', async () => {
    const held: (() => void)[] = [];
    const { raise, outcomes, server } = await around((...to) => void held.push(() => says(verdict())(...to)));
    const more = 5;
    await raise(limits.maxTriageInFlight + limits.maxTriageQueue + more, {});
    await expect.poll(() => held.length).toBe(limits.maxTriageInFlight);
    expect(outcomes.filter((outcome) => outcome === 'not_asked')).toHaveLength(more + limits.maxTriageInFlight);
    expect(outcomes).toContain('maxTriageQueue');
    for (const answer of held.splice(0)) answer();
    await expect.poll(() => server.questions.length).toBe(2 * limits.maxTriageInFlight);
  });

  test('limits the requests per minute', async () => {
    const { raise, outcomes, server, time, opinions } = await around(says(verdict()), { maxPerMinute: 2 });
    await raise(5);
    await expect.poll(() => outcomes.length).toBe(2);
    time.now += 59_000;
    opinions.saw([]);
    expect(server.questions).toHaveLength(2);
    time.now += 1001;
    opinions.saw([]);
    await expect.poll(() => outcomes.length).toBe(4);
    expect(server.questions).toHaveLength(4);
  });

  test('backs off exponentially after failures until a success', async () => {
    const { raise, outcomes, server, time, opinions, troubles } = await around(answers(503));
    const later = async (ms: number, asked: number) => {
      time.now += ms;
      opinions.saw([]);
      await expect.poll(() => outcomes.length).toBe(asked);
    };
    await raise(1);
    await later(0, 1);
    await raise(3);
    expect(server.questions).toHaveLength(1);
    await later(1000, 2);
    await later(1000, 2);
    await later(1000, 3);
    expect(troubles).toHaveLength(1);
    server.behaviour = says(verdict());
    await later(4000, 4);
    expect(outcomes).toEqual(['unavailable', 'unavailable', 'unavailable', 'answered']);
  });

  test('aborts requests in progress when it is closed', async () => {
    const { raise, opinions, server, outcomes } = await around(() => undefined);
    await raise(3);
    await expect.poll(() => server.questions.length).toBe(3);
    await opinions.close();
    expect(outcomes).toEqual([]);
  });
});
