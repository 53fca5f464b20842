import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bulkFields } from '../../src/contract/bulk-items.ts';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { events, parse } from './ingesting.ts';

const conn = {
  ts: 1763683200.5,
  uid: 'C1',
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 1234,
  'id.resp_h': '10.0.0.2',
  'id.resp_p': 80,
  proto: 'tcp',
  conn_state: 'SF',
};
const good = JSON.stringify(conn);
const other = '{"_path":"http","ts":1,"uid":"C2"}';

type Item = Record<string, { status: number; _id?: string; _index?: string; error?: { type: string; reason: string } }>;

function bulk(body: string | Uint8Array, fields = bulkFields as readonly (typeof bulkFields)[number][]) {
  const parsed = parse(body, {
    framing: { name: 'elasticsearch_bulk', index: 'of-url', fields, sender: 'p' },
  });
  const { items } = parsed;
  if (items === undefined) throw new Error('no items');
  return { parsed, items, answers: JSON.parse(`[${Buffer.from(items.json)}]`) as Item[] };
}
const statuses = (body: string | Uint8Array) =>
  bulk(body).answers.map((item) => Object.entries(item).map(([action, { status }]) => `${action} ${status}`)[0]);
const whole = (body: string | Uint8Array): unknown => {
  try {
    return statuses(body);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [error.code, error.details?.field ?? error.details?.reason];
  }
};

describe('the lines of a bulk body', () => {
  it.each<[string, string | Uint8Array, unknown]>([
    ['nothing', '', []],
    ['blank lines', '\n \n\r\n', []],
    ['pairs', `{"index":{}}\n${good}\n{"create":{}}\n${other}\n`, ['index 201', 'create 200']],
    ['a missing last line ending', `{"index":{}}\n${good}`, ['index 201']],
    ['CRLF', `{"index":{}}\r\n${good}\r\n{"index":{}}\r\n${good}\r\n`, ['index 201', 'index 201']],
    ['a byte order mark', `\ufeff{"index":{}}\n${good}\n`, ['index 201']],
    ['blank lines between items', `\n{"index":{}}\n${good}\n\n\n{"index":{}}\n${good}\n\n`, ['index 201', 'index 201']],
    ['white space before the contents', `  {"index":{}}\n\t${good}\n`, ['index 201']],
    [
      'an action without its document, at the end',
      `{"index":{}}\n${good}\n{"create":{}}\n`,
      ['index 201', 'create 400'],
    ],
    ['a blank document', `{"index":{}}\n\n{"index":{}}\n${good}\n`, ['index 400', 'index 201']],
    ['a delete, which has no document', `{"delete":{"_id":"a"}}\n{"index":{}}\n${good}\n`, ['delete 400', 'index 201']],
    [
      'an update, which has a document',
      `{"update":{"_id":"a"}}\n{"doc":{}}\n{"index":{}}\n${good}\n`,
      ['update 400', 'index 201'],
    ],
    ['a truncated document', `{"index":{}}\n${good.slice(0, -2)}\n{"index":{}}\n${good}\n`, ['index 400', 'index 201']],
    ['index with op_type create', `{"index":{"op_type":"create"}}\n${good}\n`, ['create 201']],
    ['fields of older clients', `{"index":{"_type":"_doc","routing":null,"pipeline":"p"}}\n${good}\n`, ['index 201']],
    ['a missing action', `${good}\n{"index":{}}\n`, ['INVALID_REQUEST', 'body']],
    ['invalid JSON', 'index\n{}\n', ['INVALID_REQUEST', 'body']],
    ['an array', `[{"index":{}}]\n${good}\n`, ['INVALID_REQUEST', 'body']],
    ['an action of another kind', `{"upsert":{}}\n${good}\n`, ['INVALID_REQUEST', 'body']],
    ['two actions in one line', `{"index":{},"create":{}}\n${good}\n`, ['INVALID_REQUEST', 'body']],
    ['an action that is not an object', `{"index":"a"}\n${good}\n`, ['INVALID_REQUEST', 'body']],
    ['__proto__', `{"__proto__":{}}\n${good}\n`, ['INVALID_REQUEST', 'body']],
    ['constructor', `{"constructor":{}}\n${good}\n`, ['INVALID_REQUEST', 'body']],
    ['__proto__ within', `{"index":{"__proto__":{"_id":"x"}}}\n${good}\n`, ['index 201']],
    [
      'bytes that are not UTF-8',
      Buffer.from(`{"index":{"_id":"\xff"}}\n${good}\n`, 'latin1'),
      ['INVALID_REQUEST', 'body'],
    ],
    ['an action of a megabyte', `{"index":{"_id":"${'x'.repeat(2 ** 20)}"}}\n${good}\n`, ['INVALID_REQUEST', 'body']],
    ['a nested action', `{"index":${'['.repeat(4000)}${']'.repeat(4000)}}\n${good}\n`, ['INVALID_REQUEST', 'body']],
    ['a nested document', `{"index":{}}\n{"a":${'['.repeat(9999)}${']'.repeat(9999)}}\n`, ['index 400']],
    ['a document of two megabytes', `{"index":{}}\n{"a":"${'x'.repeat(2 ** 21)}"}\n`, ['index 400']],
    ['too many items', '{"delete":{}}\n'.repeat(limits.maxBulkItems + 1), ['PAYLOAD_TOO_LARGE', 'too_many_items']],
  ])('result in the listed statuses, or the body is rejected: %s', (_, body, wanted) => {
    expect(whole(body)).toEqual(wanted);
  });

  it('a body with the maximum number of items gets one result per item', () => {
    const { items, parsed } = bulk('{"create":{}}\n{}\n'.repeat(limits.maxBulkItems), ['status']);
    expect(items.ends).toHaveLength(limits.maxBulkItems);
    expect(parsed.answer.rejected).toBe(limits.maxBulkItems);
    expect(items.json.byteLength).toBe('{"create":{"status":400}},'.length * limits.maxBulkItems - 1);
  });

  const line = fc.oneof(
    fc.constantFrom('{"index":{}}', '{"create":{"_id":"a"}}', '{"delete":{"_id":"a"}}', good, other, '', '{', '\r'),
    fc.json(),
    fc.string(),
  );
  const lineEnd = fc.constantFrom('\n', '\r\n');
  const result = /^(create|index|update|delete) (200|201|400)$/;

  it('any input gets results of a known form, or is rejected completely', () => {
    fc.assert(
      fc.property(fc.array(line), lineEnd, (lines, end) => {
        const answer = whole(lines.join(end)) as string[];
        if (answer[0] === 'INVALID_REQUEST') expect(answer[1]).toBe('body');
        else for (const item of answer) expect(item).toMatch(result);
      }),
    );
  });

  it('each item gets a result, in order, whatever its document is', () => {
    const item = fc.tuple(
      fc.constantFrom('index', 'create', 'update', 'delete'),
      line,
      fc.constantFrom('', '\n', ' \n'),
    );
    fc.assert(
      fc.property(fc.array(item), lineEnd, (items, end) => {
        const lines = items.flatMap(([action, document, blank]) => [
          `${blank}{"${action}":{}}`,
          ...(action === 'delete' ? [] : [document]),
        ]);
        const results = (whole(lines.join(end)) as string[]).map((item) => result.exec(item)?.[1]);
        expect(results).toEqual(items.map(([action]) => action));
      }),
    );
  });
});

