import type { Finding } from '../events/finding.ts';
import type { ZeekNotice } from '../events/sensor-alert.ts';
import { noticeKinds } from './zeek-notice-kinds.ts';

/** Converts a Zeek notice. Notices that `noticeKinds` does not contain have medium severity. */
export function findZeekNotice(notice: ZeekNotice): Finding {
  const { note, msg, sub } = notice;
  const { severity, tactics = [], techniques = [] } = noticeKinds.get(note) ?? { severity: 'medium' as const };
  const category = note.includes('::') ? note.slice(0, note.indexOf('::')) : undefined;
  return {
    rule_id: note,
    rule_name: note,
    rule_source: 'zeek',
    title: msg || note,
    severity,
    timestamp: notice.timestamp,
    ...(sub && { description: sub }),
    ...(category && { category }),
    ...(notice.src_ip !== undefined && { src_ip: notice.src_ip }),
    ...(notice.src_port !== undefined && { src_port: notice.src_port }),
    ...(notice.dst_ip !== undefined && { dst_ip: notice.dst_ip }),
    ...(notice.dst_port !== undefined && { dst_port: notice.dst_port }),
    ...(notice.transport !== undefined && { transport: notice.transport }),
    ...(tactics.length + techniques.length > 0 && { mitre: { tactics, techniques } }),
    ...(notice.evidence !== undefined && { evidence: notice.evidence }),
  };
}
