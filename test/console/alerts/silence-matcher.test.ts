import { describe, expect, test } from 'vitest';
import {
  firstChoice,
  highestSeverity,
  matcherOf,
  sentence,
  silencedFilters,
  valuesOf,
} from '../../../src/console/pages/alerts/silence-matcher.ts';
import { isolateText } from '../../../src/console/ui/words.ts';
import { alertQuery } from '../../../src/contract/parameters.ts';
import { parseQuery } from '../../../src/contract/query.ts';
import { limits } from '../../../src/limits.ts';
import { someAlert } from './some-alert.ts';

const one = someAlert({ src_ip: '10.0.0.1', dst_ip: '192.0.2.7', severity: 'low' });
const other = someAlert({ src_ip: '10.0.0.2', rule_id: '1:9', severity: 'high' });

describe('the silence proposed for alerts', () => {
  test('offers the unique values of fields that all alerts have', () => {
    expect(valuesOf([one, one])).toEqual({
      rule_id: ['behaviour.port-scan'],
      src_ip: ['10.0.0.1'],
      dst_ip: ['192.0.2.7'],
    });
    expect(valuesOf([one, other])).toEqual({
      rule_id: ['behaviour.port-scan', '1:9'],
      src_ip: ['10.0.0.1', '10.0.0.2'],
    });
  });

  test('starts with the rule and the source, else the rule and the domain, else the rule alone', () => {
    expect([...firstChoice(valuesOf([one]))]).toEqual(['rule_id', 'src_ip']);
    expect([...firstChoice(valuesOf([someAlert({ domain: 'a.example' })]))]).toEqual(['rule_id', 'domain']);
    expect([...firstChoice(valuesOf([someAlert()]))]).toEqual(['rule_id']);
  });

  test('does not preselect fields with too many values', () => {
    const many = Array.from({ length: limits.maxSilenceValues + 1 }, (_, n) =>
      someAlert({ rule_id: `1:${n}`, src_ip: '10.0.0.1' }),
    );
    expect([...firstChoice(valuesOf(many))]).toEqual(['src_ip']);
    expect([...firstChoice(valuesOf(many.slice(1)))]).toEqual(['rule_id', 'src_ip']);
    const apart = many.map((alert, n) => ({ ...alert, src_ip: `10.0.1.${n}`, domain: 'a.example' }));
    expect([...firstChoice(valuesOf(apart))]).toEqual(['domain']);
  });

  test('is limited to the highest severity of the alerts', () => {
    expect(highestSeverity([one, other])).toBe('high');
  });
});

test('the matcher contains the selected fields only', () => {
  const matcher = matcherOf(valuesOf([one]), new Set(['rule_id', 'dst_ip', 'domain']), 'low');
  expect(matcher).toEqual({ rule_id: ['behaviour.port-scan'], dst_ip: ['192.0.2.7'], max_severity: 'low' });
});

test('the preview lists alerts up to the maximum severity', () => {
  const filters = silencedFilters(matcherOf(valuesOf([one]), new Set(['src_ip']), 'medium'));
  expect(filters).toEqual({ src_ip: ['10.0.0.1'], severity: ['informational', 'low', 'medium'] });
  const raw = new Map(Object.entries(filters).map(([name, values]) => [name, [...values]]));
  expect(() => parseQuery(alertQuery, raw)).not.toThrow();
});

test('the matcher is described in a sentence, with long lists abbreviated', () => {
  const many = {
    src_ip: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'],
    max_severity: 'high',
  } as const;
  expect(sentence({ ...many, src_ip: [...many.src_ip] }, (_part, value) => value)).toBe(
    `Silences alerts from ${isolateText('10.0.0.1')} or ${isolateText('10.0.0.2')} or ${isolateText('10.0.0.3')} or 2 more, up to severity high.`,
  );
  expect(sentence({ rule_id: ['1:9'], domain: ['a.example'] }, (part, value) => `<${part} ${value}>`)).toBe(
    `Silences alerts with rule ${isolateText('<rule_id 1:9>')} about ${isolateText('<domain a.example>')} and subdomains.`,
  );
});