describe('names in actions', () => {
  const one = (about: object | string) => {
    const text = typeof about === 'string' ? about : JSON.stringify(about);
    const { answers, parsed } = bulk(`{"index":${text}}\n${good}\n`);
    return { answer: answers[0]!.index!, id: (events(parsed)[0] as { id?: string } | undefined)?.id, parsed };
  };

  it.each([
    ['special characters', '"a b\\u0000\\"\\\\\\/ä€😀\\u2028"'],
    ['the maximum length', JSON.stringify('ä'.repeat(256))],
    ['__proto__', '"__proto__"'],
    ['the name of a built-in property', '"constructor"'],
    ['the placeholder for an id', '"00000000-0000-0000-0000-000000000000"'],
  ])('an id of %s is returned unchanged', (_, id) => {
    const { answer } = one(`{"_id":${id}}`);
    expect(answer).toMatchObject({ status: 201, _id: JSON.parse(id), _index: 'of-url' });
  });

  it('a number is accepted as an id, and null counts as absent', () => {
    expect(one({ _id: 17 }).answer).toMatchObject({ status: 201, _id: '17' });
    expect(one({ _id: null, _index: null }).answer).toMatchObject({ status: 201, _index: 'of-url' });
  });

  it.each([
    ['an empty id', { _id: '' }, '[_id]'],
    ['an id that is too long', { _id: 'x'.repeat(513) }, '[_id]'],
    ['an id that is too long in bytes', { _id: '€'.repeat(171) }, '[_id]'],
    ['an id with half a character', '{"_id":"\\ud800"}', '[_id]'],
    ['an id that is an object', { _id: {} }, '[_id]'],
    ['an id that is true', { _id: true }, '[_id]'],
    ['an empty index', { _index: '' }, '[_index]'],
    ['an index name that is too long', { _index: 'x'.repeat(256) }, '[_index]'],
    ['an index that is a list', { _index: [] }, '[_index]'],
  ])('an item with %s is rejected, and the error names the field', (_, about, field) => {
    const { answer, parsed } = one(about);
    expect(answer).toMatchObject({ status: 400, error: { type: 'illegal_argument_exception' } });
    expect(answer.error?.reason).toContain(field);
    expect(parsed.answer).toMatchObject({ accepted: 0, rejected: 1 });
  });
});

describe('results of items', () => {
  const body = `{"create":{"_id":"a","_index":"i"}}\n${good}\n{"index":{}}\n${other}\n{"index":{}}\n{}\n`;

  it('contain exactly the requested fields', () => {
    expect(Buffer.from(bulk(body, ['status']).items.json).toString()).toBe(
      '{"create":{"status":201}},{"index":{"status":200}},{"index":{"status":400}}',
    );
    expect(Buffer.from(bulk(body, ['_id']).items.json).toString()).toBe('{"create":{"_id":"a"}}');
    expect(bulk(body, ['error']).answers).toEqual([
      {
        index: {
          error: {
            type: 'document_parsing_exception',
            reason: 'failed to parse document: is in no known format',
            index: 'of-url',
          },
        },
      },
    ]);
  });

  it('are separated by their end positions, and name the block of each stored record', () => {
    const { items, answers } = bulk(body);
    const ends = [...items.ends];
    const texts = ends.map((end, n) => Buffer.from(items.json).toString('utf8', n === 0 ? 0 : ends[n - 1]! + 1, end));
    expect(texts.map((text) => JSON.parse(text))).toEqual(answers);
    expect([...items.blocks]).toEqual([0, -1, -1]);
    expect(items.failed).toBe(true);
    expect(answers[0]!.create).toEqual({
      _index: 'i',
      _id: 'a',
      _version: 1,
      result: 'created',
      _shards: { total: 1, successful: 1, failed: 0 },
      _seq_no: 0,
      _primary_term: 1,
      status: 201,
    });
  });
});
