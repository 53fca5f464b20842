import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DetectionRules, type RulesParts } from '../../src/rules/detection-rules.ts';
import { ruleTasks } from '../../src/rules/tasks.ts';
import { uuid7 } from '../../src/uuid.ts';
import { analyst, opened, start } from '../store/opened.ts';

/** The rules of a folder with one file, as the service has them; tasks are done in this thread. */
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
    onChange: () => undefined,
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

test('what is wrong in a file of several documents is told with the line in the file', async () => {
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
    Unknown: [expect.stringMatching(/^ours\.yml:30: correlation\.rules\[1\] 'nobody' is/)],
    'Not there': [expect.stringMatching(/^ours\.yml:38: filter\.rules names no rule/)],
    Repeated: [expect.stringMatching(/^ours\.yml:42: id is '545a/)],
  });
  const { broken } = await rules.reload(analyst);
  expect(broken.toSorted()).toEqual(Object.values(errors).flat().toSorted());
});

test('and where the text is validated or made a rule, with the line in the text', async () => {
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
