/** The formats of events as their senders send them: the path, the body made of lines, and the response. */
import { connLines, traffic } from '../../scripts/traffic/index.ts';
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
  'Zeek dns, JSON': { ...ingest, lines: dnsLines, bodies: zeekJsonBodies },
  'Suricata EVE, flow': {
    ...ingest,
    bodies: made((lines) => joined(lines.map(eveFlow)), {
      stamps: /"(?:timestamp|start|end)":"/g,
      ids: /"flow_id":\d{11}/g,
    }),
  },
  ECS: {
    ...ingest,
    bodies: made((lines) => joined(lines.map(ecsFlow)), {
      stamps: /"(?:@timestamp|start|end)":"/g,
      ids: /"id":"C/g,
    }),
  },
  native: {
    ...ingest,
    bodies: made((lines) => joined(lines.map(nativeFlow)), {
      stamps: /"timestamp":"/g,
      ids: /"connection_id":"C/g,
    }),
  },
  'Elasticsearch _bulk, Zeek conn': {
    path: '/_bulk?filter_path=errors,items.*.error,items.*.status',
    contentType: 'application/x-ndjson',
    bodies: made((lines) => joined(lines.flatMap((line) => ['{"create":{"_index":"zeek"}}', line])), zeekJson),
    isTaken: (answer) => answer.includes('"errors":false'),
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

export type FormatName = keyof typeof formats;
export const formatNames = Object.keys(formats) as FormatName[];
export const formatOf = (name: FormatName): Format => formats[name];

/** Returns Zeek's lines, from which bodies of the format are made. */
export function linesOf(name: FormatName, count: number): string[] {
  const { lines = (wanted: number) => connLines(7, wanted) } = formatOf(name);
  return [...lines(count)];
}

/** Yields the lookups of a busy office, without attacks. */
function* dnsLines(count: number): Generator<string, void> {
  const start = 1_760_000_000_000;
  let left = count;
  for (const { line, truth } of traffic({ seed: 7, start, linesPerSecond: 300, clients: 200, sites: 1000 })) {
    if (truth !== 'benign' || !line.startsWith('{"_path":"dns"')) continue;
    yield line;
    if (--left === 0) return;
  }
}
