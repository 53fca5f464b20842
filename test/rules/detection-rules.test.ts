import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { unpackRules } from '../../src/detect/packed-rules.ts';
import { DetectionRules, type RulesParts } from '../../src/rules/detection-rules.ts';
import { ruleTasks } from '../../src/rules/tasks.ts';
import { uuid7 } from '../../src/uuid.ts';
import { analyst, opened, start } from '../store/opened.ts';

/** Returns the rules of a folder with one file, as in the service; tasks run in this thread. */
async function rulesOf(file: string) {
  const folder = mkdtempSync(join(tmpdir(), 'candor-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'ours.yml'), file);
  const { reader, store } = opened();
  const tasks = ruleTasks(reader);
  const run = async (name: keyof typeof tasks, argument: never) => tasks[name](argument);
  const rules = await DetectionRules.open({
    folders: [{ origin: 'folder', path: folder }],
    reader,
    writer: store,
    tasks: { run: run as RulesParts['tasks']['run'] },
    placeholders: new Map(),
    sources: { now: () => start, newId: () => uuid7(start) },
    isUsed: false,
    warn: () => undefined,
  });
  onTestFinished(() => rules.close());
  return rules;
}

const file = `# Ours
title: Sound
id: 545a5da6-f103-4919-a519-e9aec1026ee4
name: sound
logsource: {category: dns}
detection: {s: {query: x}, condition: s}
---
# Parsed
title: Unparsed
logsource: {category: dns}
detection:
  s: {query: x}
  condition: t # 13
---
title: No YAML
  logsource: {category: dns} # 16
---
title: Unanswered
detection: {s: {query: x}, condition: s}

logsource: # 21
  product: cisco
---

title: Unknown
correlation:
  type: temporal
  rules:
    - sound
    - nobody # 30
  group-by: [src_ip]
  timespan: 1m
---
title: Not there
logsource: {category: dns}
filter:
  s: {query: x}
  rules: [nobody] # 38
  condition: s
--- # the same once more
title: Repeated
id: 545a5da6-f103-4919-a519-e9aec1026ee4 # 42
logsource: {category: dns}
detection: {s: {query: x}, condition: s}
`;

test('errors in a file of several documents have the line in the file', async () => {
  const rules = await rulesOf(file);
  const { json } = rules.list({ page: 1, per_page: 50, order: 'asc', sort: 'title', terms: [] });
  const listed = JSON.parse(Buffer.from(json).toString()) as {
    attributes: { title: string; errors: string[] };
  }[];
  const errors = Object.fromEntries(listed.map(({ attributes: { title, errors } }) => [title, errors]));
  expect(errors).toEqual({
    Sound: [],
    'ours.yml:8': [expect.stringMatching(/^ours\.yml:13: detection\.condition names 't'/)],
    'ours.yml:15': [expect.stringMatching(/^ours\.yml:16: is indented/)],
    Unanswered: [expect.stringMatching(/^ours\.yml:21: logsource is for 'cisco'/)],
    Unknown: [expect.stringMatching(/^ours\.yml:30: correlation\.rules\[1\] names 'nobody'/)],
    'Not there': [expect.stringMatching(/^ours\.yml:38: filter\.rules does not name an existing rule/)],
    Repeated: [expect.stringMatching(/^ours\.yml:42: id is '545a/)],
  });
  const { broken } = await rules.reload(analyst);
  expect(broken.toSorted()).toEqual(Object.values(errors).flat().toSorted());
});

describe('rules that exceed the total cost', () => {
  /** Costs between a third and a half of the total. */
  const costly = (id: string, letter: string) => `title: Costly ${letter}
id: ${id.repeat(8)}-0000-4000-8000-000000000000
logsource: {category: dns}
detection: {s: {query|re: '([a-z]|[a-m0-9])*${letter}[a-z0-9]{45}[!_]'}, condition: s}
`;
  const plain = costly('a', 'a')
    .replace(/query.re: '.*'/, 'query: x')
    .replace('Costly', 'Plain');
  const inFolder = ['1', '2', '3', '4', '5'].map((id) => costly(id, 'bcdef'[Number(id) - 1]!));

  test('are rejected one by one if they are in a folder, and the error shows the total limit', async () => {
    const rules = await rulesOf([...inFolder, plain].join('---\n'));
    const titles = unpackRules(rules.inEffect.documents).documents.map(({ title }) => title);
    expect(titles).toEqual(['Costly b', 'Costly c', 'Plain a']);
    expect(rules.get(`${'a'.repeat(8)}-0000-4000-8000-000000000000`).rule.cost).toBeGreaterThan(0);
    const refused = rules.get(`${'3'.repeat(8)}-0000-4000-8000-000000000000`).rule;
    expect(refused).toMatchObject({
      enabled: true,
      errors: [
        expect.stringMatching(
          /^ours\.yml:14: detection costs at least \d+ for a record of \S+; all rules together may cost 3000000/,
        ),
      ],
    });
    expect(refused).not.toHaveProperty('cost');
    expect((await rules.reload(analyst)).broken).toHaveLength(3);
    expect((await rules.validate(costly('6', 'g'))).problems).toEqual([
      { line: 4, field: 'detection', reason: expect.stringMatching(/^costs at least /) },
    ]);
  });

  test('are rejected when created, even if only a later rule would no longer fit', async () => {
    const rules = await rulesOf('');
    const of = (n: string) => `${n.repeat(8)}-0000-4000-8000-000000000000`;
    for (const n of ['8', '9']) await rules.create({ source: costly(n, n) }, analyst);
    const last = rules.create({ source: costly('b', 'b') }, analyst);
    await expect(last).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(/costs at least \d+ for a record of .* of which \d+ remain/),
      details: { field: 'source', rule_field: 'detection', line: 4 },
    });
    // This rule sorts before rule 9, so it would use the budget that rule 9 needs.
    await expect(rules.create({ source: costly('1', 'c') }, analyst)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(`which leaves too little for rule ${of('9')}: that rule costs at least`),
    });
    expect(rules.get(of('9')).rule.errors).toEqual([]);
    const disabled = await rules.create({ source: costly('1', 'c'), enabled: false }, analyst);
    const enabling = rules.update(disabled.id, { enabled: true }, analyst);
    await expect(enabling).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await rules.remove(of('9'), analyst);
    expect(await rules.update(disabled.id, { enabled: true }, analyst)).toMatchObject({
      rule: { errors: [] },
    });
  });
});

test('one principal has at most two changes in progress, and does not block changes of other principals', async () => {
  const rules = await rulesOf('');
  const reload = () => rules.reload(analyst);
  const first = [reload(), reload()];
  await expect(reload()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await expect(rules.reload({ id: 'other', name: 'other' })).resolves.toMatchObject({ unchanged: true });
  await Promise.all(first);
  await expect(reload()).resolves.toMatchObject({ unchanged: true });
});

test('a slow rule is reported until the rules change', async () => {
  const rules = await rulesOf('');
  rules.wereSlow([
    ['a', 2],
    ['b', 3],
  ]);
  rules.wereSlow([['a', 5]]);
  expect(rules.slow()).toEqual([
    ['a', 5],
    ['b', 3],
  ]);
  await rules.create({ source: file.split('---')[0]! }, analyst);
  expect(rules.slow()).toEqual([]);
});

test('errors in submitted rule text name the line', async () => {
  const rules = await rulesOf('');
  const { problems } = await rules.validate(file);
  expect(problems.map(({ line, field }) => `${line} ${field}`).toSorted()).toEqual([
    '13 detection.condition',
    '16 ',
    '21 logsource',
    '30 correlation.rules[1]',
    '38 filter.rules',
    '42 id',
  ]);
  const source = `# Ours\n---\ntitle: R\n\ndetection: {s: {a: b}, condition: s}\nlogsource:\n  product: cisco\n`;
  await expect(rules.create({ source }, analyst)).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    details: { line: 6, rule_field: 'logsource' },
  });
});
