import { describe, expect, it } from 'vitest';
import { events, parse } from './ingesting.ts';

const notice = {
  ts: 1763683200.5,
  note: 'Scan::Port_Scan',
  msg: '198.51.100.9 scanned at least 15 unique ports of host 10.0.0.5 in 0m1s',
  sub: 'remote',
  src: '198.51.100.9',
  dst: '10.0.0.5',
  p: 22,
  actions: ['Notice::ACTION_LOG'],
  suppress_for: 3600,
};

describe('a Zeek notice', () => {
  it('names the file that the notice is about', () => {
    const file = { file_desc: 'http://a.example/b.exe', file_mime_type: 'application/x-dosexec', n: 3 };
    expect(parse([{ ...notice, ...file }]).findings[0]?.evidence).toEqual({
      file: file.file_desc,
      file_type: file.file_mime_type,
      times: 3,
    });
  });

  it('is an event and a finding about the event if it has both addresses', () => {
    const parsed = parse([notice]);
    expect(parsed.answer).toMatchObject({ accepted: 1, rejected: 0 });
    expect(events(parsed)).toEqual([
      {
        timestamp: '2025-11-21T00:00:00.500Z',
        src_ip: '198.51.100.9',
        dst_ip: '10.0.0.5',
        dst_port: 22,
        transport: 'unknown',
        direction: 'inbound',
        source: 'zeek',
        severity: 'medium',
      },
    ]);
    expect(parsed.findings).toEqual([
      {
        rule_id: 'Scan::Port_Scan',
        rule_name: 'Scan::Port_Scan',
        rule_source: 'zeek',
        title: notice.msg,
        description: 'remote',
        category: 'Scan',
        severity: 'medium',
        timestamp: 1763683200500,
        src_ip: '198.51.100.9',
        dst_ip: '10.0.0.5',
        dst_port: 22,
        mitre: { tactics: ['TA0007'], techniques: ['T1046'] },
        event: { block: 0, row: 0 },
      },
    ]);
  });

  it.each([
    ['dotted', { 'id.orig_h': '10.0.0.1', 'id.orig_p': 1, 'id.resp_h': '10.0.0.2', 'id.resp_p': 22 }],
    ['underscores', { id_orig_h: '10.0.0.1', id_orig_p: 1, id_resp_h: '10.0.0.2', id_resp_p: 22 }],
    ['nested', { id: { orig_h: '10.0.0.1', orig_p: 1, resp_h: '10.0.0.2', resp_p: 22 } }],
  ])("about a connection has the connection's endpoints (%s)", (_, ids) => {
    const line = {
      _path: 'notice',
      ts: 1,
      uid: 'C',
      proto: 'tcp',
      note: 'SSH::Login_By_Password_Guesser',
      ...ids,
    };
    const parsed = parse([line]);
    expect(events(parsed)[0]).toMatchObject({
      src_port: 1,
      dst_port: 22,
      connection_id: 'C',
      severity: 'critical',
    });
    expect(parsed.findings[0]).toMatchObject({ title: 'SSH::Login_By_Password_Guesser', src_ip: '10.0.0.1' });
  });

  it('is a finding without an event if an address is missing', () => {
    const parsed = parse([
      { ...notice, dst: undefined },
      { ...notice, src: undefined, dst: undefined },
    ]);
    expect(parsed.answer.accepted).toBe(2);
    expect(parsed.blocks).toHaveLength(0);
    expect(parsed.findings.map((finding) => finding.event)).toEqual([undefined, undefined]);
  });

  it('is parsed from TSV', () => {
    const body = [
      '#separator \\x09',
      '#path\tnotice',
      '#fields\tts\tuid\tid.orig_h\tproto\tnote\tmsg\tsrc\tdst\tp\tactions',
      '#types\ttime\tstring\taddr\tenum\tenum\tstring\taddr\taddr\tport\tset[enum]',
      '1763683200.5\t-\t-\t-\tScan::Port_Scan\tm\t198.51.100.9\t10.0.0.5\t22\tNotice::ACTION_LOG',
    ].join('\n');
    expect(events(parse(body))[0]).toEqual(events(parse([notice]))[0]);
  });

  it.each([
    ['src', { src: 'nobody' }],
    ['p', { p: -1 }],
    ['msg', { msg: 7 }],
    ['ts', { ts: '' }],
  ])('is rejected with an invalid %s', (field, given) => {
    expect(parse([{ ...notice, ...given }]).answer).toMatchObject({ accepted: 0, errors: [{ field }] });
  });
});
