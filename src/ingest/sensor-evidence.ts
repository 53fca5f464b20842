import { evidenceOf } from '../events/evidence.ts';
import type { Evidence } from '../events/finding.ts';
import { isObject, type JsonObject } from './fields.ts';

/**
 * Fields of an EVE alert's transaction, under names that analysts use (OISF/suricata etc/schema.json). The
 * host name is the finding's domain.
 */
const suricataFields: readonly (readonly [name: string, ...path: readonly string[]])[] = [
  ['http_method', 'http', 'http_method'],
  ['http_url', 'http', 'url'],
  ['http_user_agent', 'http', 'http_user_agent'],
  ['http_referrer', 'http', 'http_refer'],
  ['http_status', 'http', 'status'],
  ['http_content_type', 'http', 'http_content_type'],
  ['tls_subject', 'tls', 'subject'],
  ['tls_issuer', 'tls', 'issuerdn'],
  ['tls_fingerprint', 'tls', 'fingerprint'],
  ['ja3', 'tls', 'ja3', 'hash'],
  ['ja4', 'tls', 'ja4'],
  ['mail_from', 'smtp', 'mail_from'],
  ['mail_to', 'smtp', 'rcpt_to'],
  ['mail_subject', 'email', 'subject'],
  ['ssh_client', 'ssh', 'client', 'software_version'],
  ['smb_share', 'smb', 'share'],
  ['smb_file', 'smb', 'filename'],
];
const suricataFileFields: typeof suricataFields = [
  ['file_name', 'filename'],
  ['file_type', 'magic'],
  ['file_sha256', 'sha256'],
];
/** Fields of Zeek's notice.log (zeek scripts/base/frameworks/notice/main.zeek). */
const zeekFields: typeof suricataFields = [
  ['file', 'file_desc'],
  ['file_type', 'file_mime_type'],
  ['times', 'n'],
];

/**
 * Returns evidence for a finding; undefined if the record contains no evidence. Invalid parts are left out and never
 * reject the record.
 */
export function suricataEvidence(record: JsonObject): Evidence | undefined {
  const { fileinfo, files } = record;
  const file = fileinfo ?? (Array.isArray(files) ? files[0] : undefined);
  return whereAny([...read(record, suricataFields), ...read(file, suricataFileFields)]);
}

export const zeekEvidence = (record: JsonObject): Evidence | undefined => whereAny(read(record, zeekFields));

/**
 * Returns the present fields. Checks the first name of each path before following the path, because most records lack
 * it.
 */
const read = (record: unknown, fields: typeof suricataFields) =>
  isObject(record)
    ? fields
        .filter((field) => record[field[1] as string] !== undefined)
        .map(([name, ...path]) => [name, at(record, path)] as const)
    : [];

function whereAny(given: readonly (readonly [string, unknown])[]): Evidence | undefined {
  const seen = evidenceOf(given);
  return Object.keys(seen).length === 0 ? undefined : seen;
}

function at(record: unknown, path: readonly string[]): unknown {
  let value = record;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value === '' ? undefined : value;
}
