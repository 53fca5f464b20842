import type { JsonObject } from './fields.ts';

/**
 * Logs whose records may not name the log. Such records are recognised by fields that they always have, and
 * that records of earlier logs in this list do not have (zeek scripts/base/protocols, scripts/base/frameworks).
 * Dots in names may be underscores. Each entry is a log and its fields.
 */
const logs = `
  sip trans_depth call_id, http trans_depth request_body_len, smtp trans_depth tls, http trans_depth method,
  http trans_depth status_code, files fuid seen_bytes, files fuid analyzers, x509 certificate.version,
  pe machine is_exe, intel seen.indicator, dce_rpc endpoint operation, dce_rpc named_pipe,
  smb_mapping path share_type, smb_files action name, kerberos request_type service, kerberos request_type client,
  kerberos request_type, ntlm server_nb_computer_name, ntlm domainname, ntlm username hostname,
  rdp security_protocol, rdp cookie cert_count, ssh auth_attempts, ssh kex_alg, ssl ssl_history, ssl established,
  quic client_initial_dcid, ftp command user, ftp reply_code command, weird name notice,
  tunnel tunnel_type action, socks request_p, snmp get_requests, mysql cmd arg, rfb share_flag,
  radius mac framed_addr, radius connect_info, dnp3 fc_request, modbus func unit, syslog facility severity,
  ntp stratum poll, ldap_search base_object, ldap message_id opcode, irc nick command
`;

const signs = logs.split(',').map((entry) => {
  const [log = '', ...fields] = entry.trim().split(' ');
  return { log, fields: fields.map((field) => [field, field.replaceAll('.', '_')] as const) };
});

/** Returns the log of a record that does not name its log; `unknown` if the fields do not identify the log. */
export function unnamedLog(record: JsonObject): string {
  const has = ([name, other]: readonly [string, string]) => record[name] !== undefined || record[other] !== undefined;
  return signs.find(({ fields }) => fields.every(has))?.log ?? 'unknown';
}
