import { expect, test } from 'vitest';
import { type IntelContact, intelFinding } from '../../../src/detect/intel/intel-finding.ts';
import type { IntelHit } from '../../../src/detect/intel/intel-matcher.ts';

const hit: IntelHit = {
  list_id: '01900000-0000-7000-8000-000000000001',
  list_name: 'Known C2',
  indicator: '198.51.100.0/24',
  severity: 'high',
  confidence: 0.8,
  valid_until: Date.UTC(2027, 0, 1),
  label: 'botnet',
  page: false,
};
const contact: IntelContact = {
  bad: 'dst',
  timestamp: Date.UTC(2026, 10, 20),
  src_ip: '10.0.0.7',
  src_port: 40_000,
  dst_ip: '198.51.100.9',
  dst_port: 443,
  transport: 'tcp',
  direction: 'outbound',
  answered: true,
};

test('a finding names the list, the indicator, the matched value and its field', () => {
  expect(intelFinding(hit, contact)).toEqual({
    rule_id: 'intel.01900000-0000-7000-8000-000000000001',
    rule_name: 'Known C2',
    rule_source: 'intel',
    title: 'Contact with a known-bad address: 198.51.100.0/24 (Known C2)',
    description: 'The list Known C2 contains 198.51.100.9 as 198.51.100.0/24, labelled botnet.',
    category: 'known-bad',
    severity: 'high',
    confidence: 0.8,
    timestamp: contact.timestamp,
    src_ip: '10.0.0.7',
    src_port: 40_000,
    dst_ip: '198.51.100.9',
    dst_port: 443,
    transport: 'tcp',
    about: '198.51.100.0/24',
    evidence: {
      indicator: '198.51.100.0/24',
      list: 'Known C2',
      part: 'dst',
      answered: true,
      direction: 'outbound',
      label: 'botnet',
      valid_until: '2027-01-01T00:00:00.000Z',
    },
  });
});

test.each([
  ['dst', true, 'high', false, 'high'],
  ['dst', false, 'high', false, 'high'],
  ['domain', true, 'high', false, 'high'],
  ['domain', false, 'critical', false, 'critical'],
  ['domain', true, 'high', true, 'medium'],
  ['domain', true, 'informational', true, 'informational'],
  ['src', true, 'high', false, 'high'],
  ['src', false, 'high', false, 'low'],
  ['src', false, 'critical', false, 'low'],
  ['src', false, 'informational', false, 'informational'],
] as const)(
  'indicator matched %s, answered: %s, list severity %s, web page: %s → alert severity %s',
  (bad, answered, severity, page, is) => {
    expect(intelFinding({ ...hit, severity, page }, { ...contact, bad, answered }).severity).toBe(is);
  },
);
