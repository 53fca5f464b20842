import { describe, expect, test } from 'vitest';
import { readOnlyReason } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';

const withEndpoint = (endpoint: string) =>
  loadConfig({ CANDOR_TRIAGE_ENDPOINT: endpoint, CANDOR_TRIAGE_MODEL: 'm' })['triage.endpoint'];

describe('the URL of the external triage', () => {
  test.for([
    ['https://llm.example.org/v1/', 'https://llm.example.org/v1'],
    ['https://llm.example.org', 'https://llm.example.org'],
    ['http://127.0.0.1:11434/v1', 'http://127.0.0.1:11434/v1'],
    ['http://[::1]:8000', 'http://[::1]:8000'],
    ['http://localhost:8000/v1', 'http://localhost:8000/v1'],
  ] as const)('may be %s', ([given, read]) => {
    expect(withEndpoint(given)).toBe(read);
  });

  test.for([
    'http://llm.example.org/v1',
    'http://127.0.0.1.example.org/v1',
    'http://10.0.0.1/v1',
    'https://user:secret@llm.example.org/v1',
    'https://llm.example.org/v1?key=secret',
    'https://llm.example.org/v1#x',
    'ftp://llm.example.org',
    'file:///etc/passwd',
    'llm.example.org',
  ])('cannot be %s', (endpoint) => {
    expect(() => withEndpoint(endpoint)).toThrow(/triage\.endpoint/);
  });

  test('requires the name of a model', () => {
    expect(() => loadConfig({ CANDOR_TRIAGE_ENDPOINT: 'https://llm.example.org' })).toThrow(/triage\.model/);
    expect(loadConfig({})['triage.endpoint']).toBeUndefined();
  });

  test('is set by the operator, not over the API', () => {
    for (const name of ['triage.endpoint', 'triage.redact', 'triage.api_key'] as const)
      expect(readOnlyReason(name, new Map())).toBeDefined();
  });
});

test('an API key that is invalid in a header is rejected, and the error does not show the key', () => {
  const key = 'sk secret';
  expect(() => loadConfig({ CANDOR_TRIAGE_API_KEY: key })).toThrow(/triage\.api_key/);
  expect(() => loadConfig({ CANDOR_TRIAGE_API_KEY: key })).not.toThrow(/secret"/);
});
