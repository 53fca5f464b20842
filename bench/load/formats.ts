/** The formats of events as their senders send them: the path, the body made of lines, and the response. */
import { connLines, floodLines, hostLines, traffic } from '../../scripts/traffic/index.ts';
import { ecsFlow, eveFlow, nativeFlow, tsvHeader, tsvRow } from './flows.ts';
import { type Marks, type MovingBodies, moving, spanOf, zeekJson, zeekJsonBodies } from './moving.ts';
import { otlpJson, otlpProtobuf } from './otlp.ts';

export interface Format {
  readonly path: string;
  readonly contentType: string;
  /** Scheme of the credentials. Default: Bearer. */
  readonly scheme?: string;
  /** Yields `count` lines of the format. Default: `connLines`. */
  readonly lines?: (count: number) => Iterable<string>;
  /** Creates an endless sequence of bodies, in which the lines recur. */
  readonly bodies: (lines: readonly string[], linesPerBody: number) => MovingBodies;
  /** Returns whether the response reports that the whole body was stored. */
  readonly isTaken: (answer: string) => boolean;
}

/** Marks of Zeek's lines within a JSON text. */
const quotedZeekJson: Marks = { epochs: /\\"ts\\":(?=\d{10})/g, ids: /\\"uid\\":\\"C/g };

const joined = (lines: readonly string[]) => Buffer.from(`${lines.join('\n')}\n`);
const made =
  (body: (lines: readonly string[]) => Buffer, marks: Marks): Format['bodies'] =>
  (lines, linesPerBody) => {
    const all = Array.from({ length: Math.floor(lines.length / linesPerBody) }, (_, n) =>
      body(lines.slice(n * linesPerBody, (n + 1) * linesPerBody)),
    );
    return moving(all, linesPerBody, marks, spanOf(lines));
  };
const ingest = {
  path: '/api/v1/ingest',
  contentType: 'application/x-ndjson',
  isTaken: (answer: string) => answer.includes('"rejected":0,"ignored":0,"duplicates":0'),
} as const;
const bulk = {
  path: '/_bulk?filter_path=errors,items.*.error,items.*.status',
  contentType: 'application/x-ndjson',
  isTaken: (answer: string) => answer.includes('"errors":false'),
} as const;
const bulkItem = (line: string) => ['{"create":{"_index":"zeek"}}', line];
const ecsMarks: Marks = { stamps: /"(?:@timestamp|start|end)":"/g, ids: /"id":"C/g };
const otlp = {
  path: '/v1/logs',
  isTaken: (answer: string) => !/rejected/i.test(answer),
} as const;

export const formats = {
  'Zeek conn, JSON': { ...ingest, bodies: zeekJsonBodies },
  'Zeek conn, TSV': {
    ...ingest,
    contentType: 'text/tab-separated-values',
    bodies: made((lines) => joined([tsvHeader, ...lines.map(tsvRow)]), {
      epochs: /\n(?=\d{10}\.)/g,
      ids: /\n\d{10}\.\d{6}\tC/g,
    }),
  },
  'Zeek dns, JSON': { ...ingest, lines: (count) => officeLines('dns', 200, 1000, count), bodies: zeekJsonBodies },
  'Suricata EVE, flow': {
    ...ingest,
    bodies: made((lines) => joined(lines.map(eveFlow)), {
      stamps: /"(?:timestamp|start|end)":"/g,
      ids: /"flow_id":\d{11}/g,
    }),
  },
  ECS: {
    ...ingest,
    bodies: made((lines) => joined(lines.map(ecsFlow)), ecsMarks),
  },
  native: {
    ...ingest,
    bodies: made((lines) => joined(lines.map(nativeFlow)), {
      stamps: /"timestamp":"/g,
      ids: /"connection_id":"C/g,
    }),
  },
  'Elasticsearch _bulk, Zeek conn': {
    ...bulk,
    bodies: made((lines) => joined(lines.flatMap(bulkItem)), zeekJson),
  },
  'Elasticsearch _bulk, ECS': {
    ...bulk,
    bodies: made((lines) => joined(lines.map(ecsFlow).flatMap(bulkItem)), ecsMarks),
  },
  'Splunk HEC event, Zeek conn': {
    path: '/services/collector/event',
    contentType: 'application/json',
    scheme: 'Splunk',
    bodies: made((lines) => joined(lines.map(splunkEvent)), {
      ...zeekJson,
      epochs: /"(?:ts|time)":(?=\d{10})/g,
    }),
    isTaken: (answer) => answer.includes('"code":0') && !answer.includes('"rejected"'),
  },
  'OTLP JSON, Zeek conn': {
    ...otlp,
    contentType: 'application/json',
    bodies: made(otlpJson, quotedZeekJson),
  },
  'OTLP protobuf, Zeek conn': {
    ...otlp,
    contentType: 'application/x-protobuf',
    bodies: made(otlpProtobuf, zeekJson),
  },
} as const satisfies Record<string, Format>;

const splunkEvent = (line: string) =>
  `{"time":${line.slice(6, 23)},"host":"zeek-1","sourcetype":"zeek:conn","event":${line}}`;

/** Zeek's lines in JSON: of the network of `connLines` with the current time, and of other networks. */
export const mixes = {
  /** Four connections of `connLines` and one DNS lookup, in turn, with the current time. */
  'a site, now': {
    ...ingest,
    lines: siteLines,
    bodies: (lines, size) => zeekJsonBodies(lines, size, undefined, 'now'),
  },
  /** An office of some 400 hosts and 300 services, whose clients return to them. */
  LAN: { ...ingest, lines: (count) => officeLines('conn', 100, 60, count), bodies: zeekJsonBodies },
  /** A server with 40,000 peers. The ports that peers scan are new in each round. */
  'internet host': {
    ...ingest,
    lines: (count) => hostLines(7, count),
    bodies: (lines, linesPerBody) =>
      zeekJsonBodies(lines, linesPerBody, /"id\.resp_p":(?:[1-5]\d\d|6[0-4]\d|65[0-4])(?=\d\d,)/g),
  },
  /** A flood from forged addresses. Sources and destinations are new in each round. */
  flood: {
    ...ingest,
    lines: (count) => floodLines(7, count),
    bodies: (lines, linesPerBody) => zeekJsonBodies(lines, linesPerBody, /"id\.(?:orig|resp)_h":"\d+\.1(?=\d\d\.)/g),
  },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof formats;
export type MixName = keyof typeof mixes;
export const formatNames = Object.keys(formats) as FormatName[];
export const mixNames = Object.keys(mixes) as MixName[];
const all: Readonly<Record<FormatName | MixName, Format>> = { ...formats, ...mixes };
export const formatOf = (name: FormatName | MixName): Format => all[name];

/** Returns Zeek's lines, from which bodies of the format are made. */
export function linesOf(name: FormatName | MixName, count: number): string[] {
  const { lines = (wanted: number) => connLines(7, wanted) } = formatOf(name);
  return [...lines(count)];
}

function* siteLines(count: number): Generator<string, void> {
  const conn = connLines(7, count);
  const dns = officeLines('dns', 200, 1000, Math.ceil(count / 5));
  for (let n = 0; n < count; n++) yield String((n % 5 === 4 ? dns : conn).next().value);
}

/** Yields lines of one of Zeek's logs in a busy office, without attacks. */
function* officeLines(log: 'conn' | 'dns', clients: number, sites: number, count: number): Generator<string, void> {
  const start = 1_760_000_000_000;
  let left = count;
  for (const { line, truth } of traffic({ seed: 7, start, linesPerSecond: 300, clients, sites })) {
    if (truth !== 'benign' || !line.startsWith(`{"_path":"${log}"`)) continue;
    yield line;
    if (--left === 0) return;
  }
}
