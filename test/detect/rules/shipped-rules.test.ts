import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { mitreOf } from '../../../src/detect/sigma-finding.ts';
import { canonicalUuid } from '../../../src/uuid.ts';
import { hasShared, shared } from '../../ingest/ingesting.ts';
import type { Sample, Samples } from './records.ts';
import { documents, files, idOf, set, Watch } from './shipped.ts';

/** Returns whether the document matches the scenario, or, if it is a correlation, fires. */
function finds(id: string, sample: Sample): boolean {
  const watch = new Watch();
  watch.take(Buffer.from(sample.map((line) => JSON.stringify(line)).join('\n')));
  expect(watch.records).toBe(sample.length);
  return watch.seen.has(id);
}

describe('the built-in rules', () => {
  test('are all valid, and use no field that their records lack', () => {
    expect(files.flatMap(({ name, problems }) => problems.map((problem) => ({ name, ...problem })))).toEqual([]);
    expect(set.refused.map(({ document, problems }) => [document.title, problems])).toEqual([]);
    expect(set.rules.filter(({ missingFields }) => missingFields.length > 0)).toEqual([]);
  });

  test('have unique ids and titles, a description, a level and a status', () => {
    const ids = documents.map(({ id }) => canonicalUuid(id ?? ''));
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(documents.length);
    expect(new Set(documents.map(({ title }) => title)).size).toBe(documents.length);
    for (const { level, description, status, author, title } of documents)
      expect([title, typeof level, typeof description, status, author]).toEqual([
        title,
        'string',
        'string',
        'stable',
        'Candor',
      ]);
  });

  test('that raise alerts list false positives, and have only ATT&CK tactics and techniques as tags', () => {
    const loud = [
      ...set.rules.filter(({ silent }) => !silent).map(({ document }) => document),
      ...set.correlations.filter(({ raises }) => raises).map(({ document }) => document),
    ];
    expect(loud.length).toBeGreaterThan(45);
    for (const { title, falsepositives, tags } of loud) {
      expect([title, falsepositives.length > 0]).toEqual([title, true]);
      if (title === 'Detection test domain') continue;
      const { tactics = [], techniques = [] } = mitreOf(tags) ?? {};
      expect([title, tactics.length > 0, techniques.length > 0]).toEqual([title, true, true]);
      expect([title, tactics.length + techniques.length]).toEqual([title, tags.length]);
    }
  });
});

describe.skipIf(!hasShared)("the specification's own schemas", () => {
  const schema = (file: string) => {
    const path = join(shared, 'data/sigma/spec/json-schema', file);
    const { $schema: _, ...rest } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    return new Ajv2020({ strict: false, validateFormats: false }).compile(rest);
  };

  test.each(files.map(({ name, text }) => [name, text] as const))('accept the rules of %s', (_name, text) => {
    const [rule, correlation] = [
      schema('sigma-detection-rule-schema.json'),
      schema('sigma-correlation-rules-schema.json'),
    ];
    for (const document of parseAllDocuments(text)) {
      const content = document.toJS() as Record<string, unknown>;
      const validate = content.correlation === undefined ? rule : correlation;
      validate(content);
      expect([content.title, validate.errors ?? []]).toEqual([content.title, []]);
    }
  });
});

describe.each(files.map(({ name, documents: its }) => ({ name, its })))('$name', async ({ name, its }) => {
  const { default: samples } = (await import(`./samples/${name}.ts`)) as { default: Samples };

  test('has samples for exactly its documents', () => {
    expect(Object.keys(samples).toSorted()).toEqual(its.map(({ title }) => title).toSorted());
  });

  test.each(its.map((document) => [document.title, idOf(document)] as const))('%s matches its samples', (title, id) => {
    const { matches, spares } = samples[title] ?? { matches: [], spares: [] };
    expect(matches.length * spares.length).toBeGreaterThan(0);
    expect(matches.filter((sample) => !finds(id, sample))).toEqual([]);
    expect(spares.filter((sample) => finds(id, sample))).toEqual([]);
  });
});
