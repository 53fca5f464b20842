/**
 * The page of results: the questions, the machine, and a section for each benchmark. The functions only convert texts.
 */
import type { BenchRow } from './result.ts';

/** A benchmark as shown on the page. */
export interface Asked {
  readonly name: string;
  /** The comment at the top of the benchmark's file, as `aboutIn` reads it. */
  readonly about: string;
  /** Reason why the benchmark runs only on request. */
  readonly onlyNamed?: string | undefined;
}

/** The environment of a run. */
export interface Ground {
  /** Date of the run, such as `2026-11-22`. */
  readonly date: string;
  readonly machine: string;
  readonly versions: string;
}

/** Returns the sections of a page. The key of a section is the name of its benchmark. */
export function sectionsOf(page: string, names: readonly string[]): Map<string, string> {
  const parts = page.split(/^(?=## )/m).map((part) => [part.split('\n', 1)[0]!.slice(3), part.trimEnd()] as const);
  return new Map(parts.filter(([name]) => names.includes(name)));
}

/** Returns the first comment of a file, as one paragraph. */
export function aboutIn(source: string): string {
  const comment = /\/\*\*(.*?)\*\//s.exec(source)?.[1] ?? '';
  return comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim();
}

export function section({ name, about }: Asked, rows: readonly BenchRow[], ground: Ground): string {
  const tables = [...Map.groupBy(rows, (row) => row.question)].map(([question, its]) =>
    [
      `**${question}**`,
      '',
      '| variant | value | lowest–highest | unit | |',
      '|---|---:|---:|---|---|',
      ...its.map(line),
    ].join('\n'),
  );
  const on = `${ground.date} · ${ground.machine} · ${ground.versions}`;
  return [`## ${name}`, about, on, ...tables].join('\n\n');
}

function line({ variant, value, low, high, unit, note = '' }: BenchRow): string {
  const spread = low === undefined || high === undefined ? '' : `${number(low)}–${number(high)}`;
  return `| ${[variant, number(value), spread, unit, note].map(cell).join(' | ')} |`;
}

const cell = (text: string) => text.replaceAll('|', '\\|');

/** Formats a number with three significant digits; whole numbers and thousands have all digits. */
export function number(value: number): string {
  const rounded = Math.abs(value) < 1000 ? value : Math.round(value);
  return Number.isInteger(rounded) ? rounded.toLocaleString('en') : rounded.toPrecision(3);
}

export function page(asked: readonly Asked[], sections: ReadonlyMap<string, string>, ground: Ground): string {
  const peers = ['peers', 'syslog'].flatMap((name) => peerVersions(sections.get(name) ?? ''));
  return `${[
    '# Benchmarks',
    'Written by `npm run bench`: all figures are measurements. Compare ratios within one run, not figures of different machines.',
    ...howToRun(asked),
    '## Questions',
    ['| benchmark | question |', '|---|---|', ...asked.map(questionLine)].join('\n'),
    '## Environment',
    [
      `The latest run was on ${ground.date}; each section says when and on what it was measured.`,
      '',
      `- machine: ${ground.machine}`,
      `- versions: ${ground.versions}`,
      ...(peers.length === 0 ? [] : [`- peers: ${peers.join(', ')}`]),
    ].join('\n'),
    ...asked.flatMap(({ name }) => sections.get(name) ?? []),
  ].join('\n\n')}\n`;
}

function howToRun(asked: readonly Asked[]): string[] {
  const named = asked.filter(({ onlyNamed }) => onlyNamed !== undefined);
  const two = asked.slice(0, 2).map(({ name }) => name);
  const commands = {
    'npm run bench': `all but ${named.map(({ name }) => name).join(', ')}: under 40 minutes`,
    [`npm run bench ${two.join(' ')}`]: 'only these; each replaces its own section',
    [`node bench/${two[0]}.ts 5`]: 'one without the page; many take another time or size as an argument',
  };
  const width = Math.max(...Object.keys(commands).map(({ length }) => length));
  const lines = Object.entries(commands).map(([command, what]) => `${command.padEnd(width)}   # ${what}`);
  return [
    '## How to run',
    ['```sh', ...lines, '```'].join('\n'),
    named.map(({ name, onlyNamed }) => `- \`${name}\` runs only when it is named: it ${onlyNamed}.`).join('\n'),
    'Each benchmark is a file with one question. Benchmarks start the processes that they measure, and leave nothing behind. A value with a spread is the median of several rounds, and the spread is the lowest and the highest of them; a value without one was measured once. Memory is RssAnon: the private memory of a process, without mapped files.',
  ];
}

function questionLine({ name, about }: Asked): string {
  const question = about.slice(0, about.indexOf('?') + 1) || about;
  return `| [${name}](${name}.ts) | ${cell(question)} |`;
}

/** Returns the versions that peers report, from the notes of their rows. */
function peerVersions(text: string): string[] {
  return [...new Set(text.match(/\b(ClickHouse|DuckDB|PostgreSQL|rsyslog|syslog-ng) v?\d+(\.\w+)+/g) ?? [])];
}
