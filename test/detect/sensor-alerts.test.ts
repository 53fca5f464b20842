import { describe, expect, it } from 'vitest';
import { severities } from '../../src/contract/vocabulary.ts';
import { findSuricataAlert } from '../../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../../src/detect/zeek-notice.ts';
import { noticeKinds } from '../../src/detect/zeek-notice-kinds.ts';
import type { SuricataAlert, ZeekNotice } from '../../src/events/sensor-alert.ts';

const ends = {
  timestamp: 1,
  src_ip: undefined,
  src_port: undefined,
  dst_ip: undefined,
  dst_port: undefined,
  transport: undefined,
  evidence: undefined,
};
const alert: SuricataAlert = {
  ...ends,
  gid: 1,
  signature_id: 2,
  rev: undefined,
  signature: 'S',
  category: undefined,
  severity: 2,
  action: undefined,
  domain: undefined,
  metadata: {},
};
const notice: ZeekNotice = { ...ends, note: 'My::Notice', msg: undefined, sub: undefined };

describe('a Suricata alert', () => {
  it('leaves out missing values', () => {
    expect(findSuricataAlert(alert)).toEqual({
      rule_id: '1:2',
      rule_name: 'S',
      rule_source: 'suricata',
      title: 'S',
      description: 'Signature 1:2.',
      severity: 'medium',
      timestamp: 1,
    });
  });

  it.each([
    [0, 'high'],
    [1, 'high'],
    [2, 'medium'],
    [3, 'low'],
    [4, 'informational'],
    [255, 'informational'],
  ])('with the severity %i is %s', (severity, wanted) => {
    expect(findSuricataAlert({ ...alert, severity }).severity).toBe(wanted);
  });

  it('is critical if the metadata of its rule has the signature severity Critical', () => {
    expect(findSuricataAlert({ ...alert, metadata: { signature_severity: ['Critical'] } }).severity).toBe('critical');
    expect(findSuricataAlert({ ...alert, metadata: { signature_severity: ['Major'] } }).severity).toBe('medium');
  });

  it('takes ATT&CK, confidence, tags and the action from the metadata', () => {
    const metadata = {
      confidence: ['High'],
      tag: ['C2', '', 'x'.repeat(101)],
      mitre_tactic_id: ['TA0011'],
      mitre_tactic_name: ['Command_And_Control'],
      mitre_technique_id: ['T1071'],
    };
    expect(findSuricataAlert({ ...alert, action: 'blocked', rev: 3, domain: 'c2.example', metadata })).toMatchObject({
      description: 'Signature 1:2 revision 3, blocked by the sensor.',
      confidence: 0.9,
      tags: ['blocked', 'C2'],
      domain: 'c2.example',
      mitre: { tactics: ['TA0011'], techniques: ['T1071'] },
    });
    expect(findSuricataAlert({ ...alert, metadata: { mitre_tactic_name: ['Impact'] } }).mitre).toEqual({
      tactics: ['Impact'],
      techniques: [],
    });
  });
});

describe('a Zeek notice', () => {
  it('is of medium severity if its kind is unknown', () => {
    expect(findZeekNotice(notice)).toEqual({
      rule_id: 'My::Notice',
      rule_name: 'My::Notice',
      rule_source: 'zeek',
      title: 'My::Notice',
      category: 'My',
      severity: 'medium',
      timestamp: 1,
    });
    expect(findZeekNotice({ ...notice, note: 'constructor' }).severity).toBe('medium');
  });

  it('has a severity and well-formed ATT&CK identifiers if its kind is known', () => {
    for (const [note, { severity, tactics = [], techniques = [] }] of noticeKinds) {
      expect(note).toMatch(/^\w+::\w+$/);
      expect(severities).toContain(severity);
      for (const tactic of tactics) expect(tactic).toMatch(/^TA\d{4}$/);
      for (const technique of techniques) expect(technique).toMatch(/^T\d{4}(\.\d{3})?$/);
      expect(findZeekNotice({ ...notice, note }).severity).toBe(severity);
    }
  });
});
