import { readFileSync } from 'node:fs';
import { random } from '../../scripts/traffic/random.ts';
import type { Named } from './candor.ts';
import type { Peer } from './peer.ts';
import type { Kind, Question } from './questions.ts';

/** One engine's times for one kind of query, in milliseconds and in the order of the runs. */
export interface Asked {
  readonly kind: Kind;
  readonly engine: string;
  readonly times: readonly number[];
  /** Number of results that differ from those of the first engine although they must be equal. */
  readonly differing: number;
  /** Description of the first differing result. */
  readonly example: string | undefined;
}

const turns = 4;
const askedPerTurn = 50;
/** Maximum time of an engine's turn, in milliseconds. Slow queries therefore run less often. */
const turnMs = 1500;
/** Number of runs that are not counted, because code is compiled and files are read. */
const warmUp = 3;

/** Runs the same queries on each engine in turn. A slow engine runs fewer of them. */
export async function askInTurn(
  all: readonly Peer[],
  files: readonly string[],
  named: readonly Named[],
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const [kind, make] of Object.entries(questionsFrom(files, named)) as [Kind, () => Question][]) {
    const warm = Array.from({ length: warmUp }, make);
    for (const one of all) for (const question of warm) await one.ask(question);
    const its = all.map(({ engine }) => ({
      kind,
      engine,
      times: [] as number[],
      differing: 0,
      example: undefined as string | undefined,
    }));
    for (let turn = 0; turn < turns; turn++) {
      const questions = Array.from({ length: askedPerTurn }, make);
      const expected: string[] = [];
      for (const [at, one] of all.entries()) {
        const result = its[at]!;
        const began = performance.now();
        for (const [n, question] of questions.entries()) {
          const { ms, answer } = await one.ask(question);
          result.times.push(ms);
          const said = JSON.stringify(answer);
          expected[n] ??= said;
          if (said !== expected[n]) {
            result.differing++;
            result.example ??= `${said} where ${all[0]?.engine} has ${expected[n]}: ${JSON.stringify(question)}`;
          }
          if (performance.now() - began > turnMs) break;
        }
      }
    }
    asked.push(...its);
  }
  return asked;
}

/** Returns for each kind a generator of queries, with values from lines at random positions. */
function questionsFrom(files: readonly string[], named: readonly Named[]): Record<Kind, () => Question> {
  const rng = random(11);
  const lines = Array.from({ length: 40 }, () => pick(rng.int, files)).flatMap((file) => {
    const texts = readFileSync(file, 'utf8').trimEnd().split('\n');
    return Array.from({ length: 25 }, () => JSON.parse(pick(rng.int, texts)) as ConnLine);
  });
  const [first, last] = [files[0], files.at(-1)].map((file) => {
    const [line = '{}'] = readFileSync(file ?? '', 'utf8').split('\n', 1);
    return Math.floor((JSON.parse(line) as ConnLine).ts * 1000);
  }) as [number, number];
  const someLine = () => pick(rng.int, lines);
  const dayAgo = Math.floor(Date.now() - 86_400_000);
  return {
    'newest page': () => ({ kind: 'newest page' }),
    'page of an address': () => ({ kind: 'page of an address', ip: someLine()['id.orig_h'] }),
    'page of a port and time range': () => {
      const from = first + rng.int(0, Math.max(1, Math.floor((last - first) * 0.9)));
      const to = from + Math.ceil((last - first) / 10);
      return { kind: 'page of a port and time range', port: someLine()['id.resp_p'], from, to };
    },
    'exact total of a port': () => ({ kind: 'exact total of a port', port: someLine()['id.resp_p'] }),
    'ten top talkers of a day': () => ({ kind: 'ten top talkers of a day', from: dayAgo }),
    'distinct addresses of a day': () => ({ kind: 'distinct addresses of a day', from: dayAgo }),
    'by connection id': () => ({ kind: 'by connection id', connectionId: someLine().uid }),
    'get by id': () => ({ kind: 'get by id', ...pick(rng.int, named) }),
  };
}

interface ConnLine {
  readonly ts: number;
  readonly uid: string;
  readonly 'id.orig_h': string;
  readonly 'id.resp_p': number;
}

function pick<T>(int: (from: number, to: number) => number, items: readonly T[]): T {
  return items[int(0, items.length)]!;
}
